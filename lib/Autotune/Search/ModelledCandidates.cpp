//===- ModelledCandidates.cpp - Candidates that nobody can run here -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemSearch.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

void ProblemSearch::model(Candidate &candidate) {
  if (candidate.modelledMs)
    return;
  Result<SolutionEstimate> estimate = context.compiler.estimate(
      testProblem, *candidate.solver, candidate.config);
  if (estimate)
    candidate.modelledMs = estimate->milliseconds;
  else
    candidate.buildError = estimate.message();
}

/// There is nothing to verify: what the kernel computes is for the tests of its
/// solver to say.
Status ProblemSearch::concludeModelled(Candidate &candidate,
                                       Measurement measurement) {
  measurement.isModelled = true;
  measurement.detail = candidate.buildError;
  if (candidate.modelledMs) {
    measurement.status = MeasurementStatus::Ok;
    measurement.median = *candidate.modelledMs;
  }
  return conclude(candidate, std::move(measurement));
}
