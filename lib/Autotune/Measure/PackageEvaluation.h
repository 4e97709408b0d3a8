//===- PackageEvaluation.h - Runs and judges packages -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PACKAGEEVALUATION_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PACKAGEEVALUATION_H

#include "Measure/EvaluationConditions.h"
#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Runtime/Evaluator.h"

#include <chrono>
#include <string>

namespace tarpon {

/// Has packages of one problem's candidates run, timed and compared with the
/// reference's package by the evaluator process, and judges the results. It
/// does not matter where the packages come from.
class PackageEvaluation {
public:
  /// `evaluator` must outlive the object.
  PackageEvaluation(const Problem &problem,
                    runtime::EvaluatorProcess &evaluator,
                    const EvaluationConditions &conditions)
      : problem(problem), evaluator(evaluator), conditions(conditions) {}

  /// Both packages are files. See Measurer::measure.
  runtime::Result<MeasureOutcome> run(const std::string &package,
                                      const std::string &reference,
                                      const Effort &effort);

private:
  std::chrono::milliseconds getTimeLimit() const;
  void judge(const runtime::EvaluationAnswer &answer,
             MeasureOutcome &outcome) const;

  Problem problem;
  runtime::EvaluatorProcess &evaluator;
  EvaluationConditions conditions;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PACKAGEEVALUATION_H
