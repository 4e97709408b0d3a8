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

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

struct MeasuredSolution {
  const Solver *solver = nullptr;
  PerfConfig config;
  /// The least sample, or the median if samples are not on record; from the
  /// final if the solution reached it.
  double milliseconds = 0;
};

/// A problem of a known kind (Features.h) with its right solutions on one
/// machine.
struct MeasuredProblem {
  Problem problem;
  /// The machine; never null. Its name in the journal, which has a digest of
  /// its features, is another CPU's if the store came from there.
  std::shared_ptr<const TargetInfo> target;
  std::string targetName;
  std::string kind;
  /// The networks that pose the problem, and whether all of them are held out.
  std::set<std::string> networks;
  bool isHeldOut = false;
  /// At least one solution.
  std::vector<MeasuredSolution> solutions;
  /// The fastest solution; finalists go before all others.
  MeasuredSolution tuned;
  /// Solutions that were measured and found wrong, or that crashed.
  std::vector<CandidateKey> rejected;
};

/// Reads the problems of the journal's target and number of threads, in the
/// order of their keys. `context` is the journal's. Problems that no model can
/// describe, and solutions of solvers that no longer exist, are left out.
std::vector<MeasuredProblem>
readMeasuredProblems(const Journal &journal, const JournalContext &context,
                     std::shared_ptr<const TargetInfo> target,
                     const NetworkSplit &split);

/// Reads the problems of all CPUs that have measurements in a store with the
/// host's number of threads. No process writes to the store, and its records
/// may come from any build. CPUs other than this machine's are described by
/// LLVM's list and by the sizes of caches on record. Appends to `skipped` why
/// the records of a target cannot be used.
runtime::Result<std::vector<MeasuredProblem>>
readStoreOfAnyCpu(const std::string &path, const TargetInfo &host,
                  const NetworkSplit &split, std::vector<std::string> &skipped);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_MEASUREDPROBLEMS_H
