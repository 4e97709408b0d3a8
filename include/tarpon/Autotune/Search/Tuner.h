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
// says so. The numbers that this goes by are in Policy.h, what is done when in
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
#include "tarpon/Targets/KernelCompiler.h"

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

struct FindRequest {
  /// Whether the caller asks for a search itself, whatever the policy says.
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

  /// Problems whose turn comes later take what is known.
  void setDeadline(Deadline value) { deadline = value; }

  /// What it goes by; normal and none unless it is set.
  void setFindPolicy(FindPolicy value) { findPolicy = value; }
  /// How it searches; guided and without limits unless it is set.
  void setSearchOptions(const SearchOptions &value) { searchOptions = value; }
  /// What Tarpon came with, and who answers before expected fractions do; null
  /// for none. Both must outlive the tuner.
  void setSystemStore(const Journal *value) { system = value; }
  void setRanker(const SolutionRanker *value) { ranker = value; }

  /// Does what the table of FindPolicy.h says, then gives the fastest right
  /// solution. A candidate that is wrong, crashes or hangs is recorded and
  /// never returned. An error means that nothing can be measured at all: no
  /// evaluator, no journal, no disk; or that no candidate can be compiled for a
  /// target that has no reference solver.
  runtime::Result<Solution> find(const Problem &problem,
                                 const FindRequest &request = {});

  /// The same where the caller asks for tuning.
  runtime::Result<Solution> tune(const Problem &problem) {
    return find(problem, {true, {}});
  }

  /// The best that the stores know, else a guess. Measures nothing.
  Solution lookUp(const Problem &problem,
                  const SolutionLimits &limits = {}) const;

  /// The best solution of each solver, those that were measured before guesses:
  /// except that a guess goes before what an unfinished search or one under
  /// other limits has left, if that never came to the guess. Not empty.
  std::vector<Solution> list(const Problem &problem,
                             const SolutionLimits &limits = {}) const;

  /// One that may run in this process, or decide what is right: the best that
  /// the journal knows to be right, else the reference. A large problem that
  /// the journal does not know has its default verified first, whatever the
  /// deadline, since the reference would take even longer.
  Solution getTrusted(const Problem &problem);

  const SearchStatistics &getStatistics() const { return statistics; }

private:
  SearchContext makeContext(Measurer &measurer, Deadline until);
  KnownRecords getKnown(const Problem &problem) const;
  std::vector<Solution> guess(const Problem &problem,
                              const SolutionLimits &limits) const;
  KnownRecord classify(const Problem &problem,
                       const FindRequest &request) const;
  runtime::Status act(FindAction action, const Problem &problem,
                      const SolutionLimits &limits);
  runtime::Status search(const Problem &problem, SearchScope scope);
  runtime::Status searchAgain(const Problem &problem, SearchScope scope);
  runtime::Status verify(const Problem &problem, const SolutionLimits &limits);

  KernelCompiler &compiler;
  Journal &journal;
  Progress &progress;
  /// Null if `measurers` is the caller's.
  std::unique_ptr<MeasurerFactory> ownMeasurers;
  MeasurerFactory &measurers;
  std::unique_ptr<RelatedProblems> related;
  /// The kernels that candidates were made of.
  std::set<std::string> compiled;
  Deadline deadline = Deadline::never();
  FindPolicy findPolicy;
  SearchOptions searchOptions;
  const Journal *system = nullptr;
  const SolutionRanker *ranker = nullptr;
  SearchStatistics statistics;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_TUNER_H
