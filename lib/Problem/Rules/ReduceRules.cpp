//===- ReduceRules.cpp - Rules of reductions ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

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
  results.push_back(reduceShape(shape, axes, keepDims == 1));
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

static OpRule makeReduce(OpKind op, bool isReal,
                         unsigned positiveOperands = 0) {
  return {.op = op,
          .leastRank = 1,
          .attrs = kReduceAttrs,
          .isReal = isReal,
          .positiveOperands = positiveOperands,
          .infer = inferReduce};
}

static OpRule makeArg(OpKind op) {
  return {.op = op, .leastRank = 1, .attrs = kArgAttrs, .infer = inferArg};
}

ArrayRef<OpRule> tarpon::getReduceRules() {
  static const OpRule rules[] = {
      makeReduce(OpKind::ReduceSum, /*isReal=*/false),
      makeReduce(OpKind::ReduceMax, /*isReal=*/false),
      makeReduce(OpKind::ReduceMin, /*isReal=*/false),
      makeReduce(OpKind::ReduceProd, /*isReal=*/false),
      makeReduce(OpKind::ReduceL1, /*isReal=*/false),
      makeReduce(OpKind::ReduceSumSquare, /*isReal=*/false),
      makeReduce(OpKind::ReduceMean, /*isReal=*/true),
      makeReduce(OpKind::ReduceL2, /*isReal=*/true),
      makeReduce(OpKind::ReduceLogSum, /*isReal=*/true, 1 << 0),
      makeReduce(OpKind::ReduceLogSumExp, /*isReal=*/true),
      makeArg(OpKind::ArgMax),
      makeArg(OpKind::ArgMin),
  };
  return rules;
}
