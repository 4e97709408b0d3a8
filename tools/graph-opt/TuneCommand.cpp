//===- TuneCommand.cpp - graph-opt tune -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "FinderArguments.h"
#include "Messages.h"

#include "tarpon/Autotune/Find.h"
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

private:
  Status tune(const Problem &problem);

  Finder &finder;
  Progress progress;
  Deadline deadline = Deadline::never();
  int64_t searched = 0, known = 0, left = 0;
};

} // namespace

/// Problems on which nothing has to be measured take no time.
Status TuneRun::tune(const Problem &problem) {
  int64_t before = finder.getStatistics().measured;
  FindOptions options;
  options.tuning = true;
  Result<std::vector<FoundSolution>> found =
      finder.findSolutions(problem, options);
  if (!found)
    return found.error();
  ++(finder.getStatistics().measured > before ? searched : known);
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
    progress.advance(1);
  }
  progress.finish();
  return success();
}

void TuneRun::printSummary() const {
  const SearchStatistics &search = finder.getStatistics();
  llvm::outs() << formatv("problems: {0} tuned, {1} known already", searched,
                          known);
  if (left)
    llvm::outs() << formatv(", {0} left when the time was over", left);
  llvm::outs() << formatv(
      "\nsolutions: {0} measured, {1} reused, {2} rejected\n", search.measured,
      search.reused, search.rejected);
  llvm::outs().flush();
}

/// The first of them each with its line, the others as a number.
static void reportFaults(const Workload &workload, const std::string &path) {
  constexpr size_t kMax = 5;
  for (size_t i = 0; i < std::min(kMax, workload.faults.size()); ++i) {
    const Workload::Fault &fault = workload.faults[i];
    remark(path + ":" + std::to_string(fault.line) + ": " + fault.reason);
  }
}

int runTune(const TuneArguments &arguments) {
  Result<Workload> workload = readWorkload(arguments.workload);
  if (!workload)
    return fail(workload.message());
  reportFaults(*workload, arguments.workload);
  FinderOptions options = makeFinderOptions(arguments.finder);
  // The progress that is shown is that of the whole list.
  options.quiet = true;
  Result<std::unique_ptr<Finder>> finder = Finder::create(options);
  if (!finder)
    return fail(finder.message());
  TuneRun run(**finder, arguments);
  if (Status status = run.tune(workload->problems); !status)
    return fail(status.message());
  run.printSummary();
  if (workload->faults.empty())
    return kSuccess;
  return fail(formatv("{0}: {1} of {2} lines pose no problem that can be "
                      "tuned here",
                      arguments.workload, workload->faults.size(),
                      workload->lines));
}

} // namespace tarpon
