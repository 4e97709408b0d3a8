//===- PoolIndices.cpp - Maxima and their indices -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PoolIndices.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

std::vector<int64_t> tarpon::getPixelSteps(const Problem &problem) {
  ArrayRef<int64_t> sizes = problem.operands[0].spatial();
  std::vector<int64_t> steps(sizes.size(), 1);
  if (problem.integer("column_major") != 0)
    for (size_t dim = 1; dim < sizes.size(); ++dim)
      steps[dim] = steps[dim - 1] * sizes[dim - 1];
  else
    for (size_t dim = sizes.size() - 1; dim > 0; --dim)
      steps[dim - 1] = steps[dim] * sizes[dim];
  return steps;
}

bool tarpon::hasNarrowPixels(const Problem &problem) {
  return problem.operands[0].spatialSize() <=
         std::numeric_limits<int32_t>::max();
}

SmallVector<Value> tarpon::getNoMaximum(KernelBuilder &b, int64_t lanes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {b.cstLike(b.vec(b.getF32Type(), lanes), -infinity),
          b.cstLike(b.vec(b.getI32Type(), lanes), -1)};
}

SmallVector<Value> tarpon::emitMaximum(KernelBuilder &b, ValueRange soFar,
                                       Value cell, Value pixel) {
  Value isGreater =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, cell, soFar.front());
  return {b.select(isGreater, cell, soFar[0]),
          b.select(isGreater, pixel, soFar[1])};
}

Value tarpon::emitPixelIndices(KernelBuilder &b, Value pixels, Value planes) {
  Value wide = arith::ExtSIOp::create(b, planes.getType(), pixels);
  Value none = b.cstLike(planes.getType(), -1);
  Value isNone = b.slt(wide, b.cstLike(planes.getType(), 0));
  return b.select(isNone, none, b.add(planes, wide));
}

Value tarpon::emitProgression(KernelBuilder &b, Value first, Value step,
                              int64_t lanes) {
  VectorType type = b.vec(first.getType(), lanes);
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(b.getIntegerAttr(first.getType(), lane));
  Value factors = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<Attribute>(numbers)));
  return b.add(b.broadcast(first, lanes),
               b.mul(factors, b.broadcast(step, lanes)));
}

Value tarpon::emitNarrow(KernelBuilder &b, Value value) {
  return arith::TruncIOp::create(b, b.getI32Type(), value);
}
