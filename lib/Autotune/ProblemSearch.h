//===- ProblemSearch.h - The search over one problem ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_PROBLEMSEARCH_H
#define TARPON_LIB_AUTOTUNE_PROBLEMSEARCH_H

#include "TempDirectory.h"
#include "tarpon/Autotune/Search.h"

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
};

class ProblemSearch {
public:
  ProblemSearch(SearchContext context, const Problem &problem);
  /// Removes the packages it has written.
  ~ProblemSearch();

  /// Measures what the journal lacks, until the deadline.
  runtime::Status run();

  /// Measures the best guesses until one is right, or a few were not.
  runtime::Status verifyDefault();

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

    bool isOk() const {
      return result && result->status == MeasurementStatus::Ok;
    }
  };
  /// How long to measure.
  struct Effort {
    MeasurementStage stage;
    int minSamples;
    double minMs, maxMs;
  };
  static const Effort kRaceEffort;

  void collectCandidates();
  void recallResults();
  void build(Candidate &candidate);
  void buildAll(llvm::ArrayRef<Candidate *> list);
  void removePackages();
  size_t getBatchSize() const;
  runtime::Status buildReference();
  runtime::Status race();
  runtime::Status runFinal();
  std::vector<Candidate *> pickFinalists();
  runtime::Status measure(Candidate &candidate, const Effort &effort);
  runtime::Status conclude(Candidate &candidate, Measurement measurement);
  void judge(const runtime::EvaluationAnswer &answer,
             const Candidate &candidate, Measurement &measurement) const;
  void reportRejected();
  std::chrono::milliseconds getTimeLimit() const;

  SearchContext context;
  Problem problem, testProblem;
  std::string problemKey;
  std::vector<Candidate> candidates;
  /// Those of this run that may not win.
  std::vector<Measurement> rejected;
  std::string reference;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_PROBLEMSEARCH_H
