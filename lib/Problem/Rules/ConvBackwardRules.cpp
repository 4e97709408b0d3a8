//===- ConvBackwardRules.cpp - What gradients of convolutions look like ---===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleTables.h"
#include "tarpon/IR/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;
using Shape = OpRule::Shape;

/// The numbers of one spatial dimension.
namespace {
struct DimAttrs {
  int64_t stride, dilation, padBegin, padEnd;
};
} // namespace

static SmallVector<DimAttrs> getDims(const Problem &problem) {
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  SmallVector<DimAttrs> dims;
  for (size_t dim = 0; dim < strides.size(); ++dim)
    dims.push_back(
        {strides[dim], dilations[dim], pads[dim], pads[strides.size() + dim]});
  return dims;
}

//===----------------------------------------------------------------------===//
// conv_transpose
//===----------------------------------------------------------------------===//

static std::string checkTransposeOperands(const Problem &problem) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  if (filter.rank() != input.rank())
    return formatv("conv_transpose has operands of ranks {0} and {1}",
                   input.rank(), filter.rank());
  // Sums of products are taken of integers, or of floats.
  if (input.quantized != filter.quantized)
    return "conv_transpose has one quantised operand, expected both or none";
  if (filter.layout.kind != Layout::NCHW)
    return "conv_transpose has a filter that is not row-major";
  int64_t group = problem.integer("group");
  if (input.shape[1] % group != 0)
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
  std::vector<int64_t> outputPadding = problem.ints("output_padding");
  for (auto [dim, attrs] : llvm::enumerate(getDims(problem))) {
    SpreadDim spread{input.spatial()[dim], filter.spatial()[dim], attrs.stride,
                     attrs.dilation,       attrs.padBegin,        attrs.padEnd,
                     outputPadding[dim]};
    std::optional<int64_t> places = spread.countPlaces();
    if (!places)
      return formatv("conv_transpose has no place left in spatial dimension "
                     "{0}",
                     dim);
    shape.push_back(*places);
  }
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
    if (desc->quantized ||
        !llvm::is_contained({DType::F64, DType::F32, DType::F16, DType::BF16},
                            desc->dtype))
      return "conv_backward_weights has a tensor that does not hold floats";
  if (problem.result.layout.kind != Layout::NCHW)
    return "conv_backward_weights has a result that is not row-major";
  if (!problem.epilogue.empty() ||
      static_cast<int>(problem.operands.size()) != problem.rootOperands)
    return "conv_backward_weights has an epilogue";
  return "";
}

/// Says why operands and result cannot be input, gradient and filter
/// of a convolution. The kernel is the result's: nothing else tells it.
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
  if (input.shape[1] % group != 0 || gradient.shape[1] % group != 0)
    return formatv("conv_backward_weights has {0} groups of {1} input and {2} "
                   "output channels",
                   group, input.shape[1], gradient.shape[1]);
  Shape forward = {input.shape[0], gradient.shape[1]};
  for (auto [dim, attrs] : llvm::enumerate(getDims(problem))) {
    WindowDim window{input.spatial()[dim], result.spatial()[dim], attrs.stride,
                     attrs.dilation,       attrs.padBegin,        attrs.padEnd};
    if (!window.fits())
      return formatv("conv_backward_weights has a window of {0} cells on {1}",
                     window.getExtent(), window.getPaddedSize());
    forward.push_back(window.countPlaces());
  }
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

static constexpr AttrRule kStrides = {"strides", Count::Spatial, true, 1};
static constexpr AttrRule kDilations = {"dilations", Count::Spatial, true, 1};
static constexpr AttrRule kPads = {"pads", Count::SpatialTwice, true, 0};
static constexpr AttrRule kGroup = {"group", Count::One, true, 1};
static constexpr AttrRule kWeightsAttrs[] = {kStrides, kDilations, kPads,
                                             kGroup};
static constexpr AttrRule kTransposeAttrs[] = {
    kStrides,
    kDilations,
    kPads,
    kGroup,
    {"output_padding", Count::Spatial, true, 0}};

ArrayRef<OpRule> tarpon::getConvBackwardRules() {
  static const OpRule rules[] = {
      {.op = "conv_transpose",
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kTransposeAttrs,
       .isReal = true,
       .infer = inferConvTranspose},
      {.op = "conv_backward_weights",
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kWeightsAttrs,
       .isReal = true,
       .infer = inferBackwardWeights},
  };
  return rules;
}
