//===- Search.h - Finds the fastest solution of a problem -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates of one problem are compiled, then verified against the reference
// solver and timed in the evaluator process, one after the other. Everything
// goes through the journal: what it holds is not measured again, unless the
// tuning policy says so. The numbers that this goes by are in Policy.h, what is
// done when in FindPolicy.h.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SEARCH_H
#define TARPON_AUTOTUNE_SEARCH_SEARCH_H

#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/FindPolicy.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Search/SearchOptions.h"
#include "tarpon/Autotune/Search/Solution.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Evaluator.h"
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
class TempDirectory;
struct SearchContext;
struct SearchScope;

/// What a search has done so far.
struct SearchStatistics {
  int64_t measured = 0, reused = 0, rejected = 0, problems = 0;
  /// Of those that were measured: after a few samples, which were too slow.
  int64_t dropped = 0;
};

/// $TARPON_EVALUATOR, else tarpon-evaluator beside this program.
std::string findEvaluatorProgram();

struct FindRequest {
  /// Whether the caller asks for a search itself, whatever the policy says.
  bool tuning = false;
  SolutionLimits limits;
};

class Tuner {
public:
  /// All must outlive the tuner. The evaluator is started when it is needed.
  Tuner(KernelCompiler &compiler, Journal &journal, Progress &progress,
        std::string evaluatorProgram = findEvaluatorProgram());
  ~Tuner();

  /// Problems whose turn comes later take what is known.
  void setDeadline(Deadline value) { deadline = value; }

  /// What it goes by; normal and none unless it is set.
  void setFindPolicy(FindPolicy value) { findPolicy = value; }
  /// How it searches; guided and without limits unless it is set.
  void setSearchOptions(const SearchOptions &value) { searchOptions = value; }
  /// Nothing can be run here: candidates are compiled and ranked by the model
  /// of the compiler's backend, and the journal is that of the model.
  void setModelled(bool value) { isModelled = value; }
  /// What Tarpon came with, and who answers before expected fractions do; null
  /// for none. Both must outlive the tuner.
  void setSystemStore(const Journal *value) { system = value; }
  void setRanker(const SolutionRanker *value) { ranker = value; }

  /// Does what the table of FindPolicy.h says, then gives the fastest right
  /// solution. A candidate that is wrong, crashes or hangs is recorded and
  /// never returned. An error means that nothing can be measured at all: no
  /// evaluator, no journal, no disk; or, where candidates are modelled, that
  /// none of them can be compiled.
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
  runtime::Status openDirectory();
  SearchContext makeContext(Deadline until);
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
  runtime::EvaluatorProcess evaluator;
  std::unique_ptr<TempDirectory> directory;
  std::unique_ptr<RelatedProblems> related;
  /// The kernels that candidates were made of.
  std::set<std::string> compiled;
  Deadline deadline = Deadline::never();
  FindPolicy findPolicy;
  SearchOptions searchOptions;
  const Journal *system = nullptr;
  const SolutionRanker *ranker = nullptr;
  bool isModelled = false;
  SearchStatistics statistics;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SEARCH_H
