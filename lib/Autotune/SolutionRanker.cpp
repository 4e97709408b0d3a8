//===- SolutionRanker.cpp - Ranks what was never measured -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/SolutionRanker.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;

bool SolutionLimits::allows(const Solver &solver, const Problem &problem,
                            const TargetInfo &target) const {
  if (&solver == &getReferenceSolver())
    return true;
  return !llvm::is_contained(disabledSolvers, solver.id().str()) &&
         (!dynamicOnly || solver.isDynamic()) &&
         solver.workspaceSize(problem, target) <= workspaceBytes;
}

std::vector<Solution>
ExpectedFractionRanker::rank(const Problem &problem,
                             const TargetInfo &target) const {
  std::vector<Solution> solutions;
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    Solution solution;
    solution.solver = solver;
    solution.config = solver->defaultConfig(problem, target);
    solution.source = "default";
    solutions.push_back(std::move(solution));
  }
  return solutions;
}
