//===- TypicalRatios.h - Ratios of times by kind of problem -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Guessed times of problems of one kind (an operation, the dtype that it reads
// and the one that it writes) are off by about one factor, and so are times
// alone from those within a model.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_TYPICALRATIOS_H
#define TARPON_LIB_AUTOTUNE_TUNING_TYPICALRATIOS_H

#include "tarpon/Problem/Problem.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// Returns a problem's kind, such as "conv u8q f32".
std::string getKind(const Problem &problem);

struct TypicalRatio {
  double ratio = 1;
  /// How far ratios are from it, as a share of it: their mean absolute
  /// deviation, each with its time as weight, and what was assumed before.
  double deviation = 0;
};

class TypicalRatios {
public:
  /// `priorDeviation` is what a ratio deviates where none is known. It counts
  /// as one ratio among those that are.
  explicit TypicalRatios(double priorDeviation)
      : priorDeviation(priorDeviation) {}

  /// Adds a ratio of two times, which are of something that takes time.
  void add(const std::string &kind, double numerator, double denominator);

  /// Returns what is typical of the kind, else of all kinds, else 1. Half of
  /// the time is in problems whose ratio is larger: a single problem that is
  /// off says nothing about others.
  TypicalRatio find(const std::string &kind) const;

private:
  /// Ratios with the times that they are of.
  using Weighted = std::vector<std::pair<double, double>>;

  TypicalRatio summarize(Weighted list) const;

  double priorDeviation;
  std::map<std::string, Weighted> ratios;
  mutable std::map<std::string, TypicalRatio> summaries;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_TYPICALRATIOS_H
