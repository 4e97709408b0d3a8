//===- Solution.h - A solution and its origin -------------------*- C++ -*-===//
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

/// The solution of a problem, and where it comes from.
struct Solution {
  const Solver *solver = nullptr;
  PerfConfig config;
  /// "measured" in this run; "user-db" or "system-db" for what is on record;
  /// "model" for what the target's model says where nothing can be measured;
  /// "heuristic" for what the learned model expects to be the fastest;
  /// "default" if nothing is known.
  std::string source;
  /// Set if the solution was measured or modelled, at any time.
  std::optional<Measurement> measurement;
  /// The time that the source of a guess expects; none if it gives no time.
  std::optional<double> expectedMs;
};

/// Restrictions on solutions, beside being right. All solvers are
/// deterministic, so that determinism cannot be asked for. Measurements under
/// limits are kept, but never count as a finished search.
struct SolutionLimits {
  int64_t workspaceBytes = std::numeric_limits<int64_t>::max();
  /// Ids of solvers that must not be used.
  std::vector<std::string> disabledSolvers;
  /// Allows only solvers whose kernels serve any shape.
  bool dynamicOnly = false;

  /// Returns true if the solver may be used. The reference, which verification
  /// needs, is always allowed.
  bool allows(const Solver &solver, const Problem &problem,
              const TargetInfo &target) const;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SOLUTION_H
