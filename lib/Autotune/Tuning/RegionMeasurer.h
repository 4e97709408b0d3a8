//===- RegionMeasurer.h - Measures choices of regions -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A RegionTuner asks this of a tuning run. Returned errors are of the machine,
// unless said otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_REGIONMEASURER_H
#define TARPON_LIB_AUTOTUNE_TUNING_REGIONMEASURER_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Result.h"

#include <map>
#include <optional>

namespace tarpon {

/// The mean times of layers, in milliseconds, by their solutions.
using SolutionTimes = std::map<CandidateKey, double>;

/// A whole model, measured.
struct RegionPlan {
  GlobalChoice choice;
  /// 0 if only its error was measured.
  double milliseconds = 0;
  /// Relative L2 distance from fp32.
  double error = 0;
  /// True unless the measurer finds it over the accuracy budget.
  bool isWithinBudget = true;
  /// The times of its layers within it, as far as they are known: caches hold
  /// what the layer before has left there.
  SolutionTimes times = {};

  bool isTimed() const { return milliseconds > 0; }
};

class RegionMeasurer {
public:
  virtual ~RegionMeasurer();

  /// Returns the best solution that is known, or a guess; measures nothing. An
  /// error is the problem's.
  virtual runtime::Result<Solution> solve(const Problem &problem) = 0;
  /// Returns the expected time of a solution.
  virtual ExpectedTime expectTime(const Problem &problem,
                                  const Solution &solution) = 0;
  /// Searches a problem for so long, unless that was done before.
  virtual runtime::Result<Solution> tune(const Problem &problem,
                                         double seconds) = 0;

  /// Measures the error of a choice; none if it cannot be used.
  virtual runtime::Result<std::optional<double>>
  measureError(const GlobalChoice &choice) = 0;
  /// Measures a choice, which may then win; none if it cannot be used. Where
  /// its error is larger than `maxError`, it is not timed, and cannot win.
  virtual runtime::Result<std::optional<RegionPlan>>
  measure(const GlobalChoice &choice, const PredictionRecord &prediction,
          double maxError) = 0;
  /// Notes what the costs at the end of the run let expect of a choice that was
  /// timed.
  virtual void notePrediction(const GlobalChoice &choice,
                              const PredictionRecord &corrected) = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_REGIONMEASURER_H
