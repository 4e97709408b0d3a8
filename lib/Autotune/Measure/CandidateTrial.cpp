//===- CandidateTrial.cpp - Runs candidates elsewhere first ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/CandidateTrial.h"

#include "tarpon/Autotune/Search/Policy.h"

#include <chrono>

using namespace tarpon;
using runtime::EvaluationAnswer;
using runtime::EvaluationOutcome;
using runtime::Result;
using runtime::Status;

Result<EvaluationAnswer> CandidateTrial::run(const runtime::Package &package,
                                             double flops) {
  if (!directory) {
    Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
    if (!created)
      return created.error();
    directory = std::move(*created);
  }
  runtime::EvaluationRequest request;
  request.package = directory->file("candidate.tpn");
  request.minSamples = 1;
  request.minTimeMs = 0;
  request.maxTimeMs = 0;
  if (Status status = runtime::writePackage(package, request.package); !status)
    return status.error();
  double seconds = policy::kDeviceBaseTimeLimitSeconds +
                   flops / policy::kDeviceReferenceFlopsPerSecond;
  return evaluator.evaluate(
      request, std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)));
}

bool CandidateTrial::isUsable(
    llvm::function_ref<runtime::Package()> makePackage, double flops) {
  if (!usable) {
    Result<EvaluationAnswer> answer = run(makePackage(), flops);
    usable = answer && answer->outcome == EvaluationOutcome::Ok;
  }
  return *usable;
}

std::optional<EvaluationAnswer>
CandidateTrial::findFault(const runtime::Package &package, double flops) {
  Result<EvaluationAnswer> answer = run(package, flops);
  if (!answer)
    return std::nullopt;
  switch (answer->outcome) {
  case EvaluationOutcome::Crashed:
  case EvaluationOutcome::TimedOut:
    return std::move(*answer);
  case EvaluationOutcome::Ok:
  case EvaluationOutcome::Failed:
    return std::nullopt;
  }
  return std::nullopt;
}
