//===- BundleMeasurer.cpp - Measures the candidates of a bundle -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleMeasurer.h"

using namespace tarpon;
using runtime::Result;

/// The packages of finalists are needed again.
Result<MeasureOutcome> BundleMeasurer::measure(const Contender &contender,
                                               const Effort &effort) {
  Result<MeasureOutcome> outcome = evaluation.run(
      packages.getPath(contender.key), packages.getReferencePath(), effort);
  if (effort.stage == MeasurementStage::Race)
    packages.remove(contender.key);
  return outcome;
}
