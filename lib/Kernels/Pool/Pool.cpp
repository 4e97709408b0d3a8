//===- Pool.cpp - What the pooling solvers share --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

using namespace mlir;
using namespace tarpon;

bool tarpon::isPool(StringRef op) {
  op.consume_front("global_");
  return op == "max_pool" || op == "avg_pool";
}

Problem tarpon::asWindowedPool(Problem problem) {
  StringRef windowed = problem.op;
  if (!windowed.consume_front("global_"))
    return problem;
  problem.op = windowed.str();
  ArrayRef<int64_t> spatial = problem.operands[0].spatial();
  std::vector<double> ones(spatial.size(), 1), zeros(2 * spatial.size(), 0);
  problem.attrs = {{"kernel", {spatial.begin(), spatial.end()}},
                   {"strides", ones},
                   {"dilations", ones},
                   {"pads", zeros},
                   {"count_include_pad", {0}}};
  return problem;
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
  // A window may lie outside altogether in ceil_mode.
  Value cells = b.maxF(toReal(divisor), b.cstLike(sum.getType(), 1));
  if (!input.quantized)
    return b.divF(sum, cells);
  Value zeros = b.mulF(toReal(inside), b.broadcast(input.zeroPoint, lanes));
  Value real = b.mulF(b.subF(sum, zeros), b.broadcast(input.scale, lanes));
  return b.divF(real, cells);
}
