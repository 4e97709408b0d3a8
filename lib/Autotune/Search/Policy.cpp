//===- Policy.cpp - The tolerance of results ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Policy.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

static constexpr double kAccumulationFactor = 8;
static constexpr double kFunctionUlps = 16;
static constexpr double kStorageUlps = 2;
static constexpr double kRoundingFactor = 4;

/// The number of multiply-adds per element of a result.
static double getReductionLength(const Problem &problem,
                                 const TensorDesc &result) {
  double elements = static_cast<double>(result.numElements());
  return std::max(1.0, problem.flops() / (2 * std::max(elements, 1.0)));
}

double tarpon::getTolerance(const Problem &problem, double scale, int64_t index,
                            double rounding) {
  const TensorDesc &result = problem.getResult(index);
  if (result.quantized)
    return 1;
  double storage = runtime::dtypeEpsilon(result.dtype);
  if (storage == 0)
    return 0;
  double accumulation = result.dtype == DType::F64 ? 0x1p-52 : 0x1p-23;
  double steps =
      kFunctionUlps +
      kAccumulationFactor * std::sqrt(getReductionLength(problem, result));
  return scale * (accumulation * steps + kStorageUlps * storage +
                  kRoundingFactor * rounding);
}

int64_t tarpon::countConstantBytes(const Problem &problem) {
  int64_t bytes = 0;
  for (const TensorDesc &operand : problem.operands)
    if (operand.constant)
      bytes += operand.numBytes();
  return bytes;
}
