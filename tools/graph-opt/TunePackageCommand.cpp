//===- TunePackageCommand.cpp - graph-opt tune MODEL.tpn --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "GpuRun.h"
#include "Messages.h"
#include "OutputFiles.h"

#include "tarpon/Autotune/PackageTuning.h"
#include "tarpon/Runtime/Candidates.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

/// Those of the emulated device say nothing. Where none can be, nothing is
/// kept.
static std::unique_ptr<Journal> openJournal(const Package &package,
                                            const GpuTarget &gpu) {
  if (package.arch == kEmulatedArch)
    return nullptr;
  std::string path = Journal::getDefaultPath(makeGpuTargetInfo(gpu));
  Result<std::unique_ptr<Journal>> journal =
      Journal::open(path, getMeasuredContext(gpu, package.kernelVersion));
  if (journal)
    return std::move(*journal);
  remark("nothing that is measured is kept: " + journal.message());
  return nullptr;
}

static Result<PackageTuning> tune(const TuneArguments &arguments,
                                  Package package, GpuDevice &device,
                                  const GpuTarget &gpu) {
  Progress progress(llvm::errs(),
                    Progress::detectStyle(arguments.finder.quiet));
  std::unique_ptr<Journal> journal = openJournal(package, gpu);
  PackageTuningOptions options;
  options.journal = journal.get();
  if (arguments.tuningTime)
    options.deadline = Deadline::after(*arguments.tuningTime);
  std::optional<TuningPolicy> policy;
  if (!arguments.finder.tuningPolicy.empty())
    policy = *parseTuningPolicy(arguments.finder.tuningPolicy);
  Result<FindPolicy> resolved = resolveFindPolicy(std::nullopt, policy);
  if (!resolved)
    return resolved.error();
  options.again = withTuning(*resolved).tuning == TuningPolicy::SearchDbUpdate;
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
      formatv("{0}/{1}", right, problem.results.size()), best.median,
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
    os << "the emulated device has no times: those above say nothing of a "
          "GPU\n";
  else
    os << formatv("the whole model: {0:F4} ms before, {1:F4} ms after\n",
                  tuning.before.medianMs, tuning.after.medianMs);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static Status writeResults(const TuneArguments &arguments,
                           const PackageTuning &tuning, const GpuTarget &gpu) {
  const std::string &output =
      arguments.output.empty() ? arguments.workload : arguments.output;
  if (!arguments.tuningFile.empty()) {
    Result<TuningFile> record = readTuningFile(arguments.tuningFile);
    if (!record)
      return record.error();
    if (Status status =
            updateRecord(*record, tuning, gpu, arguments.tuningFile);
        !status)
      return status;
    if (Status status = writeTuningFile(*record, arguments.tuningFile); !status)
      return status;
    llvm::outs() << "tuning file: " << arguments.tuningFile << "\n";
  }
  Status written = arguments.dropCandidates
                       ? writePackage(dropCandidates(tuning.package), output)
                       : writePackage(tuning.package, output);
  if (written)
    llvm::outs() << "package: " << output << "\n";
  return written;
}

int runTunePackage(const TuneArguments &arguments) {
  if (Status status = checkOutputs({{"the package", arguments.workload}},
                                   {{"--tuning-file", arguments.tuningFile}});
      !status)
    return fail(status.message());
  Result<Package> package = readPackage(arguments.workload);
  if (!package)
    return fail(package.message());
  if (!hasCandidates(*package))
    return fail(arguments.workload +
                " holds no candidates: compile it with --include-candidates");
  // Known to be readable before minutes are spent.
  if (!arguments.tuningFile.empty())
    if (Result<TuningFile> record = readTuningFile(arguments.tuningFile);
        !record)
      return fail(record.message());
  Result<std::unique_ptr<GpuDevice>> device = openPackageDevice(*package);
  if (!device)
    return fail(device.message());
  Result<GpuTarget> gpu = parseGpuTarget((*device)->target());
  if (!gpu)
    return fail(gpu.message());
  Result<PackageTuning> tuning =
      tune(arguments, std::move(*package), **device, *gpu);
  if (!tuning)
    return fail(arguments.workload + ": " + tuning.message());
  printReport(*tuning);
  if (Status status = writeResults(arguments, *tuning, *gpu); !status)
    return fail(status.message());
  llvm::outs().flush();
  return kSuccess;
}

} // namespace tarpon
