//===- SolutionRanker.h - Ranks solutions without measuring -----*- C++ -*-===//
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

/// A solver with one of its configs: a candidate of a search.
struct SolverConfig {
  const Solver *solver = nullptr;
  PerfConfig config;
};

/// Answers where no store has a record. Stateless and thread-safe.
class SolutionRanker {
public:
  virtual ~SolutionRanker() = default;

  /// Returns one solution of each applicable solver, the fastest first, with
  /// its config and a source that names this kind of ranker. Empty if the
  /// ranker cannot judge the problem or the target: then the next ranker is
  /// asked.
  virtual std::vector<Solution> rank(const Problem &problem,
                                     const TargetInfo &target) const = 0;

  /// Returns the expected time of each candidate, in milliseconds and in their
  /// order. The candidates are applicable and valid, and may be any configs,
  /// not only those that solvers list. A search uses only the ratios: all may
  /// be off by one factor. Empty if the ranker cannot judge the problem; NaN
  /// for a candidate that it cannot judge.
  virtual std::vector<double>
  expectMs(const Problem & /*problem*/,
           llvm::ArrayRef<SolverConfig> /*candidates*/,
           const TargetInfo & /*target*/) const {
    return {};
  }
};

/// Ranks by the fraction of the peak that solvers expect to reach, with their
/// default configs. Always answers; its source is "default".
class ExpectedFractionRanker : public SolutionRanker {
public:
  std::vector<Solution> rank(const Problem &problem,
                             const TargetInfo &target) const override;

  /// Computes with an assumed peak, since targets do not state theirs. Configs
  /// that a solver does not list are expected to be slower than those that it
  /// does.
  std::vector<double> expectMs(const Problem &problem,
                               llvm::ArrayRef<SolverConfig> candidates,
                               const TargetInfo &target) const override;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SOLUTIONRANKER_H
