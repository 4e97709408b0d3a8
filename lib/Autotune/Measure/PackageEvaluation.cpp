//===- PackageEvaluation.cpp - Runs and judges packages -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/PackageEvaluation.h"

#include "Measure/EvaluationStatus.h"

using namespace tarpon;
using runtime::EvaluationAnswer;
using runtime::Result;

/// The evaluation may include the reference.
std::chrono::milliseconds PackageEvaluation::getTimeLimit() const {
  double seconds = conditions.baseSeconds +
                   problem.flops() / conditions.referenceFlopsPerSecond;
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void PackageEvaluation::judge(const EvaluationAnswer &answer,
                              MeasureOutcome &outcome) const {
  outcome.status = toStatus(answer.outcome);
  outcome.detail = answer.error;
  if (outcome.status != MeasurementStatus::Ok)
    return;
  outcome.timing = runtime::summarize(answer.samplesMs);
  outcome.timing.isDropped = answer.isDropped;
  if (static_cast<int64_t>(answer.outputs.size()) != problem.numResults()) {
    outcome.status = MeasurementStatus::Failed;
    outcome.detail = "the evaluator did not compare the results";
    return;
  }
  outcome.maxError = answer.comparison->maxAbsError;
  outcome.relativeL2 = answer.comparison->relativeL2;
  auto describe = [](const std::string &error) { return "error " + error; };
  if (auto wrong = findWrongResult(problem, answer.outputs, conditions.slack,
                                   describe, conditions.rounding)) {
    outcome.status = MeasurementStatus::Wrong;
    outcome.detail = *wrong;
  }
}

Result<MeasureOutcome> PackageEvaluation::run(const std::string &package,
                                              const std::string &reference,
                                              const Effort &effort) {
  runtime::EvaluationRequest request;
  request.package = package;
  request.reference = reference;
  request.threads = static_cast<int>(conditions.threads);
  request.minSamples = effort.minSamples;
  request.minTimeMs = effort.minMs;
  request.maxTimeMs = effort.maxMs;
  request.rotateBytes = conditions.rotateBytes;
  request.coldConstantBytes = conditions.coldConstantBytes;
  request.cutoffMs = effort.cutoffMs;
  Result<EvaluationAnswer> answer = evaluator.evaluate(request, getTimeLimit());
  if (!answer)
    return answer.error();
  MeasureOutcome outcome;
  judge(*answer, outcome);
  return outcome;
}
