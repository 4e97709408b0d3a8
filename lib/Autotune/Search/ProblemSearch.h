//===- ProblemSearch.h - The search over one problem ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H
#define TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H

#include "Search/Methods/RelatedProblems.h"
#include "Search/Race.h"
#include "tarpon/Autotune/Search/SearchMethod.h"
#include "tarpon/Autotune/Search/Tuner.h"

#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// The context of a search.
struct SearchContext {
  const TargetInfo &target;
  Measurer &measurer;
  Journal &journal;
  Progress &progress;
  Deadline deadline;
  SearchStatistics &statistics;
  SearchOptions options;
  RelatedProblems &related;
  /// The kernels that earlier searches have compiled: see getKernels.
  std::set<std::string> &compiled;
  /// May be null.
  const Journal *system;
  const SolutionRanker *ranker;
};

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

class ProblemSearch {
public:
  ProblemSearch(SearchContext context, const Problem &problem,
                SearchScope scope);

  /// Measures the candidates without a record, until the deadline.
  runtime::Status run();

  /// Measures the best guesses until one is right, or a few were wrong.
  runtime::Status verifyDefault();

  /// Returns true if nothing is left to be measured of the whole problem: no
  /// deadline ended the search early, and no limit left a solver out.
  bool isFinished() const {
    return !wasCut() && !isLimited && !race.getContenders().empty();
  }
  /// Returns true if the deadline or a limit has ended the search.
  bool wasCut() const { return race.wasCut() || isStopped; }
  /// The result of the first candidate.
  std::optional<Measurement> getFirstResult() const;
  /// The ids of the candidates' solvers.
  std::vector<std::string> getSolvers() const;

private:
  void collectCandidates();
  void addCandidate(const Solver &solver, const PerfConfig &config);
  std::vector<PerfConfig> getConfigs(const Solver &solver) const;
  SearchSpace makeSpace() const;
  std::vector<SearchResult> getKnownResults() const;
  void recallResults();
  void recall(const Measurement &known);
  bool isSettled(llvm::StringRef solver) const;
  bool isAtLimit(llvm::ArrayRef<SearchResult> results,
                 const Deadline &searchEnd);
  runtime::Status raceAll();
  size_t countLeft(llvm::ArrayRef<SearchResult> results) const;
  runtime::Status raceBatch(llvm::ArrayRef<size_t> batch,
                            const Deadline &searchEnd,
                            std::vector<SearchResult> &results);
  runtime::Status verifyFirst();

  SearchContext context;
  SearchScope scope;
  Problem problem;
  Race race;
  bool isStopped = false, isLimited = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H
