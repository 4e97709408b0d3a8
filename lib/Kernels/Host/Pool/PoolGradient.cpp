//===- PoolGradient.cpp - Common code of pools' gradients -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PoolGradient.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {
struct GlobalGradient {
  OpKind op, windowed;
};
} // namespace

static constexpr GlobalGradient kGlobalGradients[] = {
    {OpKind::GlobalAvgPoolBackward, OpKind::AvgPoolBackward},
    {OpKind::GlobalMaxPoolBackward, OpKind::MaxPoolBackward}};

bool tarpon::isPoolGradient(OpKind op) {
  return op == OpKind::MaxPoolBackward || op == OpKind::AvgPoolBackward ||
         findRow(kGlobalGradients, op);
}

Problem tarpon::asWindowedGradient(Problem problem) {
  const GlobalGradient *global = findRow(kGlobalGradients, problem.op);
  if (!global)
    return problem;
  problem.op = global->windowed;
  ArrayRef<int64_t> spatial = problem.result.spatial();
  std::vector<double> ones(spatial.size(), 1), zeros(2 * spatial.size(), 0);
  problem.attrs = {{"kernel", {spatial.begin(), spatial.end()}},
                   {"strides", ones},
                   {"dilations", ones},
                   {"pads", zeros},
                   {"count_include_pad", {0}}};
  return problem;
}

std::vector<float> tarpon::countGradientCells(const Problem &problem,
                                              int64_t dim) {
  std::vector<int64_t> pads = problem.ints("pads");
  int64_t kernel = problem.ints("kernel")[dim], pad = pads[dim];
  int64_t padEnd = pads[pads.size() / 2 + dim];
  int64_t stride = problem.ints("strides")[dim];
  int64_t step = problem.ints("dilations")[dim];
  int64_t size = problem.result.spatial()[dim];
  bool countsPadding = problem.integer("count_include_pad") != 0;
  std::vector<float> counts;
  for (int64_t x = 0; x < problem.operands[0].spatial()[dim]; ++x) {
    int64_t counted = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      int64_t place = x * stride - pad + k * step;
      bool isInside = place >= 0 && place < size;
      counted += countsPadding ? place < size + padEnd : isInside;
    }
    // In ceil_mode a window may lie entirely outside.
    counts.push_back(static_cast<float>(std::max<int64_t>(1, counted)));
  }
  return counts;
}
