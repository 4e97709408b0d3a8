//===- MeasuredProblems.h - The data that a model learns from ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_MEASUREDPROBLEMS_H
#define TARPON_AUTOTUNE_LEARN_MEASUREDPROBLEMS_H

#include "tarpon/Autotune/Learn/NetworkSplit.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Solver/Solver.h"

#include <set>
#include <string>
#include <vector>

namespace tarpon {

struct MeasuredSolution {
  const Solver *solver = nullptr;
  PerfConfig config;
  /// The median, from the final if the solution reached it.
  double milliseconds = 0;
};

/// A problem of a known kind (Features.h) with its right solutions.
struct MeasuredProblem {
  Problem problem;
  std::string kind;
  /// The networks that pose the problem, and whether all of them are held out.
  std::set<std::string> networks;
  bool isHeldOut = false;
  /// At least one solution.
  std::vector<MeasuredSolution> solutions;
  /// The solution that a user would get from the journal: finalists go before
  /// all others.
  MeasuredSolution tuned;
  /// Solutions that were measured and found wrong, or that crashed.
  std::vector<CandidateKey> rejected;
};

/// Reads the problems of the journal's target and number of threads, in the
/// order of their keys. Problems that no model can describe, and solutions of
/// solvers that no longer exist, are left out.
std::vector<MeasuredProblem> readMeasuredProblems(const Journal &journal,
                                                  const TargetInfo &target,
                                                  const NetworkSplit &split);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_MEASUREDPROBLEMS_H
