//===- TunePackageCommand.cpp - graph-opt tune MODEL.tpn --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/OutputFiles.h"
#include "Interruption.h"
#include "Messages.h"
#include "PackageRun.h"

#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Autotune/Tuning/PackageTuning.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

/// Opens the journal. Without real times of the device, or if no journal can be
/// opened, nothing is kept.
static std::unique_ptr<Journal> openJournal(const Package &package,
                                            const Device &device,
                                            const Target &target) {
  if (!device.hasTimes())
    return nullptr;
  const TargetInfo &info = target.getInfo();
  Result<std::unique_ptr<Journal>> journal =
      Journal::open(Journal::getDefaultPath(info),
                    getMeasuredContext(info, package.kernelVersion));
  if (journal)
    return std::move(*journal);
  remark("nothing that is measured is kept: " + journal.message());
  return nullptr;
}

/// Returns the policy of the command line or of the environment; candidates
/// without a record are measured in any case.
static Result<TuningPolicy> getPolicy(const TuneArguments &arguments) {
  std::optional<TuningPolicy> named;
  if (!arguments.finder.tuningPolicy.empty())
    named = *parseTuningPolicy(arguments.finder.tuningPolicy);
  Result<FindPolicy> resolved = resolveFindPolicy(std::nullopt, named);
  if (!resolved)
    return resolved.error();
  return withTuning(*resolved).tuning;
}

