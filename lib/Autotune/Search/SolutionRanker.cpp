//===- SolutionRanker.cpp - Ranks solutions without measuring -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/SolutionRanker.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

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

/// Assumed peaks, since targets do not state theirs: only ratios count.
static constexpr double kFlopsPerMs = 1e8, kBytesPerMs = 2e7;
/// Configs that solvers list differ by 9 % (standard deviation), with no trend
/// along the list (igemm, 88 convolutions on Zen 5); solvers leave out those
/// that their cost models expect to be slower.
static constexpr double kUnlistedFactor = 1.15;

std::vector<double>
ExpectedFractionRanker::expectMs(const Problem &problem,
                                 llvm::ArrayRef<SolverConfig> candidates,
                                 const TargetInfo &target) const {
  double ideal = std::max(
      {problem.flops() / kFlopsPerMs, problem.bytes() / kBytesPerMs, 1e-9});
  struct Listed {
    double ms;
    std::vector<PerfConfig> configs;
  };
  std::map<const Solver *, Listed> solvers;
  std::vector<double> times;
  for (const SolverConfig &candidate : candidates) {
    auto [entry, isNew] = solvers.try_emplace(candidate.solver);
    Listed &listed = entry->second;
    if (isNew) {
      double fraction = candidate.solver->expectedFraction(problem, target);
      listed.ms = ideal / std::max(fraction, 1e-6);
      listed.configs = candidate.solver->configs(problem, target);
    }
    bool isListed = llvm::is_contained(listed.configs, candidate.config);
    times.push_back(listed.ms * (isListed ? 1 : kUnlistedFactor));
  }
  return times;
}
