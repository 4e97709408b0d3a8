//===- DbExchangeCommands.cpp - graph-opt db import, export -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Files/DbStore.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Store/ImportedRecords.h"
#include "tarpon/Runtime/File.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <set>

namespace tarpon {

namespace {

struct DbImportArguments {
  StoreArguments store;
  std::vector<std::string> files;
};

struct DbExportArguments {
  StoreArguments store;
  std::string output;
  /// The imported file to write; "" for the one with the name of `output`.
  std::string from;
  bool driverLines = false;
};

} // namespace

using namespace runtime;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

/// Describes a target: "gfx90a with 104 compute units".
static std::string describeTarget(const miopen::FileName &file) {
  if (file.arch.empty())
    return "an architecture that its name does not say";
  if (file.computeUnits == 0)
    return file.arch;
  return file.arch + " with " + count(file.computeUnits, "compute unit");
}

static void reportFaults(const std::string &path,
                         const miopen::Database &database) {
  const miopen::Faults &faults = database.faults;
  if (std::string text = faults.describe(database.file.format); !text.empty())
    remark(path + ": " + text);
  if (faults.duplicates > 0)
    remark(formatv("{0}: {1} there before; the first one counts", path,
                   faults.duplicates == 1
                       ? std::string("1 key or solver was")
                       : count(faults.duplicates, "key or solver") + " were"));
}

static nlohmann::json toJson(const miopen::Database &database,
                             const ImportSummary &summary) {
  const miopen::Faults &faults = database.faults;
  nlohmann::json json = {{"file", database.file.name},
                         {"format", getFormatName(database.file.format).str()},
                         {"arch", database.file.arch},
                         {"compute_units", database.file.computeUnits},
                         {"problems", summary.problems},
                         {"solutions", summary.solutions},
                         {"posed", summary.posed},
                         {"not_posed", nlohmann::json::object()},
                         {"lines", faults.lines},
                         {"malformed", faults.malformed},
                         {"duplicates", faults.duplicates}};
  for (const auto &[reason, number] : summary.reasons)
    json["not_posed"][reason] = number;
  return json;
}

/// Imports one file and appends the result to `json`.
static Status importFile(const std::string &path, ImportedRecords &records,
                         nlohmann::json &json) {
  Result<miopen::Database> database = miopen::readDatabase(path);
  if (!database)
    return database.error();
  Result<ImportSummary> summary = records.add(*database);
  if (!summary)
    return summary.error();
  reportFaults(path, *database);
  llvm::outs() << formatv("{0}: {1} with {2} of {3}; {4} can be posed here\n",
                          database->file.name,
                          count(summary->problems, "problem"),
                          count(summary->solutions, "solution"),
                          describeTarget(database->file), summary->posed);
  for (const auto &[reason, number] : summary->reasons)
    llvm::outs() << formatv("  {0} not, {1}\n", number, reason);
  json.push_back(toJson(*database, *summary));
  return success();
}

static int runDbImport(const DbImportArguments &arguments) {
  // This finds a misspelt name before anything is stored.
  for (const std::string &path : arguments.files)
    if (Result<miopen::FileName> file = miopen::parseFileName(path); !file)
      return fail(file.message());
  Result<std::string> path = getStorePath(arguments.store);
  if (!path)
    return fail(path.message());
  Result<std::unique_ptr<ImportedRecords>> records =
      ImportedRecords::openForWriting(*path);
  if (!records)
    return fail(records.message());
  nlohmann::json json = nlohmann::json::array();
  for (const std::string &file : arguments.files)
    if (Status status = importFile(file, **records, json); !status)
      return fail(status.message());
  if (Status status = writeJson(arguments.store, json); !status)
    return fail(status.message());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

/// Prints the distinct problems that Tarpon can pose as driver lines.
static int exportDriverLines(const DbExportArguments &arguments,
                             const ImportedRecords &records) {
  std::set<std::string> known;
  std::string text;
  Status status =
      records.visit(arguments.from, [&](const ImportedSource &source,
                                        const ImportedProblem &problem) {
        if (problem.problem.empty() || !known.insert(problem.problem).second)
          return;
        Result<miopen::ConvKey> key =
            miopen::parseKey(source.file.format, problem.record.key);
        if (!key)
          return;
        if (Result<miopen::PosedProblem> posed = miopen::poseProblem(*key))
          text += posed->driverLine + "\n";
      });
  if (!status)
    return fail(status.message());
  if (Status written = writeFileAtomically(arguments.output, {text}); !written)
    return fail(written.message());
  llvm::outs() << arguments.output << ": "
               << count(static_cast<int64_t>(known.size()), "problem") << "\n";
  return kSuccess;
}

static int exportRecords(const DbExportArguments &arguments,
                         const ImportedRecords &records) {
  Result<miopen::FileName> file = miopen::parseFileName(arguments.output);
  if (!file)
    return fail(file.message());
  Result<miopen::Database> database =
      records.get(arguments.from.empty() ? file->name : arguments.from);
  if (!database)
    return fail(database.message());
  if (Status written = miopen::writeDatabase(arguments.output, *database);
      !written)
    return fail(written.message());
  llvm::outs() << arguments.output << ": "
               << count(static_cast<int64_t>(database->records.size()),
                        "problem")
               << "\n";
  return kSuccess;
}

static int runDbExport(const DbExportArguments &arguments) {
  Result<std::string> path = getStorePath(arguments.store);
  if (!path)
    return fail(path.message());
  Result<std::unique_ptr<ImportedRecords>> records =
      ImportedRecords::openForReading(*path);
  if (!records)
    return fail(records.message());
  if (isSameFile(*path, arguments.output))
    return fail("cannot write '" + arguments.output +
                "': it is the store that is exported");
  return arguments.driverLines ? exportDriverLines(arguments, **records)
                               : exportRecords(arguments, **records);
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addDbImport(CommandSet &commands) {
  using namespace options;
  auto [import, dbImport] = commands.addVerb(
      "db", "import", "Import find DBs and perf DBs of MIOpen", runDbImport);
  addStore(import, dbImport.store);
  addJson(import, dbImport.store.json);
  import
      ->add_option("FILE", dbImport.files,
                   "*.fdb.txt, *.ufdb.txt, *.db, *.udb, *.db.txt, *.udb.txt")
      ->required()
      ->type_name("");
}

void addDbExport(CommandSet &commands) {
  using namespace options;
  auto [out, dbExport] = commands.addVerb(
      "db", "export", "Write imported records as MIOpen's file", runDbExport);
  addStore(out, dbExport.store);
  out->add_option("OUT", dbExport.output,
                  "The file; its name in MIOpen's form selects the format")
      ->required()
      ->type_name("");
  out->add_option("--from", dbExport.from,
                  "The imported file to write (default: the one that is named "
                  "like OUT)")
      ->type_name("NAME");
  out->add_flag("--driver-lines", dbExport.driverLines,
                "Write the problems that can be posed here as driver lines "
                "(default: of all imported files)");
}

} // namespace tarpon
