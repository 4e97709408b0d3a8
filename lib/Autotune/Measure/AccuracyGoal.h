//===- AccuracyGoal.h - How much a metric may drop --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_ACCURACYGOAL_H
#define TARPON_LIB_AUTOTUNE_MEASURE_ACCURACYGOAL_H

#include "Choice/ModelCompiler.h"
#include "Measure/OutputMetric.h"
#include "tarpon/Autotune/Choice/Calibration.h"

#include <memory>

namespace tarpon {

/// A metric on inputs, and how much less than in fp32 it may be.
struct AccuracyGoal {
  std::unique_ptr<OutputMetric> metric;
  /// All samples, which may be more than calibration takes.
  CalibrationInputs inputs;
  double maxDrop = 0;

  /// Shares of samples are rounded, as is their difference.
  bool isReached(double reference, double value) const {
    constexpr double kRounding = 1e-9;
    return reference - value <= maxDrop + kRounding;
  }
};

/// Makes the goal of a file of labels (TopOne.h) or of a command
/// (MetricCommand.h), one of which is "". `folder` has the samples, "" is an
/// error.
runtime::Result<AccuracyGoal> makeAccuracyGoal(const std::string &labels,
                                               const std::string &command,
                                               double maxDrop,
                                               const std::string &folder,
                                               ModelCompiler &model);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_ACCURACYGOAL_H
