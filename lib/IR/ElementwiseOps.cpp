//===- ElementwiseOps.cpp - Unary and binary ops ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The classes Tarpon_UnaryOp and Tarpon_BinaryOp in TableGen call the shared
// inference here; the ops differ only in the function of an element.
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "tarpon/IR/TarponOps.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static LogicalResult checkElements(const Reporter &report, Type elementType) {
  if (!isa<FloatType, IntegerType>(elementType))
    return report("expects float or integer elements, got ", elementType);
  return success();
}

LogicalResult tarpon::detail::inferUnary(const Reporter &report,
                                         ValueRange operands, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  // C1
  RankedTensorType input = getTensorType(operands.front());
  if (failed(checkElements(report, input.getElementType())))
    return failure();
  types.push_back(input);
  return success();
}

LogicalResult tarpon::detail::inferReal(const Reporter &report,
                                        ValueRange operands, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  // C1
  RankedTensorType input = getTensorType(operands.front());
  if (!isa<FloatType>(input.getElementType()))
    return report("expects float elements, got ", input.getElementType());
  types.push_back(input);
  return success();
}

bool tarpon::detail::isParameter(RankedTensorType operand, int64_t resultRank) {
  int64_t offset = resultRank - operand.getRank();
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    if (operand.getDimSize(dim) != 1 && dim + offset != 1)
      return false;
  return true;
}

/// The encoding of the result; fails if the operands disagree.
static FailureOr<Attribute> inferEncoding(const Reporter &report,
                                          RankedTensorType lhs,
                                          RankedTensorType rhs,
                                          ArrayRef<int64_t> shape) {
  int64_t rank = shape.size();
  auto isData = [&](RankedTensorType type) {
    return type.getRank() == rank && !isParameter(type, rank);
  };
  // C3
  if (isData(lhs) && isData(rhs) && lhs.getEncoding() != rhs.getEncoding())
    return report("expects operands of the same layout, got ", lhs, " and ",
                  rhs);
  if (isData(lhs) || (!isData(rhs) && lhs.getShape() == shape))
    return lhs.getEncoding();
  if (isData(rhs) || rhs.getShape() == shape)
    return rhs.getEncoding();
  return Attribute();
}

LogicalResult tarpon::detail::inferBinary(const Reporter &report,
                                          ValueRange operands, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  RankedTensorType lhs = getTensorType(operands[0]);
  RankedTensorType rhs = getTensorType(operands[1]);
  // C1
  std::optional<SmallVector<int64_t>> shape =
      broadcastShapes(lhs.getShape(), rhs.getShape());
  if (!shape)
    return report("expects shapes that broadcast, got ", lhs, " and ", rhs);
  // C2
  if (lhs.getElementType() != rhs.getElementType())
    return report("expects operands of the same element type, got ",
                  lhs.getElementType(), " and ", rhs.getElementType());
  // C3
  FailureOr<Attribute> encoding = inferEncoding(report, lhs, rhs, *shape);
  if (failed(encoding))
    return failure();
  // C4
  if (failed(checkElements(report, lhs.getElementType())))
    return failure();

  types.push_back(
      RankedTensorType::get(*shape, lhs.getElementType(), *encoding));
  return success();
}

LogicalResult tarpon::detail::inferRealBinary(const Reporter &report,
                                              ValueRange operands,
                                              Types &types) {
  // C1, C2, C3
  if (failed(inferBinary(report, operands, types)))
    return failure();
  // C4
  Type elementType = getTensorType(operands.front()).getElementType();
  if (!isa<FloatType>(elementType))
    return report("expects float elements, got ", elementType);
  return success();
}

