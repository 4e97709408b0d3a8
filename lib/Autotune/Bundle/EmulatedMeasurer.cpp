//===- EmulatedMeasurer.cpp - Verifies bundles on an emulated GPU ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/EmulatedMeasurer.h"

using namespace tarpon;
using runtime::Result;

Result<MeasureOutcome> EmulatedMeasurer::measure(const Contender &contender,
                                                 const Effort &effort) {
  Result<MeasureOutcome> outcome = evaluation.run(
      packages.getPath(contender.key), packages.getReferencePath(), effort);
  packages.remove(contender.key);
  // A candidate that failed has no time.
  if (!outcome || outcome->status != MeasurementStatus::Ok)
    return outcome;
  outcome->timing.medianMs = packages.find(contender.key).modelMs;
  if (outcome->timing.medianMs <= 0) {
    outcome->status = MeasurementStatus::Failed;
    outcome->detail = "the bundle has no time of it";
  }
  return outcome;
}
