//===- ReduceKind.cpp - The arithmetic of a reduction ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReduceKind.h"

#include "Common/MathFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/ErrorHandling.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

std::optional<ReduceKind> ReduceKind::get(OpKind op) {
  struct Row {
    OpKind op;
    Kind kind;
  };
  constexpr Row kKinds[] = {
      {OpKind::ReduceSum, Sum},       {OpKind::ReduceMean, Mean},
      {OpKind::ReduceMax, Max},       {OpKind::ReduceMin, Min},
      {OpKind::ReduceProd, Prod},     {OpKind::ReduceL1, L1},
      {OpKind::ReduceL2, L2},         {OpKind::ReduceSumSquare, SumSquare},
      {OpKind::ReduceLogSum, LogSum}, {OpKind::ReduceLogSumExp, LogSumExp}};
  const Row *row = findRow(kKinds, op);
  return row ? std::optional(ReduceKind(row->kind)) : std::nullopt;
}

ReduceKind::Values ReduceKind::getNeutral(KernelBuilder &b, Type type) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kind == Max)
    return {b.cstLike(type, -infinity)};
  if (kind == Min)
    return {b.cstLike(type, infinity)};
  if (kind == Prod)
    return {b.cstLike(type, 1)};
  // The value is finite, because the difference of two infinities is NaN.
  if (kind == LogSumExp)
    return {b.cstLike(type, std::numeric_limits<float>::lowest()),
            b.cstLike(type, 0)};
  return {b.cstLike(type, 0)};
}

ReduceKind::Values ReduceKind::step(KernelBuilder &b, Value x,
                                    ValueRange soFar) const {
  Value acc = soFar.front();
  switch (kind) {
  case Sum:
  case Mean:
  case LogSum:
    return {b.addF(acc, x)};
  case Max:
    return {b.maxOrNaN(acc, x)};
  case Min:
    return {b.minOrNaN(acc, x)};
  case Prod:
    return {b.mulF(acc, x)};
  case L1:
    return {b.addF(acc, math::AbsFOp::create(b, x))};
  case L2:
  case SumSquare:
    return {b.fma(x, x, acc)};
  case LogSumExp:
    break;
  }
  Value one = b.cstLike(x.getType(), 1);
  return combine(b, soFar, {x, one});
}

ReduceKind::Values ReduceKind::combine(KernelBuilder &b, ValueRange left,
                                       ValueRange right) const {
  switch (kind) {
  case Max:
    return {b.maxOrNaN(left[0], right[0])};
  case Min:
    return {b.minOrNaN(left[0], right[0])};
  case Prod:
    return {b.mulF(left[0], right[0])};
  case LogSumExp:
    break;
  case Sum:
  case Mean:
  case L1:
  case L2:
  case SumSquare:
  case LogSum:
    return {b.addF(left[0], right[0])};
  }
  // Only the sum of the smaller one of the two largest elements has to be
  // scaled.
  Value difference = b.subF(left[0], right[0]);
  Value distance = math::AbsFOp::create(b, difference);
  Value zero = b.cstLike(difference.getType(), 0);
  Value weight = emitExp(b, b.subF(zero, distance));
  Value leftWins =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, left[0], right[0]);
  Value largest = b.select(leftWins, left[0], right[0]);
  Value ofLargest = b.select(leftWins, left[1], right[1]);
  Value ofOther = b.select(leftWins, right[1], left[1]);
  return {largest, b.fma(ofOther, weight, ofLargest)};
}

ReduceKind::Values ReduceKind::combineLanes(KernelBuilder &b,
                                            ValueRange vectors) const {
  Values current(vectors);
  int64_t lanes = cast<VectorType>(current[0].getType()).getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i) {
      low.push_back(i);
      high.push_back(lanes + i);
    }
    Values lows, highs;
    for (Value vector : current) {
      lows.push_back(b.shuffle(vector, vector, low));
      highs.push_back(b.shuffle(vector, vector, high));
    }
    current = combine(b, lows, highs);
  }
  for (Value &vector : current)
    vector = vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
  return current;
}

Value ReduceKind::finish(KernelBuilder &b, ValueRange values,
                         Value inverseCount) const {
  switch (kind) {
  case Mean:
    return b.mulF(values[0], inverseCount);
  case L2:
    return math::SqrtOp::create(b, values[0]);
  case LogSum:
    return emitLog(b, values[0]);
  case LogSumExp:
    return b.addF(values[0], emitLog(b, values[1]));
  case Sum:
  case Max:
  case Min:
  case Prod:
  case L1:
  case SumSquare:
    return values[0];
  }
  llvm_unreachable("unknown kind of reduction");
}
