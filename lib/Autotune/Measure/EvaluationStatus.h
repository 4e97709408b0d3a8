//===- EvaluationStatus.h - The status of an evaluation ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_EVALUATIONSTATUS_H
#define TARPON_LIB_AUTOTUNE_MEASURE_EVALUATIONSTATUS_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Evaluator.h"

namespace tarpon {

/// The status of an evaluation whose results have not been judged yet.
inline MeasurementStatus toStatus(runtime::EvaluationOutcome outcome) {
  switch (outcome) {
  case runtime::EvaluationOutcome::Ok:
    return MeasurementStatus::Ok;
  case runtime::EvaluationOutcome::Crashed:
    return MeasurementStatus::Crashed;
  case runtime::EvaluationOutcome::TimedOut:
    return MeasurementStatus::TimedOut;
  case runtime::EvaluationOutcome::Failed:
    return MeasurementStatus::Failed;
  }
  return MeasurementStatus::Failed;
}

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_EVALUATIONSTATUS_H
