//===- GemmRules.cpp - Rules of matrix products ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

static std::string inferMatMul(const Problem &problem,
                               std::vector<Shape> &results) {
  const TensorDesc &lhs = problem.operands[0], &rhs = problem.operands[1];
  // Sums of products are computed of integers, or of floats.
  if (lhs.quantized != rhs.quantized)
    return "matmul has one quantised operand, expected both or none";
  if (rhs.rank() < 2)
    return formatv("matmul has an operand of rank {0}, expected 2 or more",
                   rhs.rank());
  ProductShape product =
      multiplyShapes(lhs.shape, problem.integer("transpose_lhs") != 0,
                     rhs.shape, problem.integer("transpose_rhs") != 0);
  if (product.lhsDepth != product.rhsDepth)
    return formatv("matmul contracts {0} with {1} elements", product.lhsDepth,
                   product.rhsDepth);
  if (!product.result)
    return "matmul has batch dimensions that do not broadcast";
  results.push_back(*product.result);
  return "";
}

static double countMatMulFlops(const Problem &problem) {
  const std::vector<int64_t> &shape = problem.operands[0].shape;
  int64_t depth =
      shape[shape.size() - (problem.integer("transpose_lhs") != 0 ? 2 : 1)];
  return 2 * static_cast<double>(problem.result.numElements()) *
         static_cast<double>(depth);
}

static constexpr AttrRule kAttrs[] = {{"transpose_lhs", Count::One, true, 0},
                                      {"transpose_rhs", Count::One, true, 0}};

ArrayRef<OpRule> tarpon::getGemmRules() {
  static const OpRule rules[] = {
      {.op = OpKind::MatMul,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 2,
       .attrs = kAttrs,
       .isReal = true,
       .infer = inferMatMul,
       .countFlops = countMatMulFlops,
       .countTerms = countTermsByFlops},
  };
  return rules;
}