static Result<PackageTuning> tune(const TuneArguments &arguments,
                                  TuningPolicy policy, Package package,
                                  Device &device, const Target &target) {
  Progress progress(llvm::errs(),
                    Progress::detectStyle(arguments.finder.quiet));
  std::unique_ptr<Journal> journal = openJournal(package, device, target);
  PackageTuningOptions options;
  options.journal = journal.get();
  if (arguments.tuningTime)
    options.deadline = Deadline::after(*arguments.tuningTime);
  options.deadline = options.deadline.orWhen(catchInterruptions());
  options.again = policy == TuningPolicy::SearchDbUpdate;
  // An emulated device survives its kernels.
  if (device.hasTimes())
    options.evaluatorProgram = findEvaluatorProgram();
  return tunePackage(std::move(package), device, progress, options);
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static void printProblem(const PackageTuning &tuning,
                         const TunedProblem &problem) {
  const Layer &layer = tuning.package.layers[problem.layers.front()];
  if (problem.results.empty())
    return;
  size_t chosen = findChosen(layer).value_or(0);
  const tarpon::Measurement &best = problem.results[chosen];
  auto right = std::count_if(problem.results.begin(), problem.results.end(),
                             [](const tarpon::Measurement &m) {
                               return m.status == MeasurementStatus::Ok;
                             });
  llvm::outs() << formatv(
      "{0,6} {1,6} {2,9:F4}  {3} {{{4}} for {5}\n", problem.layers.size(),
      formatv("{0}/{1}", right, problem.results.size()),
      best.samples.empty() ? layer.candidates[chosen].modelMs : best.median,
      best.key.solver, best.key.config, problem.problem);
}

static void printReport(const PackageTuning &tuning) {
  llvm::raw_ostream &os = llvm::outs();
  os << "layers  right   time ms  the fastest\n";
  for (const TunedProblem &problem : tuning.problems)
    printProblem(tuning, problem);
  const SearchStatistics &search = tuning.search;
  os << formatv("\n{0}: {1} of {2} layers changed", tuning.package.modelName,
                tuning.changed, tuning.package.layers.size());
  if (int64_t left = tuning.countLeft())
    os << formatv(", {0} of {1} problems left when the time was over", left,
                  tuning.problems.size());
  os << formatv("\nsolutions: {0} measured, {1} reused, {2} rejected, {3} "
                "dropped early\n",
                search.measured, search.reused, search.rejected,
                search.dropped);
  if (tuning.after.samplesMs.empty())
    os << "the emulated device has no times: those above are the model's\n";
  else
    os << formatv("the whole model: {0:F4} ms before, {1:F4} ms after\n",
                  tuning.before.medianMs, tuning.after.medianMs);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// The package comes first, since making it again would take minutes.
static Status writeResults(const TuneArguments &arguments,
                           const PackageTuning &tuning,
                           const TargetInfo &target) {
  const std::string &output =
      arguments.output.empty() ? arguments.workload : arguments.output;
  std::optional<TuningFile> record;
  if (!arguments.tuningFile.empty()) {
    Result<TuningFile> read = readTuningFile(arguments.tuningFile);
    if (!read)
      return read.error();
    if (Status status =
            updateRecord(*read, tuning, target, arguments.tuningFile);
        !status)
      return status;
    record = std::move(*read);
  }
  Status written = arguments.dropCandidates
                       ? writePackage(dropCandidates(tuning.package), output)
                       : writePackage(tuning.package, output);
  if (!written)
    return written;
  llvm::outs() << "package: " << output << "\n";
  if (!record)
    return success();
  written = writeTuningFile(*record, arguments.tuningFile);
  if (written)
    llvm::outs() << "tuning file: " << arguments.tuningFile << "\n";
  return written;
}

/// Returns an option of the command line that has no meaning for packages, if
/// there is one.
static const char *findForeignOption(const FinderArguments &finder) {
  const FinderArguments none;
  if (finder.target != none.target)
    return "--target";
  if (finder.device != none.device)
    return "--device";
  if (finder.threads != none.threads)
    return "--threads";
  if (finder.cpu != none.cpu)
    return "--cpu";
  if (!finder.findMode.empty())
    return "--find-mode";
  const SearchArguments &search = finder.search;
  if (!search.method.empty())
    return "--search-method";
  if (search.iterations)
    return "--search-iterations";
  if (search.patience)
    return "--search-patience";
  return search.seed ? "--search-seed" : nullptr;
}

int runTunePackage(const TuneArguments &arguments) {
  if (const char *option = findForeignOption(arguments.finder))
    return failUsage(std::string(option) + " is for lists of problems, and '" +
                     arguments.workload + "' is a package");
  Result<TuningPolicy> policy = getPolicy(arguments);
  if (!policy)
    return failUsage(policy.message());
  if (*policy == TuningPolicy::DbClean)
    return failUsage("the tuning policy db-clean is for lists of problems, and "
                     "'" +
                     arguments.workload + "' is a package");
  if (Status status = checkOutputs(
          {{"the package", arguments.workload}, {"-o", arguments.output}},
          {{"--tuning-file", arguments.tuningFile}});
      !status)
    return fail(status.message());
  if (Status status = checkWritable(arguments.output); !status)
    return fail(status.message());
  Result<Package> package =
      readPackageFile(arguments.workload, arguments.publicKey);
  if (!package)
    return fail(package.message());
  if (!hasCandidates(*package))
    return fail(arguments.workload +
                " holds no candidates: compile it with --include-candidates");
  // The file was checked to be readable before tuning.
  if (!arguments.tuningFile.empty())
    if (Result<TuningFile> record = readTuningFile(arguments.tuningFile);
        !record)
      return fail(record.message());
  Result<std::unique_ptr<Device>> device = openDevice(*package, /*threads=*/0);
  if (!device)
    return fail(device.message());
  Result<std::shared_ptr<const Target>> target =
      findPackageTarget(*package, (*device)->target());
  if (!target)
    return fail(target.message());
  Result<PackageTuning> tuning =
      tune(arguments, *policy, std::move(*package), **device, **target);
  if (!tuning)
    return fail(arguments.workload + ": " + tuning.message());
  printReport(*tuning);
  if (Status status = writeResults(arguments, *tuning, (*target)->getInfo());
      !status)
    return fail(status.message());
  llvm::outs().flush();
  return kSuccess;
}

} // namespace tarpon
