//===- ProblemSearch.h - The search over one problem ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H
#define TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H

#include "Search/Methods/RelatedProblems.h"
#include "TempDirectory.h"
#include "tarpon/Autotune/Search/Search.h"
#include "tarpon/Autotune/Search/SearchMethod.h"

#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// What a search works with.
struct SearchContext {
  KernelCompiler &compiler;
  Journal &journal;
  Progress &progress;
  runtime::EvaluatorProcess &evaluator;
  TempDirectory &directory;
  Deadline deadline;
  SearchStatistics &statistics;
  SearchOptions options;
  RelatedProblems &related;
  /// What earlier searches have compiled: see getKernels.
  std::set<std::string> &compiled;
  /// May be null.
  const Journal *system;
  const SolutionRanker *ranker;
  /// Candidates are compiled, and take what the compiler's model says.
  bool isModelled;
};

/// What is measured of a problem.
struct SearchScope {
  /// Every config of a solver, or one.
  bool allConfigs = true;
  SolutionLimits limits;
  /// Results that count as if they were measured here.
  std::vector<Measurement> known;
  /// Whether a search of these came to its own end before.
  bool isSearched = false;
  /// This candidate and nothing else.
  std::optional<CandidateKey> only;
};

class ProblemSearch {
public:
  ProblemSearch(SearchContext context, const Problem &problem,
                SearchScope scope);
  /// Removes the packages it has written.
  ~ProblemSearch();

  /// Measures what is not known, until the deadline.
  runtime::Status run();

  /// Measures the best guesses until one is right, or a few were not.
  runtime::Status verifyDefault();

  /// Whether nothing is left to be measured of the whole problem: no deadline
  /// cut it short, and no limit left a solver out.
  bool isFinished() const {
    return !wasCut() && !isLimited && !candidates.empty();
  }
  /// By the deadline or a limit of the search.
  bool wasCut() const { return isCut || isStopped; }
  /// The result of the first candidate.
  std::optional<Measurement> getFirstResult() const;
  /// The ids of the candidates' solvers.
  std::vector<std::string> getSolvers() const;

private:
  struct Candidate {
    const Solver *solver;
    PerfConfig config;
    CandidateKey key;
    /// The last measurement, of this run or an earlier one.
    std::optional<Measurement> result;
    /// Its package file once built, or why it cannot be.
    std::string package;
    std::string buildError;
    /// What the model says, once it was asked.
    std::optional<double> modelledMs;

    bool isOk() const {
      return result && result->status == MeasurementStatus::Ok;
    }
  };
  /// How long to measure.
  struct Effort {
    MeasurementStage stage;
    int minSamples;
    double minMs, maxMs;
    /// Who cannot take less is dropped; 0 for nobody.
    double cutoffMs = 0;
  };
  static const Effort kRaceEffort;

  void collectCandidates();
  void addCandidate(const Solver &solver, const PerfConfig &config);
  std::vector<PerfConfig> getConfigs(const Solver &solver) const;
  SearchSpace makeSpace() const;
  std::vector<SearchResult> getKnownResults() const;
  void recallResults();
  void recall(const Measurement &known);
  bool isSettled(llvm::StringRef solver) const;
  bool isOver();
  bool isAtLimit(llvm::ArrayRef<SearchResult> results,
                 const Deadline &searchEnd);
  void build(Candidate &candidate);
  void buildAll(llvm::ArrayRef<Candidate *> list);
  void model(Candidate &candidate);
  runtime::Status concludeModelled(Candidate &candidate,
                                   Measurement measurement);
  void removePackages();
  size_t getBatchSize() const;
  runtime::Status buildReference();
  bool hasEnough() const;
  runtime::Status race();
  size_t countLeft(llvm::ArrayRef<SearchResult> results) const;
  runtime::Status raceBatch(llvm::ArrayRef<size_t> batch,
                            const Deadline &searchEnd,
                            std::vector<SearchResult> &results);
  double getCutoff() const;
  runtime::Status runFinal();
  std::vector<Candidate *> pickFinalists();
  std::vector<Candidate *> getFinalists();
  runtime::Status measure(Candidate &candidate, const Effort &effort);
  runtime::Status conclude(Candidate &candidate, Measurement measurement);
  void judge(const runtime::EvaluationAnswer &answer,
             const Candidate &candidate, Measurement &measurement) const;
  void reportRejected();
  std::chrono::milliseconds getTimeLimit() const;

  SearchContext context;
  SearchScope scope;
  Problem problem, testProblem;
  std::string problemKey;
  std::vector<Candidate> candidates;
  /// Those of this run that may not win.
  std::vector<Measurement> rejected;
  std::string reference;
  bool isCut = false, isStopped = false, isLimited = false, hasRaced = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_PROBLEMSEARCH_H
