//===- Solutions.cpp - The solutions of one operation -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Embed/Solutions.h"

#include "tarpon/Autotune/Search/Find.h"
#include "tarpon/Driver/Workload.h"
#include "tarpon/Targets/AllTargets.h"

namespace tarpon {

using namespace runtime;

static Result<Problem> parse(const std::string &text) {
  Workload workload = parseWorkload(text);
  if (!workload.faults.empty())
    return Error{workload.faults.front().reason};
  if (workload.problems.size() != 1)
    return Error{"'" + text + "' asks for " +
                 std::to_string(workload.problems.size()) +
                 " operations, expected one"};
  return std::move(workload.problems.front());
}

Result<std::vector<ListedSolution>> listSolutions(const std::string &problem,
                                                  const SolutionQuery &query) {
  Result<Problem> parsed = parse(problem);
  if (!parsed)
    return parsed.error();
  registerAllTargets();
  FinderOptions options;
  options.threads = query.threads;
  options.cpu = query.cpu;
  Result<std::unique_ptr<Finder>> finder = Finder::create(options);
  if (!finder)
    return finder.error();
  std::vector<ListedSolution> list;
  for (const FoundSolution &found : (*finder)->listSolutions(*parsed))
    list.push_back({std::string(found.solution.solver->id()),
                    found.solution.config.str(), found.solution.source,
                    found.getMilliseconds(), found.workspaceBytes});
  return list;
}

} // namespace tarpon
