//===- PoolIndicesRules.cpp - Rules of pools with indices -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   max_pool_indices(x)->(y, indices) {kernel strides pads dilations ceil_mode
//   column_major}
//   max_unpool(y, indices)->x {sizes}
//
// The indices are of i64; see tarpon.max_pool_indices and tarpon.max_unpool.
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

static std::string inferPool(const Problem &problem,
                             std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0];
  if (!input.quantized && !isFloat(input.dtype))
    return "max_pool_indices has an operand that is not of floats";
  Shape pooled(ArrayRef(input.shape).take_front(2));
  if (std::string fault =
          inferWindow(problem, input.spatial(), problem.ints("kernel"), pooled);
      !fault.empty())
    return fault;
  results.assign(2, pooled);
  if (problem.numResults() == 2 && (problem.getResult(1).dtype != DType::I64 ||
                                    problem.getResult(1).quantized))
    return "max_pool_indices has indices that are not i64";
  return "";
}

static std::string inferUnpool(const Problem &problem,
                               std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0], &indices = problem.operands[1];
  if (!input.quantized && !isFloat(input.dtype))
    return "max_unpool has an operand that is not of floats";
  if (indices.shape != input.shape)
    return formatv("max_unpool has indices of {0}, expected {1}",
                   printShape(indices.shape), printShape(input.shape));
  if (indices.dtype != DType::I64)
    return "max_unpool has indices that are not i64";
  results.push_back(withSpatial(input.shape, problem.ints("sizes")));
  return "";
}

static constexpr AttrRule kPoolAttrs[] = {
    attr::kernel, attr::strides,  attr::dilations,
    attr::pads,   attr::ceilMode, {"column_major", Count::One, true, 0}};
static constexpr AttrRule kUnpoolAttrs[] = {{"sizes", Count::Spatial, true, 1}};

ArrayRef<OpRule> tarpon::getPoolIndicesRules() {
  static const OpRule rules[] = {
      {.op = OpKind::MaxPoolIndices,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kPoolAttrs,
       .infer = inferPool,
       .countFlops = countWindowFlops},
      {.op = OpKind::MaxUnpool,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kUnpoolAttrs,
       .infer = inferUnpool},
  };
  return rules;
}
