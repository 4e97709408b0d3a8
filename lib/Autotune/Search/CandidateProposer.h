//===- CandidateProposer.h - Decides what is measured next ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search method of a problem with everything that it needs to know: the
// candidates, the results so far, the expectations, related problems and the
// user's limits. It neither builds nor measures anything, so that a search in
// one process (ProblemSearch.h) and one in rounds between machines
// (BundleBuilder.h) propose the same.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_CANDIDATEPROPOSER_H
#define TARPON_LIB_AUTOTUNE_SEARCH_CANDIDATEPROPOSER_H

#include "Search/Methods/RelatedProblems.h"
#include "Search/SearchScope.h"
#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/SearchMethod.h"
#include "tarpon/Autotune/Search/SearchOptions.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// The context of proposals. All references must outlive them.
struct ProposalContext {
  const TargetInfo &target;
  /// The journal in which related problems are looked up.
  const Journal &journal;
  SearchOptions options;
  RelatedProblems &related;
  /// The kernels that earlier searches have compiled: see getKernels.
  std::set<std::string> &compiled;
  /// May be null.
  const Journal *system;
  const SolutionRanker *ranker;
  /// See SearchSpace.
  size_t parallel;
};

class CandidateProposer {
public:
  /// Adds the candidates to `contenders`, which must outlive the proposer; the
  /// best guess comes first.
  CandidateProposer(ProposalContext context, const Problem &problem,
                    SearchScope scope, std::vector<Contender> &contenders);

  /// Gives the contenders the results that are known, and removes those that
  /// need no result of their own. Returns the number of results.
  int64_t recall();

  /// Returns the contenders to measure next, at most `max`; none if the search
  /// has come to its end or to a limit. Those that it returned before have
  /// results by now. The time of a problem (SearchOptions) begins with the
  /// first call.
  std::vector<size_t> propose(size_t max);
  /// Returns the number of results that the user's limit leaves.
  size_t countLeft() const;
  /// Notes that the kernels of these contenders are compiled.
  void noteCompiled(llvm::ArrayRef<size_t> batch);
  /// Takes the result of a contender.
  void take(size_t index);
  /// Returns true if the user's limit is reached.
  bool isAtLimit();

  /// Returns true if a limit has ended the search before its own end.
  bool wasStopped() const { return isStopped; }
  /// Returns true if limits have left a solver out.
  bool leftSolversOut() const { return isLimited; }
  /// Returns the ids of the candidates' solvers.
  std::vector<std::string> getSolvers() const;

private:
  void collectCandidates();
  void addCandidate(const Solver &solver, const PerfConfig &config);
  std::vector<PerfConfig> getConfigs(const Solver &solver) const;
  void recall(const Measurement &known, int64_t &count);
  bool isSettled(llvm::StringRef solver) const;
  void begin();
  SearchSpace makeSpace() const;

  ProposalContext context;
  Problem problem;
  SearchScope scope;
  std::vector<Contender> &contenders;
  SearchSpace space;
  /// Made when the first proposal is asked for.
  std::unique_ptr<SearchMethod> method;
  /// In the order in which they were measured.
  std::vector<SearchResult> results;
  Deadline end = Deadline::never();
  bool isStopped = false, isLimited = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_CANDIDATEPROPOSER_H
