//===- Race.h - Finds the fastest candidate of a problem --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of measuring candidates, which all measurers share:
// - Every candidate is verified whenever it is timed. One that is wrong,
//   crashes or hangs is recorded, named in a remark, and never wins.
// - In the race each candidate is measured briefly, and dropped as soon as it
//   cannot reach the final. The best ones are finalists: they are timed in
//   turn, in rounds, so that a drift of the machine affects all alike.
// - A final that an earlier run has finished stays decided until another
//   candidate is raced; one that was cut short continues where it ended.
// - The journal is told before a candidate is measured. A candidate during
//   which several runs died is left out.
// - The deadline is checked before each measurement.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_RACE_H
#define TARPON_LIB_AUTOTUNE_SEARCH_RACE_H

#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Search/SearchStatistics.h"

#include <string>
#include <vector>

namespace tarpon {

/// The context of a race. All references must outlive the race.
struct RaceContext {
  Measurer &measurer;
  Journal &journal;
  Progress &progress;
  SearchStatistics &statistics;
  Deadline deadline;
};

/// Chooses the contenders that are timed in a final, the fastest first: once,
/// and again if others were raced since (`hasRaced`). None if the final is
/// decided, or if a single one has won already.
std::vector<size_t> chooseFinalists(llvm::ArrayRef<Contender> contenders,
                                    bool hasRaced);

class Race {
public:
  /// `problem` is its key.
  Race(RaceContext context, std::string problem);

  /// The contenders. None may be added or removed after one was measured.
  std::vector<Contender> &getContenders() { return contenders; }
  const std::vector<Contender> &getContenders() const { return contenders; }

  /// Compiles the contenders with these indices, which are measured next.
  runtime::Status build(llvm::ArrayRef<size_t> batch);

  /// Measures a contender for the first time, whatever the deadline. An error
  /// means that nothing can be measured at all.
  runtime::Status measure(size_t index);

  /// Times the candidates that may be the fastest, until the deadline.
  runtime::Status runFinal();
  /// Times these contenders in turn, in the rounds of a final that they lack.
  runtime::Status timeInTurn(llvm::ArrayRef<size_t> finalists);

  /// Ends the race; must be called even if a measurement has failed. Reports
  /// the rejected candidates of this run, and withdraws verdicts that cannot be
  /// trusted.
  runtime::Status finish();

  /// Returns true if the deadline has passed, and remembers it.
  bool isOver();
  bool wasCut() const { return isCut; }

private:
  double getCutoff() const;
  runtime::Status measure(Contender &contender, const Effort &effort);
  runtime::Status measureBuilt(Contender &contender, const Effort &effort,
                               Measurement measurement);
  runtime::Status conclude(Contender &contender, Measurement measurement);
  runtime::Status forgetDisputed();
  void reportRejected();

  RaceContext context;
  std::string problem;
  std::vector<Contender> contenders;
  /// The measurements of this run that were wrong, crashed or hung.
  std::vector<Measurement> rejected;
  bool isCut = false, hasRaced = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_RACE_H
