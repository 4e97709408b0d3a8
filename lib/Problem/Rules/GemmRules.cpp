//===- GemmRules.cpp - Products and attention ---------------------------===//
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

static std::string inferBlockMatMul(const Problem &problem,
                                    std::vector<Shape> &results) {
  SmallVector<ArrayRef<int64_t>, 4> shapes;
  for (auto [index, operand] : llvm::enumerate(getRootOperands(problem))) {
    bool isStored = index == 1 || index == 3;
    if (isStored && (operand.dtype != DType::U8 || operand.quantized))
      return "block_matmul has weights or zero points that are not of u8";
    if (index == 0 && (!runtime::fitsF32(operand.dtype) || operand.quantized))
      return "block_matmul has a lhs that is not of floats within f32";
    if (index == 2 && operand.dtype != DType::F32)
      return "block_matmul has scales that are not of f32";
    shapes.push_back(operand.shape);
  }
  std::string fault = findBlockMatMulFault(shapes, problem.integer("bits"),
                                           problem.integer("block_size"));
  if (!fault.empty())
    return formatv("block_matmul {0}", fault);
  results.push_back(blockMatMulShape(shapes[0], shapes[1]));
  return "";
}

static double countBlockMatMulFlops(const Problem &problem) {
  return 2 * static_cast<double>(problem.result.numElements()) *
         static_cast<double>(problem.operands[0].shape.back());
}

static std::string inferAttention(const Problem &problem,
                                  std::vector<Shape> &results) {
  SmallVector<ArrayRef<int64_t>, 4> shapes;
  for (const TensorDesc &operand : getRootOperands(problem)) {
    if (!isFloat(operand.dtype) && !operand.quantized)
      return "attention has an operand that is not of floats";
    shapes.push_back(operand.shape);
  }
  int64_t causal = problem.integer("causal");
  if (causal != 0 && causal != 1)
    return "attention is neither causal nor not";
  std::string fault = findAttentionFault(shapes, causal == 1);
  if (!fault.empty())
    return formatv("attention {0}", fault);
  results.push_back(attentionShape(shapes[0], shapes[2]));
  return "";
}

/// Counts the products of a mask that hides nothing.
static double countAttentionFlops(const Problem &problem) {
  const std::vector<int64_t> &key = problem.operands[1].shape;
  int64_t channels = key.back() + problem.result.shape.back();
  double rows =
      static_cast<double>(problem.result.numElements()) /
      static_cast<double>(std::max<int64_t>(1, problem.result.shape.back()));
  return 2 * rows * static_cast<double>(key[key.size() - 2] * channels);
}

static constexpr AttrRule kAttentionAttrs[] = {{"scale", Count::One, false},
                                               {"causal", Count::One, true, 0}};
static constexpr AttrRule kBlockMatMulAttrs[] = {
    {"bits", Count::One, true, 1}, {"block_size", Count::One, true, 1}};
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
      {.op = OpKind::BlockMatMul,
       .leastOperands = 3,
       .mostOperands = 4,
       .leastRank = 2,
       .attrs = kBlockMatMulAttrs,
       .isReal = true,
       .infer = inferBlockMatMul,
       .countFlops = countBlockMatMulFlops,
       .countTerms = countTermsByFlops},
      {.op = OpKind::Attention,
       .leastOperands = 3,
       .mostOperands = 4,
       .leastRank = 3,
       .attrs = kAttentionAttrs,
       .isReal = true,
       .infer = inferAttention,
       .countFlops = countAttentionFlops},
  };
  return rules;
}
