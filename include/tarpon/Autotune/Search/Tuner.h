//===- Tuner.h - Finds the fastest solution of a problem --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates of one problem are compiled, then verified and measured by the
// target's measurer (Measurer.h), one after the other. Everything goes through
// the journal: what it holds is not measured again, unless the tuning policy
// says so. The constants are in Policy.h, the rules of when to search in
// FindPolicy.h.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_TUNER_H
#define TARPON_AUTOTUNE_SEARCH_TUNER_H

#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/FindPolicy.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Search/SearchOptions.h"
#include "tarpon/Autotune/Search/SearchStatistics.h"
#include "tarpon/Autotune/Search/Solution.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

class KnownRecords;
class RelatedProblems;
struct SearchContext;
struct SearchScope;

/// $TARPON_EVALUATOR, else tarpon-evaluator beside this program.
std::string findEvaluatorProgram();

/// The time of a solution that nobody has measured.
struct ExpectedTime {
  /// By the fraction of the peak that its solver expects. Only ratios count,
  /// since the peak is assumed.
  double byFraction = 0;
  /// By the ranker, if it can judge the solution.
  std::optional<double> byRanker = std::nullopt;
};

struct FindRequest {
  /// True if the caller asks for a search, whatever the policy says.
  bool tuning = false;
  SolutionLimits limits;
};

class Tuner {
public:
  /// All must outlive the tuner.
  Tuner(KernelCompiler &compiler, MeasurerFactory &measurers, Journal &journal,
        Progress &progress);
  /// Makes the measurers of the compiler's target itself. The evaluator is
  /// started when it is needed.
  Tuner(KernelCompiler &compiler, Journal &journal, Progress &progress,
        const std::string &evaluatorProgram = findEvaluatorProgram());
  ~Tuner();

  /// Sets the deadline; problems whose turn comes later are answered from the
  /// stores.
  void setDeadline(Deadline value) { deadline = value; }

  /// Sets find mode and policy; normal and none by default.
  void setFindPolicy(FindPolicy value) { findPolicy = value; }
  /// Sets the search options; guided and without limits by default.
  void setSearchOptions(const SearchOptions &value) { searchOptions = value; }
  /// Set the system store, and a ranker that is asked before the expected
  /// fractions; null for none. Both must outlive the tuner.
  void setSystemStore(const Journal *value) { system = value; }
  void setRanker(const SolutionRanker *value) { ranker = value; }

  /// Hides what these processes have measured of a problem until find() is
  /// asked for it. A run that goes on after theirs decides as they did, and
  /// finds what they have found.
  void hideRuns(std::vector<std::string> runs) { hiddenRuns = std::move(runs); }

  /// Follows the table of FindPolicy.h, then returns the fastest right
  /// solution. A candidate that is wrong, crashes or hangs is recorded and
  /// never returned. An error means that nothing can be measured at all (no
  /// evaluator, no journal, no disk), or that no candidate can be compiled for
  /// a target without a reference solver.
  runtime::Result<Solution> find(const Problem &problem,
                                 const FindRequest &request = {});

  /// The same for a caller who asks for tuning.
  runtime::Result<Solution> tune(const Problem &problem) {
    return find(problem, {true, {}});
  }

  /// Returns the best solution in the stores, else a guess. Measures nothing.
  Solution lookUp(const Problem &problem,
                  const SolutionLimits &limits = {}) const;

  /// Returns the best solution of each solver, measured ones before guesses.
  /// The exception: a guess precedes the results of an unfinished search, or of
  /// one under other limits, if that search never measured the guess. Not
  /// empty.
  std::vector<Solution> list(const Problem &problem,
                             const SolutionLimits &limits = {}) const;

  /// Returns the expected time of a solution.
  ExpectedTime expectTime(const Problem &problem,
                          const Solution &solution) const;

  /// Returns true if tune() would measure something that has no record.
  bool wouldMeasure(const Problem &problem) const;

  /// Returns the share of the first guess's time that the best solution on
  /// record saves; none unless both were measured.
  std::optional<double> getSaving(const Problem &problem) const;

  /// Returns a solution that may run in this process or serve as reference: the
  /// reference solver's or, of a large problem, for which that would take too
  /// long, the first guess that is right, which is verified now if the journal
  /// does not know it, whatever the deadline. What was tuned does not change
  /// the answer, so that calibrations are the same bits before and after.
  Solution getTrusted(const Problem &problem);

  const SearchStatistics &getStatistics() const { return statistics; }

private:
  SearchContext makeContext(Measurer &measurer, Deadline until);
  CandidateDigests getCandidates(const Problem &problem) const;
  runtime::Status recordFinding(const Problem &problem, Finding finding);
  KnownRecords getKnown(const Problem &problem) const;
  std::vector<Solution> getShipped(const Problem &problem,
                                   const SolutionLimits &limits) const;
  std::vector<Solution> guess(const Problem &problem,
                              const SolutionLimits &limits) const;
  std::optional<MeasurementStatus> verify(const Problem &problem,
                                          const Solution &solution);
  KnownRecord classify(const Problem &problem,
                       const FindRequest &request) const;
  runtime::Status act(FindAction action, const Problem &problem,
                      const SolutionLimits &limits);
  runtime::Status search(const Problem &problem, SearchScope scope);
  runtime::Status complete(bool allConfigs, const Problem &problem,
                           const SolutionLimits &limits);
  runtime::Status searchAgain(const Problem &problem,
                              const SolutionLimits &limits);
  runtime::Status verify(const Problem &problem, const SolutionLimits &limits);
  runtime::Status measureGuesses(const Problem &problem,
                                 const SolutionLimits &limits);

  KernelCompiler &compiler;
  Journal &journal;
  Progress &progress;
  /// Null if `measurers` is the caller's.
  std::unique_ptr<MeasurerFactory> ownMeasurers;
  MeasurerFactory &measurers;
  std::unique_ptr<RelatedProblems> related;
  /// The candidates of problems by their keys: a problem is looked up several
  /// times.
  mutable std::map<std::string, CandidateDigests> candidates;
  /// The kernels that candidates have been compiled from.
  std::set<std::string> compiled;
  Deadline deadline = Deadline::never();
  FindPolicy findPolicy;
  SearchOptions searchOptions;
  /// The processes whose measurements are hidden, and the problems that find()
  /// was asked for.
  std::vector<std::string> hiddenRuns;
  std::set<std::string> found;
  const Journal *system = nullptr;
  const SolutionRanker *ranker = nullptr;
  SearchStatistics statistics;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_TUNER_H
