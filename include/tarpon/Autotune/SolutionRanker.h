//===- SolutionRanker.h - Ranks what was never measured ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SOLUTIONRANKER_H
#define TARPON_AUTOTUNE_SOLUTIONRANKER_H

#include "tarpon/Autotune/Solution.h"

#include <vector>

namespace tarpon {

/// Answers where no store does. Stateless and thread-safe.
class SolutionRanker {
public:
  virtual ~SolutionRanker() = default;

  /// One solution of each applicable solver, the fastest first, with its config
  /// and a source that names this kind of ranker. Empty if it has no ground to
  /// say anything about the problem or the target: then the next one is asked.
  virtual std::vector<Solution> rank(const Problem &problem,
                                     const TargetInfo &target) const = 0;
};

/// By the fraction of the peak that solvers expect to reach, with their default
/// configs. Answers always; its source is "default".
class ExpectedFractionRanker : public SolutionRanker {
public:
  std::vector<Solution> rank(const Problem &problem,
                             const TargetInfo &target) const override;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SOLUTIONRANKER_H
