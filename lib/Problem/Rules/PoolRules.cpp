//===- PoolRules.cpp - Rules of pools -------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

using namespace mlir;
using namespace tarpon;

static std::string inferPool(const Problem &problem,
                             std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0];
  Shape &shape = results.emplace_back(ArrayRef(input.shape).take_front(2));
  return inferWindow(problem, input.spatial(), problem.ints("kernel"), shape);
}

static std::string inferGlobalPool(const Problem &problem,
                                   std::vector<Shape> &results) {
  results.push_back(poolGlobally(problem.operands[0].shape));
  return "";
}

static constexpr AttrRule kMaxAttrs[] = {
    attr::kernel, attr::strides, attr::dilations, attr::pads, attr::ceilMode};
static constexpr AttrRule kAvgAttrs[] = {
    attr::kernel, attr::strides,  attr::dilations,
    attr::pads,   attr::ceilMode, attr::countIncludePad};

ArrayRef<OpRule> tarpon::getPoolRules() {
  static const OpRule rules[] = {
      {.op = OpKind::MaxPool,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kMaxAttrs,
       .infer = inferPool,
       .countFlops = countWindowFlops},
      {.op = OpKind::AvgPool,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kAvgAttrs,
       .isReal = true,
       .infer = inferPool,
       .countFlops = countWindowFlops},
      {.op = OpKind::GlobalMaxPool,
       .leastRank = 3,
       .mostRank = 5,
       .infer = inferGlobalPool},
      {.op = OpKind::GlobalAvgPool,
       .leastRank = 3,
       .mostRank = 5,
       .isReal = true,
       .infer = inferGlobalPool},
  };
  return rules;
}
