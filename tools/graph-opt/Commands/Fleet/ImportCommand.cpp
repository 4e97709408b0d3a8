//===- ImportCommand.cpp - graph-opt fleet import -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandLineValues.h"
#include "Commands/CommandSet.h"
#include "Commands/SharedOptions.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Autotune/Choice/CompileUntuned.h"
#include "tarpon/Autotune/MIOpen/MIOpenFile.h"
#include "tarpon/Driver/Workload.h"
#include "tarpon/Fleet/WorkList.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetImportArguments {
  std::string database, tag;
  std::vector<std::string> files;
  std::vector<int64_t> batches;
  /// F, B, W.
  std::vector<std::string> directions;
  bool isRecurrent = false, isStrict = false;
  /// For ONNX models.
  ModelArguments model;
};

/// The problems of a file, and the lines that pose none.
struct FoundProblems {
  std::vector<Problem> problems;
  int64_t faults = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static constexpr size_t kMaxFaultsShown = 5;

/// MIOpen's values of -F.
static constexpr std::pair<const char *, int64_t> kDirections[] = {
    {"F", 1}, {"B", 2}, {"W", 4}};

static WorkloadVariants getVariants(const FleetImportArguments &arguments) {
  WorkloadVariants variants;
  variants.batches = arguments.batches;
  for (const std::string &name : arguments.directions)
    for (const auto &[letter, value] : kDirections)
      if (name == letter)
        variants.directions.push_back(value);
  return variants;
}

static Result<FoundProblems> readLines(const std::string &path,
                                       const FleetImportArguments &arguments) {
  Result<Workload> workload = readWorkload(path, getVariants(arguments));
  if (!workload)
    return workload.error();
  for (size_t i = 0; i < std::min(kMaxFaultsShown, workload->faults.size());
       ++i)
    remark(formatv("{0}:{1}: {2}", path, workload->faults[i].line,
                   workload->faults[i].reason));
  bool varies = !arguments.batches.empty() || !arguments.directions.empty();
  if (varies && workload->keys)
    remark(formatv("{0}: {1} problem keys keep their batch and direction", path,
                   workload->keys));
  return FoundProblems{std::move(workload->problems),
                       static_cast<int64_t>(workload->faults.size())};
}

static Result<FoundProblems> readMIOpen(const std::string &path) {
  Result<miopen::Database> database = miopen::readDatabase(path);
  if (!database)
    return database.error();
  FoundProblems found;
  found.faults = database->faults.malformed;
  if (std::string text = database->faults.describe(database->file.format);
      !text.empty())
    remark(path + ": " + text);
  std::map<std::string, int64_t> reasons;
  for (const miopen::Record &record : database->records) {
    Result<miopen::ConvKey> key =
        miopen::parseKey(database->file.format, record.key);
    Result<miopen::PosedProblem> posed =
        key ? miopen::poseProblem(*key)
            : Result<miopen::PosedProblem>(key.error());
    if (posed)
      found.problems.push_back(std::move(posed->problem));
    else
      ++reasons[posed.message()];
  }
  for (const auto &[reason, number] : reasons) {
    found.faults += number;
    remark(formatv("{0}: {1} not, {2}", path, number, reason));
  }
  return found;
}

/// The problems of a model are those of its launches with one global choice.
static Result<FoundProblems> readModel(const std::string &path,
                                       const FleetImportArguments &arguments) {
  FoundProblems found;
  std::vector<int64_t> batches = arguments.batches;
  if (batches.empty())
    batches.push_back(0);
  for (int64_t batch : batches) {
    UntunedOptions options;
    options.model = path;
    options.dtype = arguments.model.dtype;
    options.layout = arguments.model.layout;
    options.fusion = arguments.model.fusion;
    options.target = arguments.model.target;
    options.threads = 1;
    if (batch)
      options.batch = batch;
    Result<Package> package = compileUntuned(options);
    if (!package)
      return package.error();
    for (const Layer &layer : package->layers)
      if (auto problem = parseProblem(layer.problem); mlir::succeeded(problem))
        found.problems.push_back(std::move(*problem));
  }
  return found;
}

static Result<FoundProblems>
readProblems(const std::string &path, const FleetImportArguments &arguments) {
  if (llvm::StringRef(path).ends_with(".onnx"))
    return readModel(path, arguments);
  if (miopen::parseFileName(path))
    return readMIOpen(path);
  return readLines(path, arguments);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Tells of lines that pose no problem. Lists from outside have some, which
/// must not end a script that goes on with the others, unless it asks for that.
static Status checkFaults(const std::vector<FoundProblems> &files,
                          bool isStrict) {
  int64_t faults = 0;
  bool isNone = true;
  for (const FoundProblems &found : files) {
    faults += found.faults;
    isNone &= found.problems.empty();
  }
  if (faults == 0)
    return success();
  std::string text = formatv(
      "{0} lines or keys pose no problem that can be tuned here", faults);
  if (isNone || isStrict)
    return Error{text +
                 (isNone ? "" : ": --strict imports none of the others")};
  remark(text + "; all others are imported");
  return success();
}

static int runFleetImport(const FleetImportArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  std::vector<FoundProblems> files;
  for (const std::string &path : arguments.files) {
    Result<FoundProblems> found = readProblems(path, arguments);
    if (!found)
      return fail(found.message());
    files.push_back(std::move(*found));
  }
  if (Status status = checkFaults(files, arguments.isStrict); !status)
    return fail(status.message());
  for (const auto &[path, found] : llvm::zip_equal(arguments.files, files)) {
    Result<fleet::ImportCount> count = fleet::importProblems(
        **database, found.problems, arguments.tag, arguments.isRecurrent);
    if (!count)
      return fail(count.message());
    llvm::outs() << formatv("{0}: {1} problems, {2} of them new, {3} tagged "
                            "'{4}'\n",
                            showText(path), found.problems.size(), count->added,
                            count->tagged, showText(arguments.tag));
  }
  llvm::outs().flush();
  return kSuccess;
}

void addFleetImport(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "import", "Import problems, and tag them", runFleetImport);
  options::addFleetDatabase(sub, arguments.database);
  sub->add_option("FILE", arguments.files,
                  "Driver lines and problem keys, find DBs and perf DBs of "
                  "MIOpen, or models (.onnx)")
      ->required()
      ->type_name("");
  sub->add_option("--tag", arguments.tag, "The tag of the problems")
      ->required()
      ->type_name("TAG");
  sub->add_flag("--recurrent", arguments.isRecurrent,
                "Mark them as to be tuned again for each release");
  sub->add_flag("--strict", arguments.isStrict,
                "Import nothing if a line or key poses no problem");
  sub->add_option("--batch", arguments.batches,
                  "Batch sizes in place of those of driver lines and models")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(options::isPositive());
  sub->add_option("--direction", arguments.directions,
                  "Directions in place of those of convolutions' driver lines: "
                  "F, B (data), W (weights)")
      ->delimiter(',')
      ->type_name("F,B,W")
      ->check(CLI::IsMember({"F", "B", "W"}));
  options::addKnobs(sub, arguments.model);
  options::addTarget(sub, arguments.model.target,
                     "Target of an ONNX model (default: host)");
}

} // namespace tarpon
