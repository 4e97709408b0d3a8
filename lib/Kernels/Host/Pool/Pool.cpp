//===- Pool.cpp - Common code of the pooling solvers ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {
struct GlobalPool {
  OpKind op, windowed;
};
} // namespace

static constexpr GlobalPool kGlobalPools[] = {
    {OpKind::GlobalAvgPool, OpKind::AvgPool},
    {OpKind::GlobalMaxPool, OpKind::MaxPool}};

bool tarpon::isPool(OpKind op) {
  return op == OpKind::MaxPool || op == OpKind::AvgPool ||
         findRow(kGlobalPools, op);
}

Problem tarpon::asWindowedPool(Problem problem) {
  const GlobalPool *global = findRow(kGlobalPools, problem.op);
  if (!global)
    return problem;
  problem.op = global->windowed;
  ArrayRef<int64_t> spatial = problem.operands[0].spatial();
  std::vector<double> ones(spatial.size(), 1), zeros(2 * spatial.size(), 0);
  problem.attrs = {{"kernel", {spatial.begin(), spatial.end()}},
                   {"strides", ones},
                   {"dilations", ones},
                   {"pads", zeros},
                   {"count_include_pad", {0}}};
  return problem;
}

PoolReduction PoolReduction::of(const Problem &problem) {
  const TensorDesc &input = problem.operands[0], &result = problem.result;
  bool isMax = problem.op == OpKind::MaxPool;
  bool keepsScale =
      input.quantized && result.quantized && input.dtype == result.dtype &&
      input.scales == result.scales && input.zeroPoint == result.zeroPoint;
  return {isMax, isMax && keepsScale && problem.epilogue.empty(), input.dtype};
}

Type PoolReduction::elementType(KernelBuilder &b) const {
  return isInteger ? Type(b.getI8Type()) : Type(b.getF32Type());
}

Value PoolReduction::identity(KernelBuilder &b, int64_t lanes) const {
  Type type = b.vec(elementType(b), lanes);
  if (isInteger)
    return b.cstLike(type, dtype == DType::I8 ? -128 : 0);
  return b.cstLike(type, isMax ? -std::numeric_limits<double>::infinity() : 0);
}

Value PoolReduction::load(KernelBuilder &b, const BoundFlatTensor &input,
                          Value offset, int64_t lanes, Value mask) const {
  if (!isInteger)
    return input.loadRaw(b, offset, lanes, mask);
  VectorType type = b.vec(b.getI8Type(), lanes);
  Value pointer = input.pointerTo(b, offset);
  return mask ? b.maskedLoad(pointer, mask, type) : b.load(pointer, type);
}

Value PoolReduction::combine(KernelBuilder &b, Value value, Value soFar) const {
  if (!isMax)
    return b.addF(soFar, value);
  if (!isInteger)
    return b.maxF(value, soFar);
  if (dtype == DType::I8)
    return b.maxS(value, soFar);
  return arith::MaxUIOp::create(b, value, soFar);
}

double tarpon::getPoolCost(const Problem &problem) {
  double cells = 1;
  for (int64_t size : problem.ints("kernel"))
    cells *= static_cast<double>(size);
  return cells;
}

Value tarpon::emitPoolCount(KernelBuilder &b, const Window &window,
                            ArrayRef<WindowRange> ranges, ArrayRef<Value> place,
                            bool countsPadding) {
  Value count = b.cst(1);
  for (int64_t dim = 0; dim < window.rank(); ++dim)
    count =
        b.mul(count, countsPadding ? window.countWithPadding(b, dim, place[dim])
                                   : Window::count(b, ranges[dim]));
  return count;
}

Value tarpon::emitPoolMean(KernelBuilder &b, const BoundFlatTensor &input,
                           Value sum, Value inside, Value divisor) {
  int64_t lanes = 1;
  if (auto vector = dyn_cast<VectorType>(sum.getType()))
    lanes = vector.getNumElements();
  auto toReal = [&](Value count) {
    if (count.getType() == sum.getType())
      return count;
    Value real = arith::SIToFPOp::create(b, b.getF32Type(), count);
    return b.broadcast(real, lanes);
  };
  // In ceil_mode a window may lie entirely outside.
  Value cells = b.maxF(toReal(divisor), b.cstLike(sum.getType(), 1));
  if (!input.quantized)
    return b.divF(sum, cells);
  Value zeros = b.mulF(toReal(inside), b.broadcast(input.zeroPoint, lanes));
  Value real = b.mulF(b.subF(sum, zeros), b.broadcast(input.scale, lanes));
  return b.divF(real, cells);
}
