//===- RowNorm.cpp - Statistics of consecutive elements -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowNorm.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

/// The elements of a chunk: 16 KiB of f32.
static constexpr int64_t kChunk = 4096;

/// The moments of one chunk, in two passes.
static Moments emitChunk(KernelBuilder &b, const BoundFlatTensor &in,
                         Value begin, Value end, Value count) {
  int64_t lanes = b.lanes();
  Value sum = emitSum(b, begin, end,
                      [&](Value i, Value) { return in.load(b, i, lanes); });
  Value mean = b.divF(sum, count);
  Value means = b.broadcast(mean, lanes);
  Value squares = emitSum(b, begin, end, [&](Value i, Value) {
    Value centred = b.subF(in.load(b, i, lanes), means);
    return b.mulF(centred, centred);
  });
  return {mean, squares};
}

Moments tarpon::emitRowMoments(KernelBuilder &b, const BoundFlatTensor &in,
                               Value start, Value count) {
  Value end = b.add(start, count), zero = b.cstF(0);
  SmallVector<Value> all = b.forLoop(
      start, end, b.cst(kChunk), {zero, zero},
      [&](Value begin, ValueRange soFar) {
        Value last = b.minS(b.add(begin, kChunk), end);
        Value added = emitToFloat(b, b.sub(last, begin));
        Moments chunk = emitChunk(b, in, begin, last, added);
        Value before = emitToFloat(b, b.sub(begin, start));
        Value weight = b.divF(added, emitToFloat(b, b.sub(last, start)));
        Value distance = b.subF(chunk.mean, soFar[0]);
        Value between =
            b.mulF(b.mulF(distance, distance), b.mulF(before, weight));
        return SmallVector<Value>{
            b.addF(soFar[0], b.mulF(distance, weight)),
            b.addF(soFar[1], b.addF(chunk.squares, between))};
      });
  return {all[0], all[1]};
}

Value tarpon::emitInverseDeviation(KernelBuilder &b, Value squares,
                                   Value inverseCount, Value epsilon) {
  Value variance = b.addF(b.mulF(squares, inverseCount), epsilon);
  Value one = b.cstLike(squares.getType(), 1);
  return b.divF(one, math::SqrtOp::create(b, variance));
}

//===----------------------------------------------------------------------===//
// Scale and bias
//===----------------------------------------------------------------------===//

AffineOperands::AffineOperands(LaunchBuilder &launch, const Problem &problem,
                               int first) {
  auto get = [&](int index) -> std::optional<FlatTensor> {
    if (index >= problem.rootOperands)
      return std::nullopt;
    return FlatTensor(launch, {BufferSlot::Operand, index},
                      problem.operands[index]);
  };
  scale = get(first);
  bias = get(first + 1);
}

std::string AffineOperands::symbolPart() const {
  return joinSymbol({scale ? "scale" : "", scale ? scale->symbolPart() : "",
                     bias ? "bias" : "", bias ? bias->symbolPart() : ""});
}

AffineOperands::Bound AffineOperands::bind(KernelBuilder &b) const {
  Bound bound;
  if (scale)
    bound.scale = scale->bind(b);
  if (bias)
    bound.bias = bias->bind(b);
  return bound;
}

Value AffineOperands::Bound::loadScale(KernelBuilder &b, Value offset,
                                       int64_t lanes, Value mask) const {
  return scale ? scale->load(b, offset, lanes, mask) : Value();
}

Value AffineOperands::Bound::loadBias(KernelBuilder &b, Value offset,
                                      int64_t lanes, Value mask) const {
  return bias ? bias->load(b, offset, lanes, mask) : Value();
}

//===----------------------------------------------------------------------===//
// Statistics as results
//===----------------------------------------------------------------------===//

SavedStatistics::SavedStatistics(LaunchBuilder &launch,
                                 const Problem &problem) {
  if (problem.numResults() < 3)
    return;
  mean.emplace(launch, BufferSlot{BufferSlot::Result, 1}, problem.getResult(1));
  deviation.emplace(launch, BufferSlot{BufferSlot::Result, 2},
                    problem.getResult(2));
}

void SavedStatistics::store(KernelBuilder &b, Value offset, Value meanValue,
                            Value inverse, Value mask) const {
  if (!mean)
    return;
  mean->bind(b).store(b, meanValue, offset, mask);
  deviation->bind(b).store(b, inverse, offset, mask);
}
