//===- ProblemSearch.h - The search over one problem ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H
#define TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H

#include "Search/CandidateProposer.h"
#include "Search/Race.h"
#include "Search/SearchScope.h"
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

class ProblemSearch {
public:
  ProblemSearch(SearchContext context, const Problem &problem,
                SearchScope scope);
  ProblemSearch(const ProblemSearch &) = delete;
  ProblemSearch &operator=(const ProblemSearch &) = delete;

  /// Measures the candidates without a record, until the deadline.
  runtime::Status run();

  /// Measures the best guesses until one is right, or a few were wrong.
  runtime::Status verifyDefault();

  /// Returns true if nothing is left to be measured of the whole problem: no
  /// deadline ended the search early, and no limit left a solver out.
  bool isFinished() const {
    return !wasCut() && !proposer.leftSolversOut() &&
           !race.getContenders().empty();
  }
  /// Returns true if the deadline or a limit has ended the search.
  bool wasCut() const { return race.wasCut() || proposer.wasStopped(); }
  /// The result of the first candidate.
  std::optional<Measurement> getFirstResult() const;
  /// The ids of the candidates' solvers.
  std::vector<std::string> getSolvers() const { return proposer.getSolvers(); }

private:
  void recallResults();
  runtime::Status raceAll();
  runtime::Status raceBatch(llvm::ArrayRef<size_t> batch);
  runtime::Status verifyFirst();

  SearchContext context;
  Race race;
  /// Proposes contenders of the race.
  CandidateProposer proposer;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H
