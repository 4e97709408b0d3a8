//===- Race.h - Which candidate of a problem is the fastest -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which candidates are measured, whoever measures them:
// - Every candidate is verified whenever it is timed. One that is wrong,
// crashes
//   or hangs is recorded, named in a remark, and never wins.
// - In the race each candidate is measured briefly, and dropped as soon as it
//   cannot come into the final. The best of them are finalists: they are timed
//   in turn, in rounds, so that a drift of the machine meets all alike.
// - A final that an earlier run has finished stays decided until another
//   candidate is raced; one that was cut short goes on where it ended.
// - The journal is told before a candidate is measured. One during which
// several
//   runs ended is left out.
// - The deadline is looked at before each measurement.
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

/// All must outlive the race.
struct RaceContext {
  Measurer &measurer;
  Journal &journal;
  Progress &progress;
  SearchStatistics &statistics;
  Deadline deadline;
};

class Race {
public:
  /// `problem` is its key.
  Race(RaceContext context, std::string problem);

  /// None may be added or removed once one was measured.
  std::vector<Contender> &getContenders() { return contenders; }
  const std::vector<Contender> &getContenders() const { return contenders; }

  /// Compiles the contenders of these indices, to be measured next.
  runtime::Status build(llvm::ArrayRef<size_t> batch);

  /// Measures a contender for the first time, whatever the deadline. An error
  /// means that nothing can be measured at all.
  runtime::Status measure(size_t index);

  /// Times those that may be the fastest, until the deadline.
  runtime::Status runFinal();

  /// To be called at the end, also if a measurement has failed: reports what
  /// was rejected in this run, and withdraws verdicts that nobody can trust.
  runtime::Status finish();

  /// Whether the deadline has passed, which then stays on record.
  bool isOver();
  bool wasCut() const { return isCut; }

private:
  double getCutoff() const;
  runtime::Status measure(Contender &contender, const Effort &effort);
  runtime::Status measureBuilt(Contender &contender, const Effort &effort,
                               Measurement measurement);
  runtime::Status conclude(Contender &contender, Measurement measurement);
  std::vector<Contender *> getFinalists();
  std::vector<Contender *> pickFinalists();
  runtime::Status forgetDisputed();
  void reportRejected();

  RaceContext context;
  std::string problem;
  std::vector<Contender> contenders;
  /// Measurements of this run that went wrong.
  std::vector<Measurement> rejected;
  bool isCut = false, hasRaced = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_RACE_H
