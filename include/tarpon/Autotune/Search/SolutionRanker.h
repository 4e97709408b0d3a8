//===- SolutionRanker.h - Ranks what was never measured ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SOLUTIONRANKER_H
#define TARPON_AUTOTUNE_SEARCH_SOLUTIONRANKER_H

#include "tarpon/Autotune/Search/Solution.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace tarpon {

/// A solver with one of its configs: what a search may measure.
struct SolverConfig {
  const Solver *solver = nullptr;
  PerfConfig config;
};

/// Answers where no store does. Stateless and thread-safe.
class SolutionRanker {
public:
  virtual ~SolutionRanker() = default;

  /// One solution of each applicable solver, the fastest first, with its config
  /// and a source that names this kind of ranker. Empty if it has no ground to
  /// say anything about the problem or the target: then the next one is asked.
  virtual std::vector<Solution> rank(const Problem &problem,
                                     const TargetInfo &target) const = 0;

  /// What each candidate is expected to take, in milliseconds and in their
  /// order. They are applicable and valid, and may be any configs, not only
  /// those that solvers list. A search goes by the ratios alone: all may be off
  /// by one factor. Empty if there is no ground; NaN for a candidate of which
  /// nothing can be said.
  virtual std::vector<double>
  expectMs(const Problem & /*problem*/,
           llvm::ArrayRef<SolverConfig> /*candidates*/,
           const TargetInfo & /*target*/) const {
    return {};
  }
};

/// By the fraction of the peak that solvers expect to reach, with their default
/// configs. Answers always; its source is "default".
class ExpectedFractionRanker : public SolutionRanker {
public:
  std::vector<Solution> rank(const Problem &problem,
                             const TargetInfo &target) const override;

  /// Of a peak that is made up, since targets do not say theirs. Configs that a
  /// solver does not list are expected to be slower than those that it does.
  std::vector<double> expectMs(const Problem &problem,
                               llvm::ArrayRef<SolverConfig> candidates,
                               const TargetInfo &target) const override;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SOLUTIONRANKER_H
