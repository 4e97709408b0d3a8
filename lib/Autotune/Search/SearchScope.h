//===- SearchScope.h - The part of a problem to be searched -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_SEARCHSCOPE_H
#define TARPON_LIB_AUTOTUNE_SEARCH_SEARCHSCOPE_H

#include "tarpon/Autotune/Search/Solution.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The candidates of a problem that are measured.
struct SearchScope {
  /// True for every config of a solver, false for one.
  bool allConfigs = true;
  SolutionLimits limits;
  /// Results that count as if they had been measured here.
  std::vector<Measurement> known;
  /// The solvers whose candidates were part of a search that came to its own
  /// end.
  std::vector<std::string> searchedSolvers;
  /// Restricts the search to this candidate.
  std::optional<CandidateKey> only;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_SEARCHSCOPE_H
