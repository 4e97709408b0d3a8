//===- ConvBackwardRules.cpp - Rules of convolutions' gradients -----------===//
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

//===----------------------------------------------------------------------===//
// conv_transpose
//===----------------------------------------------------------------------===//

static std::string checkTransposeOperands(const Problem &problem) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  if (filter.rank() != input.rank())
    return formatv("conv_transpose has operands of ranks {0} and {1}",
                   input.rank(), filter.rank());
  // Sums of products are computed of integers, or of floats.
  if (input.quantized != filter.quantized)
    return "conv_transpose has one quantised operand, expected both or none";
  if (filter.layout.kind != Layout::NCHW)
    return "conv_transpose has a filter that is not row-major";
  int64_t group = problem.integer("group");
  if (!isGroupOf(group, input.shape[1], input.shape[1]))
    return formatv("conv_transpose has {0} groups of {1} input channels", group,
                   input.shape[1]);
  if (filter.shape[0] != input.shape[1])
    return formatv("conv_transpose has a filter of {0} input channels, "
                   "expected {1}",
                   filter.shape[0], input.shape[1]);
  return "";
}

static std::string inferConvTranspose(const Problem &problem,
                                      std::vector<Shape> &results) {
  if (std::string fault = checkTransposeOperands(problem); !fault.empty())
    return fault;
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  Shape shape = {input.shape[0], filter.shape[1] * problem.integer("group")};
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  SlidingWindow window{filter.spatial(), strides, pads, dilations};
  if (std::optional<size_t> empty = window.appendSpread(
          input.spatial(), problem.ints("output_padding"), shape))
    return formatv("conv_transpose has no place left in spatial dimension {0}",
                   *empty);
  results.push_back(shape);
  return "";
}

//===----------------------------------------------------------------------===//
// conv_backward_weights
//===----------------------------------------------------------------------===//

/// Weights are trained in floats, and nothing is fused behind their gradient.
static std::string checkGradient(const Problem &problem) {
  for (const TensorDesc *desc :
       {&problem.operands[0], &problem.operands[1], &problem.result})
    if (desc->quantized || !isFloat(desc->dtype))
      return "conv_backward_weights has a tensor that does not hold floats";
  if (problem.result.layout.kind != Layout::NCHW)
    return "conv_backward_weights has a result that is not row-major";
  if (!problem.epilogue.empty() ||
      static_cast<int>(problem.operands.size()) != problem.rootOperands)
    return "conv_backward_weights has an epilogue";
  return "";
}

/// Says why operands and result cannot be input, gradient and filter of a
/// convolution. The kernel's sizes are those of the result, since no operand
/// has them.
static std::string inferBackwardWeights(const Problem &problem,
                                        std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0],
                   &gradient = problem.operands[1], &result = problem.result;
  if (gradient.rank() != input.rank() || result.rank() != input.rank())
    return formatv("conv_backward_weights has operands of ranks {0} and {1} "
                   "and a result of rank {2}",
                   input.rank(), gradient.rank(), result.rank());
  if (std::string fault = checkGradient(problem); !fault.empty())
    return fault;
  int64_t group = problem.integer("group");
  if (!isGroupOf(group, input.shape[1], gradient.shape[1]))
    return formatv("conv_backward_weights has {0} groups of {1} input and {2} "
                   "output channels",
                   group, input.shape[1], gradient.shape[1]);
  Shape forward = {input.shape[0], gradient.shape[1]};
  if (std::string fault =
          inferWindow(problem, input.spatial(), result.spatial(), forward);
      !fault.empty())
    return fault;
  if (ArrayRef<int64_t>(forward) != ArrayRef(gradient.shape))
    return formatv("conv_backward_weights has a gradient of {0}, expected {1}",
                   printShape(gradient.shape), printShape(forward));
  Shape shape = {gradient.shape[1], input.shape[1] / group};
  llvm::append_range(shape, result.spatial());
  results.push_back(shape);
  return "";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// There are as many multiplications as in a forward convolution.
static double countTransposeFlops(const Problem &problem) {
  return 2 * static_cast<double>(problem.operands[0].numElements()) *
         static_cast<double>(
             product(ArrayRef(problem.operands[1].shape).drop_front()));
}

static double countWeightsFlops(const Problem &problem) {
  return 2 * static_cast<double>(problem.operands[1].numElements()) *
         static_cast<double>(
             product(ArrayRef(problem.result.shape).drop_front()));
}

static constexpr AttrRule kWeightsAttrs[] = {attr::strides, attr::dilations,
                                             attr::pads, attr::group};
static constexpr AttrRule kTransposeAttrs[] = {
    attr::strides,
    attr::dilations,
    attr::pads,
    attr::group,
    {"output_padding", Count::Spatial, true, 0}};

ArrayRef<OpRule> tarpon::getConvBackwardRules() {
  static const OpRule rules[] = {
      {.op = OpKind::ConvTranspose,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kTransposeAttrs,
       .isReal = true,
       .infer = inferConvTranspose,
       .countFlops = countTransposeFlops,
       .countTerms = countTermsByFlops,
       .filterScaleAxis = 1},
      {.op = OpKind::ConvBackwardWeights,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kWeightsAttrs,
       .isReal = true,
       .infer = inferBackwardWeights,
       .countFlops = countWeightsFlops,
       .countTerms = countTermsByFlops},
  };
  return rules;
}
