//===- GpuOutput.cpp - Results of GPU kernels -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOutput.h"

#include "ByteNumbers.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Saturation
//===----------------------------------------------------------------------===//

namespace {
struct Limits {
  double low, high;
};
} // namespace

/// The limits that a step has its operand within; none for other steps.
static std::optional<Limits> getLimits(const EpilogueStep &step) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (step.op == OpKind::Relu)
    return Limits{0, kNone};
  if (step.op == OpKind::Clip)
    return Limits{step.attrs.at("low").front(), step.attrs.at("high").front()};
  return std::nullopt;
}

Problem tarpon::dropSaturatedSteps(Problem problem) {
  const TensorDesc &result = problem.result;
  if (!result.quantized || runtime::dtypeBytes(result.dtype) != 1)
    return problem;
  bool isSigned = result.dtype == DType::I8;
  // Numbers that round to the first or the last byte are as good as those.
  constexpr double kRounded = 0.499;
  double first = (isSigned ? -128 : 0) + kRounded;
  double last = (isSigned ? 127 : 255) - kRounded;
  auto toByte = [&](double value) {
    return value / result.scales.front() +
           static_cast<double>(result.zeroPoint);
  };
  while (!problem.epilogue.empty()) {
    std::optional<Limits> limits = getLimits(problem.epilogue.back());
    if (!limits || toByte(limits->low) > first || toByte(limits->high) < last)
      break;
    problem.epilogue.pop_back();
  }
  return problem;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

GpuTensorStore::GpuTensorStore(KernelBuilder &b, const BoundFlatTensor &tensor)
    : tensor(tensor) {
  if (tensor.quantized)
    inverse = b.divF(b.cstF(1), tensor.scale);
}

/// Returns value / scale, rounded to an integer as the division's exact result
/// would be: models that quantise by themselves have many values half way
/// between two integers. A quotient of the reciprocal is an ulp off at most,
/// and its remainder corrects it (P. Markstein, "Computation of elementary
/// functions on the IBM RISC System/6000 processor", 1990). Quotients that no
/// byte has are beyond all bytes.
static Value emitRoundedQuotient(KernelBuilder &b, Value value, Value scale,
                                 Value inverse) {
  Type type = value.getType();
  auto splat = [&](Value scalar) {
    return vector::BroadcastOp::create(b, type, scalar);
  };
  // Infinite quotients would have no remainder.
  constexpr double kBeyond = 1024;
  Value quotient = b.mulF(value, splat(inverse));
  quotient = b.minF(b.maxF(quotient, b.cstLike(type, -kBeyond)),
                    b.cstLike(type, kBeyond));
  Value remainder =
      b.fma(arith::NegFOp::create(b, quotient), splat(scale), value);
  quotient = b.fma(remainder, splat(inverse), quotient);
  return math::RoundEvenOp::create(b, quotient);
}

void GpuTensorStore::store(KernelBuilder &b, Value value, Value offset) const {
  if (!tensor.quantized)
    return tensor.store(b, value, offset);
  bool isScalar = !isa<VectorType>(value.getType());
  if (isScalar)
    value = vector::BroadcastOp::create(b, b.vec(value.getType(), 1), value);
  value = emitRoundedQuotient(b, value, tensor.scale, inverse);
  Value bytes =
      emitEncodeBytes(static_cast<GpuKernelBuilder &>(b), value,
                      tensor.dtype == DType::I8, b.cstF(1), tensor.zeroPoint);
  b.store(bytes, tensor.pointerTo(b, offset));
}

void GpuOutput::store(KernelBuilder &b, const VectorPlace &place,
                      Value value) const {
  result.store(b, bound.apply(b, place, value),
               bound.getResult().offsetOf(b, place));
}

void GpuOutput::storeBytes(KernelBuilder &b, const VectorPlace &place,
                           Value bytes) const {
  const BoundFlatTensor &to = bound.getResult();
  b.store(bytes, to.pointerTo(b, to.offsetOf(b, place)));
}
