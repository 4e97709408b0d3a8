//===- ConvRules.cpp - Rules of convolutions ------------------------------===//
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

static std::string inferConv(const Problem &problem,
                             std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  // Sums of products are computed of integers, or of floats.
  if (input.quantized != filter.quantized)
    return "conv has one quantised operand, expected both or none";
  if (filter.layout.kind != Layout::NCHW)
    return "conv has a filter that is not row-major";
  if (filter.rank() != input.rank())
    return formatv("conv has operands of ranks {0} and {1}", input.rank(),
                   filter.rank());
  int64_t group = problem.integer("group");
  if (!isGroupOf(group, input.shape[1], filter.shape[0]))
    return formatv("conv has {0} groups of {1} input and {2} output channels",
                   group, input.shape[1], filter.shape[0]);
  if (filter.shape[1] != input.shape[1] / group)
    return formatv("conv has a filter of {0} input channels, expected {1}",
                   filter.shape[1], input.shape[1] / group);
  Shape &shape = results.emplace_back();
  shape = {input.shape[0], filter.shape[0]};
  return inferWindow(problem, input.spatial(), filter.spatial(), shape);
}

static double countConvFlops(const Problem &problem) {
  return 2 * static_cast<double>(problem.result.numElements()) *
         static_cast<double>(
             product(ArrayRef(problem.operands[1].shape).drop_front()));
}

static constexpr AttrRule kAttrs[] = {attr::strides, attr::dilations,
                                      attr::pads, attr::group};

ArrayRef<OpRule> tarpon::getConvRules() {
  static const OpRule rules[] = {
      {.op = OpKind::Conv,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kAttrs,
       .isReal = true,
       .infer = inferConv,
       .countFlops = countConvFlops,
       .countTerms = countTermsByFlops,
       .filterScaleAxis = 0},
  };
  return rules;
}
