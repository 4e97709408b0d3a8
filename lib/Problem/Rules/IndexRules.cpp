//===- IndexRules.cpp - Rules of elements selected at run time ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   where(condition, lhs, rhs)->y
//   gather(x, indices)->y {axis}
//   scatter(x, indices, updates)->y {mode}
//   top_k(x)->indices {axis k largest}
//
// The condition is of bool and the indices are of i64; see tarpon.where,
// tarpon.gather, tarpon.scatter and tarpon.top_k.
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

static std::string inferWhere(const Problem &problem,
                              std::vector<Shape> &results) {
  if (problem.operands[0].dtype != DType::Bool)
    return "where has a condition that is not bool";
  std::optional<Shape> shape =
      broadcastShapes(problem.operands[1].shape, problem.operands[2].shape);
  if (shape)
    shape = broadcastShapes(problem.operands[0].shape, *shape);
  if (!shape)
    return "where has operands that do not broadcast";
  results.push_back(*shape);
  return "";
}

static std::string inferGather(const Problem &problem,
                               std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0], &indices = problem.operands[1];
  int64_t axis = problem.integer("axis");
  if (axis >= input.rank())
    return formatv("gather has the axis {0} of rank {1}", axis, input.rank());
  if (indices.dtype != DType::I64)
    return "gather has indices that are not i64";
  results.push_back(gatherShape(input.shape, indices.shape, axis));
  return "";
}

static std::string inferScatter(const Problem &problem,
                                std::vector<Shape> &results) {
  enum Mode : int64_t { Replace, Add, Mul, Max, Min };
  const TensorDesc &input = problem.operands[0], &indices = problem.operands[1],
                   &updates = problem.operands[2];
  if (int64_t mode = problem.integer("mode"); mode > Min)
    return formatv("scatter has the mode {0}, expected 0 to 4", mode);
  if (indices.dtype != DType::I64 || indices.rank() != 1)
    return "scatter has indices that are not i64 of rank 1";
  Shape expected = gatherShape(input.shape, indices.shape, 0);
  if (ArrayRef(updates.shape) != ArrayRef(expected))
    return formatv("scatter has updates of {0}, expected {1}",
                   printShape(updates.shape), printShape(expected));
  return inferSame(problem, results);
}

static std::string inferTopK(const Problem &problem,
                             std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0];
  int64_t axis = problem.integer("axis"), k = problem.integer("k");
  if (axis >= input.rank())
    return formatv("top_k has the axis {0} of rank {1}", axis, input.rank());
  if (k > input.shape[axis])
    return formatv("top_k has {0} places in a dimension of {1}", k,
                   input.shape[axis]);
  if (problem.result.dtype != DType::I64 || problem.result.quantized)
    return "top_k has a result that is not of i64";
  if (!problem.epilogue.empty())
    return "top_k has an epilogue";
  results.push_back(replaceDim(input.shape, axis, k));
  return "";
}

static constexpr AttrRule kTopKAttrs[] = {
    attr::axis, {"k", Count::One, true, 1}, {"largest", Count::One, true, 0}};
static constexpr AttrRule kGatherAttrs[] = {attr::axis};
static constexpr AttrRule kScatterAttrs[] = {{"mode", Count::One, true, 0}};

ArrayRef<OpRule> tarpon::getIndexRules() {
  static const OpRule rules[] = {
      {.op = OpKind::Where,
       .leastOperands = 3,
       .mostOperands = 3,
       .followsResult = true,
       .infer = inferWhere},
      {.op = OpKind::Gather,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 1,
       .attrs = kGatherAttrs,
       .infer = inferGather},
      {.op = OpKind::Scatter,
       .leastOperands = 3,
       .mostOperands = 3,
       .leastRank = 1,
       .attrs = kScatterAttrs,
       .infer = inferScatter},
      {.op = OpKind::TopK,
       .leastRank = 1,
       .attrs = kTopKAttrs,
       .infer = inferTopK},
  };
  return rules;
}
