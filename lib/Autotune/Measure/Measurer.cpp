//===- Measurer.cpp - Measures the candidates of a problem ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Measure/Measurer.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

using namespace tarpon;
using runtime::Status;

Measurer::~Measurer() = default;

Status Measurer::prepare(llvm::ArrayRef<Contender>) {
  return runtime::success();
}

size_t Measurer::getMaxProposals() const {
  return policy::kMaxParallelProposals;
}

size_t Measurer::getBatchSize() const { return policy::kMaxBatch; }

void Measurer::buildBatch(llvm::ArrayRef<const Contender *>, const Deadline &) {
}

Status Measurer::build(const Contender &) { return runtime::success(); }

std::optional<MeasurementStatus> Measurer::getInterruptedStatus() const {
  return std::nullopt;
}

bool Measurer::isNoisy() const { return true; }

std::optional<std::string> Measurer::describeDispute() const {
  return std::nullopt;
}

static std::string printNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::optional<std::string> tarpon::findWrongResult(
    const Problem &problem, llvm::ArrayRef<runtime::TensorComparison> results,
    double slack, llvm::function_ref<std::string(const std::string &)> describe,
    double rounding) {
  for (auto [index, result] : llvm::enumerate(results)) {
    double allowed =
        slack * getTolerance(problem, result.referenceScale,
                             static_cast<int64_t>(index), rounding);
    // The comparison is written such that a NaN counts as wrong.
    if (result.maxAbsError <= allowed)
      continue;
    return describe(printNumber(result.maxAbsError)) + " where " +
           printNumber(allowed) + " is allowed and results go up to " +
           printNumber(result.referenceScale);
  }
  return std::nullopt;
}
