//===- KnownRecords.h - A problem's records in both stores ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_KNOWNRECORDS_H
#define TARPON_LIB_AUTOTUNE_SEARCH_KNOWNRECORDS_H

#include "tarpon/Autotune/Search/Solution.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace tarpon {

/// The user's records of a problem, and the system store's for solvers of which
/// the user has none.
class KnownRecords {
public:
  /// `system` may be null. `getCandidates` returns the candidates that the
  /// problem has by now; it is called if there are findings. Without it, all
  /// findings count as out of date. The user's records of `hiddenRuns` are left
  /// out.
  KnownRecords(llvm::StringRef problem, const Journal &user,
               const Journal *system,
               llvm::function_ref<CandidateDigests()> getCandidates = nullptr,
               llvm::ArrayRef<std::string> hiddenRuns = {});

  const std::vector<Measurement> &getRows() const { return rows; }
  /// The user's records only.
  std::vector<Measurement> getUserRows() const;

  /// Returns true if there is such a finding with all candidates that the
  /// problem has by now.
  bool has(Finding finding) const;
  /// Returns true if there is such a finding, even if it is out of date.
  bool had(Finding finding) const;
  /// Returns the solvers whose candidates a finished search has known. A
  /// finding without candidates stands for all solvers that have records.
  std::vector<std::string> getSearchedSolvers() const;
  bool knowsSolver(llvm::StringRef id) const;
  /// The row of a candidate, or null.
  const Measurement *find(llvm::StringRef id, const PerfConfig &config) const;
  /// Returns true if all solvers of the problem were compared.
  bool isComplete() const;

  /// The right, applicable, valid and allowed solutions, the best first: only
  /// the best one of each solver.
  std::vector<Solution> getRight(const Problem &problem,
                                 const TargetInfo &target,
                                 const SolutionLimits &limits) const;

private:
  bool hides(const Measurement &shipped) const;
  bool isBetter(const Measurement &a, const Measurement &b) const;

  std::vector<Measurement> rows;
  bool hasSystemRows = false;
  std::vector<FindingRecord> findings;
  /// Unknown unless there are findings.
  CandidateDigests candidates;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_KNOWNRECORDS_H
