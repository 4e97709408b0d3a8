//===- ReduceRules.cpp - What problems of reductions look like ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;
using Shape = OpRule::Shape;

static std::string inferReduced(const Problem &problem, ArrayRef<int64_t> axes,
                                std::vector<Shape> &results) {
  const std::vector<int64_t> &shape = problem.operands[0].shape;
  auto rank = static_cast<int64_t>(shape.size());
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (axis >= rank)
      return formatv("{0} has the axis {1} of rank {2}", problem.op, axis,
                     rank);
    if (index > 0 && axis <= axes[index - 1])
      return formatv("{0} has axes that do not ascend", problem.op);
  }
  int64_t keepDims = problem.integer("keepdims");
  if (keepDims > 1)
    return formatv("{0} has the value {1} in keepdims, expected 0 or 1",
                   problem.op, keepDims);
  if (!problem.epilogue.empty())
    return formatv("{0} has an epilogue", problem.op);
  if (keepDims == 0 && problem.result.layout.kind != Layout::NCHW)
    return formatv("{0} has a result in {1} that does not keep its dimensions",
                   problem.op, problem.result.layout.name());
  Shape reduced;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      reduced.push_back(size);
    else if (keepDims == 1)
      reduced.push_back(1);
  results.push_back(reduced);
  return "";
}

static std::string inferReduce(const Problem &problem,
                               std::vector<Shape> &results) {
  std::vector<int64_t> axes = problem.ints("axes");
  if (axes.empty())
    return formatv("{0} has no axes", problem.op);
  return inferReduced(problem, axes, results);
}

static std::string inferArg(const Problem &problem,
                            std::vector<Shape> &results) {
  if (problem.result.dtype != DType::I64 || problem.result.quantized)
    return formatv("{0} has a result that is not of i64", problem.op);
  return inferReduced(problem, problem.ints("axis"), results);
}

static constexpr AttrRule kReduceAttrs[] = {{"axes", Count::Any, true, 0},
                                            {"keepdims", Count::One, true, 0}};
static constexpr AttrRule kArgAttrs[] = {
    {"axis", Count::One, true, 0},
    {"keepdims", Count::One, true, 0},
    {"select_last_index", Count::One, true, 0}};

ArrayRef<OpRule> tarpon::getReduceRules() {
  static const std::vector<OpRule> rules = [] {
    std::vector<OpRule> list;
    auto add = [&](StringLiteral op, bool isReal) {
      list.push_back({.op = op,
                      .leastRank = 1,
                      .attrs = kReduceAttrs,
                      .isReal = isReal,
                      .positiveOperands = op == "reduce_log_sum" ? 1U : 0U,
                      .infer = inferReduce});
    };
    for (StringLiteral op :
         {StringLiteral("reduce_sum"), StringLiteral("reduce_max"),
          StringLiteral("reduce_min"), StringLiteral("reduce_prod"),
          StringLiteral("reduce_l1"), StringLiteral("reduce_sum_square")})
      add(op, /*isReal=*/false);
    for (StringLiteral op :
         {StringLiteral("reduce_mean"), StringLiteral("reduce_l2"),
          StringLiteral("reduce_log_sum"), StringLiteral("reduce_log_sum_exp")})
      add(op, /*isReal=*/true);
    for (StringLiteral op :
         {StringLiteral("arg_max"), StringLiteral("arg_min")})
      list.push_back(
          {.op = op, .leastRank = 1, .attrs = kArgAttrs, .infer = inferArg});
    return list;
  }();
  return rules;
}