LogicalResult tarpon::detail::inferIntegerBinary(const Reporter &report,
                                                 ValueRange operands,
                                                 Types &types) {
  // C1, C2, C3
  if (failed(inferBinary(report, operands, types)))
    return failure();
  // C4
  Type elementType = getTensorType(operands.front()).getElementType();
  if (!isa<IntegerType>(elementType))
    return report("expects integer elements, got ", elementType);
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar semantics
//===----------------------------------------------------------------------===//

static double clamp(double x, double low, double high) {
  // This order of the operands lets a NaN through.
  double raised = x < low ? low : x;
  return raised > high ? high : raised;
}

double ReluOp::compute(double x) { return x < 0 ? 0 : x; }

double ClipOp::compute(double x) {
  return clamp(x, getLow().convertToDouble(), getHigh().convertToDouble());
}

double LeakyReluOp::compute(double x) {
  return x < 0 ? getAlpha().convertToFloat() * x : x;
}

double SigmoidOp::compute(double x) { return 1 / (1 + std::exp(-x)); }

double HardSigmoidOp::compute(double x) {
  double line = getAlpha().convertToFloat() * x;
  return clamp(line + getBeta().convertToFloat(), 0, 1);
}

double HardSwishOp::compute(double x) { return x * clamp(x / 6 + 0.5, 0, 1); }

double AddOp::compute(double lhs, double rhs) { return lhs + rhs; }
double SubOp::compute(double lhs, double rhs) { return lhs - rhs; }
double MulOp::compute(double lhs, double rhs) { return lhs * rhs; }
double DivOp::compute(double lhs, double rhs) { return lhs / rhs; }
double MinOp::compute(double lhs, double rhs) {
  return std::isnan(lhs) || lhs < rhs ? lhs : rhs;
}
double MaxOp::compute(double lhs, double rhs) {
  return std::isnan(lhs) || lhs > rhs ? lhs : rhs;
}
double PReluOp::compute(double lhs, double rhs) {
  return lhs < 0 ? rhs * lhs : lhs;
}
double PowOp::compute(double lhs, double rhs) { return std::pow(lhs, rhs); }
double FmodOp::compute(double lhs, double rhs) { return std::fmod(lhs, rhs); }
double EqualOp::compute(double lhs, double rhs) { return lhs == rhs; }
double LessOp::compute(double lhs, double rhs) { return lhs < rhs; }

// The operations on bits have no floats as operands.
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
double BitAndOp::compute(double, double) { return kNaN; }
double BitOrOp::compute(double, double) { return kNaN; }
double BitXorOp::compute(double, double) { return kNaN; }
double ShiftLeftOp::compute(double, double) { return kNaN; }
double ShiftRightOp::compute(double, double) { return kNaN; }

// Integers wrap, like those of the kernels.

std::optional<int64_t> AddOp::computeInteger(int64_t lhs, int64_t rhs) {
  return static_cast<int64_t>(static_cast<uint64_t>(lhs) +
                              static_cast<uint64_t>(rhs));
}

std::optional<int64_t> SubOp::computeInteger(int64_t lhs, int64_t rhs) {
  return static_cast<int64_t>(static_cast<uint64_t>(lhs) -
                              static_cast<uint64_t>(rhs));
}

std::optional<int64_t> MulOp::computeInteger(int64_t lhs, int64_t rhs) {
  return static_cast<int64_t>(static_cast<uint64_t>(lhs) *
                              static_cast<uint64_t>(rhs));
}

std::optional<int64_t> DivOp::computeInteger(int64_t lhs, int64_t rhs) {
  if (rhs == 0 || (lhs == std::numeric_limits<int64_t>::min() && rhs == -1))
    return std::nullopt;
  return lhs / rhs;
}

// The sign of integers is unknown here: there is a result only if it makes no
// difference.

static bool haveSameSign(int64_t lhs, int64_t rhs) {
  return (lhs < 0) == (rhs < 0);
}

std::optional<int64_t> MinOp::computeInteger(int64_t lhs, int64_t rhs) {
  if (!haveSameSign(lhs, rhs))
    return std::nullopt;
  return std::min(lhs, rhs);
}

std::optional<int64_t> MaxOp::computeInteger(int64_t lhs, int64_t rhs) {
  if (!haveSameSign(lhs, rhs))
    return std::nullopt;
  return std::max(lhs, rhs);
}

std::optional<int64_t> PReluOp::computeInteger(int64_t lhs, int64_t) {
  if (lhs < 0)
    return std::nullopt;
  return lhs;
}

std::optional<int64_t> PowOp::computeInteger(int64_t, int64_t) {
  return std::nullopt;
}

std::optional<int64_t> FmodOp::computeInteger(int64_t, int64_t) {
  return std::nullopt;
}

std::optional<int64_t> EqualOp::computeInteger(int64_t lhs, int64_t rhs) {
  return lhs == rhs;
}

std::optional<int64_t> LessOp::computeInteger(int64_t lhs, int64_t rhs) {
  if (!haveSameSign(lhs, rhs))
    return std::nullopt;
  return lhs < rhs;
}

std::optional<int64_t> BitAndOp::computeInteger(int64_t lhs, int64_t rhs) {
  return lhs & rhs;
}

std::optional<int64_t> BitOrOp::computeInteger(int64_t lhs, int64_t rhs) {
  return lhs | rhs;
}

std::optional<int64_t> BitXorOp::computeInteger(int64_t lhs, int64_t rhs) {
  return lhs ^ rhs;
}

std::optional<int64_t> ShiftLeftOp::computeInteger(int64_t lhs, int64_t rhs) {
  if (rhs < 0 || rhs > 63)
    return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(lhs) << rhs);
}

std::optional<int64_t> ShiftRightOp::computeInteger(int64_t lhs, int64_t rhs) {
  if (lhs < 0)
    return std::nullopt;
  return rhs < 0 || rhs > 63 ? 0 : lhs >> rhs;
}
