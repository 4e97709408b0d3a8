//===- ModelMeasurer.cpp - Asks a model of the target ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ModelMeasurer.h"

using namespace tarpon;
using runtime::Result;

CompilingMeasurer::Built ModelMeasurer::compile(const Contender &contender) {
  Built built;
  Result<SolutionEstimate> estimate =
      compiler.estimate(problem, *contender.solver, contender.config);
  if (estimate)
    built.milliseconds = estimate->milliseconds;
  else
    built.error = estimate.message();
  return built;
}

Result<MeasureOutcome> ModelMeasurer::measure(const Contender &contender,
                                              const Effort &) {
  MeasureOutcome outcome;
  outcome.status = MeasurementStatus::Ok;
  outcome.timing.medianMs = builtCandidates[contender.key].milliseconds;
  return outcome;
}
