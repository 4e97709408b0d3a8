//===- ChoicePlan.h - A complete plan of a model ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_CHOICEPLAN_H
#define TARPON_LIB_AUTOTUNE_TUNING_CHOICEPLAN_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Store/Journal.h"

#include <map>
#include <string>
#include <vector>

namespace tarpon {

/// A global choice with a solution for each layer.
struct ChoicePlan {
  CandidateRecord record;
  PipelineKey key;
  /// The package's file; empty if there is none, or none any more.
  std::string package;
  /// The samples of the whole model, and the rounds of the final that they are
  /// of.
  std::vector<double> samples;
  int64_t rounds = 0;
  /// True if earlier runs have measured the samples.
  bool isRecorded = false;
  /// The times of its layers by the keys of their problems; see
  /// PipelineMeasurement.
  std::map<std::string, double> problemsMs;
  /// True if searches of this run have chosen its solutions.
  bool isTuned = false;
  /// The time that compiling took, but for that of its kernels: other plans of
  /// the choice have kernels that searches have compiled.
  double packingSeconds = 0;

  bool isTimed() const { return record.failure.empty() && record.pipeline; }
  bool isMeasured() const { return isTimed() && record.accuracy; }
  bool isUsable() const {
    return isMeasured() && record.accuracy->withinBudget;
  }
  /// Returns true if the plan can take part in the final.
  bool mayWin() const { return isUsable() && !package.empty(); }
  double getMilliseconds() const { return record.pipeline->median; }
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_CHOICEPLAN_H
