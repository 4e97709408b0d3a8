//===- Solution.h - What a problem is solved with ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SOLUTION_H
#define TARPON_AUTOTUNE_SEARCH_SOLUTION_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Solver/Solver.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// What a problem is solved with, and why.
struct Solution {
  const Solver *solver = nullptr;
  PerfConfig config;
  /// "measured" in this run; "user-db" or "system-db" for what is on record;
  /// "model" for what the target's model says where nothing can be measured;
  /// "heuristic" for what a model expects to be the fastest; "default" if
  /// nothing is known.
  std::string source;
  /// There is one if it was measured or modelled, at any time.
  std::optional<Measurement> measurement;
  /// What the source of a guess expects it to take; none if it does not say.
  std::optional<double> expectedMs;
};

/// What a solution has to do with beside being right. Every solver is
/// deterministic, so that this is nothing that can be asked for. What is
/// measured under limits is kept, but never counts as a finished search.
struct SolutionLimits {
  int64_t workspaceBytes = std::numeric_limits<int64_t>::max();
  /// Ids of solvers that are not to be used.
  std::vector<std::string> disabledSolvers;
  /// Only solvers whose kernels serve any shape.
  bool dynamicOnly = false;

  /// The reference, which is needed to verify anything, is always allowed.
  bool allows(const Solver &solver, const Problem &problem,
              const TargetInfo &target) const;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SOLUTION_H
