//===- TuneCommand.cpp - graph-opt tune -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Files/ModelLoader.h"
#include "FinderArguments.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Search/Find.h"
#include "tarpon/Driver/Workload.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

class TuneRun {
public:
  TuneRun(Finder &finder, const TuneArguments &arguments)
      : finder(finder),
        progress(llvm::errs(), Progress::detectStyle(arguments.finder.quiet)) {
    if (arguments.tuningTime)
      deadline = Deadline::after(*arguments.tuningTime);
    finder.setDeadline(deadline);
    progress.setDeadline(deadline);
  }

  Status tune(const std::vector<Problem> &problems);
  void printSummary() const;
  int64_t countFailed() const { return failed; }

private:
  Status tune(const Problem &problem);
  Status fail(const Problem &problem, const std::string &reason);

  Finder &finder;
  Progress progress;
  Deadline deadline = Deadline::never();
  int64_t searched = 0, known = 0, left = 0, failed = 0;
  /// The reason why the last problem could not be tuned; empty if it could.
  std::string lastFailure;
};

} // namespace

/// One failing problem, for example one that is too large, does not end the
/// run; two successive failures for the same reason (no evaluator, a full disk)
/// do.
Status TuneRun::fail(const Problem &problem, const std::string &reason) {
  if (reason == lastFailure)
    return Error{reason};
  lastFailure = reason;
  ++failed;
  progress.remark(problem.key() + " is left out: " + reason);
  progress.advance(1);
  return success();
}

Status TuneRun::tune(const Problem &problem) {
  int64_t before = finder.getStatistics().measured;
  FindOptions options;
  options.tuning = true;
  Result<std::vector<FoundSolution>> found =
      finder.findSolutions(problem, options);
  if (!found)
    return fail(problem, found.message());
  lastFailure.clear();
  if (finder.getStatistics().measured > before) {
    ++searched;
    progress.advance(1);
    return success();
  }
  // A problem that took no time does not help to estimate the others.
  ++known;
  progress.expect(-1);
  return success();
}

Status TuneRun::tune(const std::vector<Problem> &problems) {
  progress.expect(static_cast<double>(problems.size()));
  int64_t number = 0;
  for (const Problem &problem : problems) {
    ++number;
    if (deadline.isOver()) {
      ++left;
      continue;
    }
    progress.setPhase(
        formatv("{0} of {1}: {2}", number, problems.size(), problem.op));
    if (Status status = tune(problem); !status)
      return status;
  }
  progress.finish();
  return success();
}

void TuneRun::printSummary() const {
  const SearchStatistics &search = finder.getStatistics();
  llvm::outs() << formatv("problems: {0} tuned, {1} known already", searched,
                          known);
  if (failed)
    llvm::outs() << formatv(", {0} left out", failed);
  if (left)
    llvm::outs() << formatv(", {0} left when the time was over", left);
  llvm::outs() << formatv("\nsolutions: {0} {1}, {2} reused, {3} rejected, "
                          "{4} dropped early\n",
                          search.measured, finder.getVerb(), search.reused,
                          search.rejected, search.dropped);
  llvm::outs().flush();
}

/// Reports the first faults with their lines, the others as a number.
static void reportFaults(const Workload &workload, const std::string &path) {
  constexpr size_t kMax = 5;
  for (size_t i = 0; i < std::min(kMax, workload.faults.size()); ++i) {
    const Workload::Fault &fault = workload.faults[i];
    remark(path + ":" + std::to_string(fault.line) + ": " + fault.reason);
  }
}

static int runTune(const TuneArguments &arguments) {
  if (isPackagePath(arguments.workload))
    return runTunePackage(arguments);
  if (!arguments.output.empty() || !arguments.tuningFile.empty() ||
      !arguments.publicKey.empty() || arguments.dropCandidates)
    return failUsage("-o, --tuning-file, --require-signature and "
                     "--drop-candidates are for packages, and '" +
                     arguments.workload + "' is none (.tpn)");
  Result<Workload> workload = readWorkload(arguments.workload);
  if (!workload)
    return fail(workload.message());
  reportFaults(*workload, arguments.workload);
  FinderOptions options = makeFinderOptions(arguments.finder);
  // The progress bar covers the whole list.
  options.quiet = true;
  Result<std::unique_ptr<Finder>> finder = Finder::create(options);
  if (!finder)
    return fail(finder.message());
  TuneRun run(**finder, arguments);
  if (Status status = run.tune(workload->problems); !status)
    return fail(status.message());
  run.printSummary();
  if (workload->faults.empty() && run.countFailed())
    return fail(formatv("{0}: {1} of {2} problems could not be tuned",
                        arguments.workload, run.countFailed(),
                        workload->problems.size()));
  if (workload->faults.empty())
    return kSuccess;
  return fail(formatv("{0}: {1} of {2} lines pose no problem that can be "
                      "tuned here",
                      arguments.workload, workload->faults.size(),
                      workload->lines));
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addTune(CommandSet &commands) {
  using namespace options;
  auto [sub, tune] = commands.add(
      "tune", "Tune a list of problems, or a package where its GPU is",
      "graph-opt run resnet50.onnx --log-driver resnet50.txt\n  graph-opt "
      "tune resnet50.txt\n  graph-opt tune r50.tpn -o r50-tuned.tpn",
      runTune);
  sub->add_option("FILE", tune.workload,
                  "Problem keys and driver lines, one per line; logs of "
                  "MIOpen, too; or a package with candidates (.tpn)")
      ->required()
      ->type_name("");
  addFinder(sub, tune.finder);
  addTuningTime(sub, tune.tuningTime);
  sub->add_option("-o,--output", tune.output,
                  "Write the tuned package here (default: in its place)")
      ->type_name("OUT.tpn");
  sub->add_option("--tuning-file", tune.tuningFile,
                  "The record that the package was compiled with, to which the "
                  "measurements are added")
      ->type_name("FILE.json");
  addRequireSignature(sub, tune.publicKey);
  sub->add_flag("--drop-candidates", tune.dropCandidates,
                "Drop unchosen candidates from the tuned package");
}

} // namespace tarpon
