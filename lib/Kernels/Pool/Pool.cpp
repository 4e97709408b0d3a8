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
  // A window may lie outside altogether in ceil_mode.
  return arith::SIToFPOp::create(b, b.getF32Type(), b.maxS(count, b.cst(1)));
}
