//===- TunedCandidates.cpp - Candidates that a tuner has found ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TunedCandidates.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

using namespace tarpon;
using mlir::FailureOr;
using runtime::Result;

/// Moves the first solution of each solver to the front.
static void preferOthersBest(std::vector<Solution> &solutions, double limitMs) {
  std::set<const Solver *> seen;
  std::stable_partition(solutions.begin(), solutions.end(),
                        [&](const Solution &solution) {
                          return seen.insert(solution.solver).second &&
                                 solution.measurement->median <= limitMs;
                        });
}

/// The known candidates, the fastest first, except that the best of each solver
/// precede all others.
static std::vector<Solution> listKnown(const Journal &journal,
                                       const std::string &problem,
                                       const TargetInfo &target) {
  std::vector<Measurement> known = journal.getMeasurements(problem);
  llvm::stable_sort(known, [](const Measurement &a, const Measurement &b) {
    return a.median < b.median;
  });
  std::vector<Solution> solutions;
  for (Measurement &row : known) {
    Solution solution;
    solution.solver = findSolver(target, row.key.solver);
    FailureOr<PerfConfig> config = PerfConfig::parse(row.key.config);
    if (row.status != MeasurementStatus::Ok || !solution.solver ||
        failed(config))
      continue;
    solution.config = *config;
    solution.source = "model";
    solution.measurement = std::move(row);
    solutions.push_back(std::move(solution));
  }
  if (!solutions.empty())
    preferOthersBest(solutions, policy::kIncludedSolverRatio *
                                    solutions.front().measurement->median);
  return solutions;
}

CandidateSource tarpon::makeTunedSource(Tuner &tuner, const Journal &journal,
                                        const TargetInfo &target, size_t limit,
                                        std::string kernelVersion) {
  auto list = [&tuner, &journal, target](
                  const Problem &problem) -> Result<std::vector<Solution>> {
    // Problems that were searched before take no time.
    if (Result<Solution> best = tuner.tune(problem); !best)
      return best.error();
    return listKnown(journal, problem.key(), target);
  };
  return {list, limit, std::move(kernelVersion)};
}
