//===- Search.h - Finds the fastest solution of a problem -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates of one problem are compiled, then verified against the reference
// solver and timed in the evaluator process, one after the other. Everything
// goes through the journal: what it holds is not measured again. The numbers
// that this goes by are in Policy.h.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_H
#define TARPON_AUTOTUNE_SEARCH_H

#include "tarpon/Autotune/Deadline.h"
#include "tarpon/Autotune/Journal.h"
#include "tarpon/Autotune/Progress.h"
#include "tarpon/Kernels/Solver.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Host/KernelCompiler.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

class TempDirectory;

/// What a problem is solved with, and why.
struct Solution {
  const Solver *solver = nullptr;
  PerfConfig config;
  /// "measured" in this run, "user-db" for an earlier run's measurement,
  /// "default" if nothing was measured.
  std::string source;
  /// There is one unless the source is "default".
  std::optional<Measurement> measurement;
};

/// What a search has done so far.
struct SearchStatistics {
  int64_t measured = 0, reused = 0, rejected = 0, problems = 0;
};

/// $TARPON_EVALUATOR, else tarpon-evaluator beside this program.
std::string findEvaluatorProgram();

class Tuner {
public:
  /// All must outlive the tuner. The evaluator is started when it is needed.
  Tuner(KernelCompiler &compiler, Journal &journal, Progress &progress,
        std::string evaluatorProgram = findEvaluatorProgram());
  ~Tuner();

  /// Problems whose turn comes later take what is known.
  void setDeadline(Deadline value) { deadline = value; }

  /// The fastest right solution. A candidate that is wrong, crashes or hangs is
  /// recorded and never returned. An error means that nothing can be measured
  /// at all: no evaluator, no journal, no disk.
  runtime::Result<Solution> tune(const Problem &problem);

  /// The best that the journal knows, else the default of the best applicable
  /// solver. Measures nothing.
  Solution lookUp(const Problem &problem) const;

  /// One that may run in this process, or decide what is right: the best that
  /// the journal knows to be right, else the reference. A large problem that
  /// the journal does not know has its default verified first, whatever the
  /// deadline, since the reference would take even longer.
  Solution getTrusted(const Problem &problem);

  const SearchStatistics &getStatistics() const { return statistics; }

private:
  runtime::Status openDirectory();
  std::optional<Solution>
  findVerified(const Problem &problem,
               const std::vector<Measurement> &known) const;

  KernelCompiler &compiler;
  Journal &journal;
  Progress &progress;
  runtime::EvaluatorProcess evaluator;
  std::unique_ptr<TempDirectory> directory;
  Deadline deadline = Deadline::never();
  SearchStatistics statistics;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_H
