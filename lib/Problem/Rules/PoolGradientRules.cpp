//===- PoolGradientRules.cpp - What gradients of pools look like ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   max_pool_backward(dy, indices)->dx {kernel strides pads dilations
//   ceil_mode} avg_pool_backward(dy)->dx {... count_include_pad}
//   global_max_pool_backward(dy, indices)->dx
//   global_avg_pool_backward(dy)->dx
//
// The indices are those of ONNX's MaxPool: of the element in the whole input in
// row-major order, whatever the layout. An index that lies outside of its
// window counts for nothing.
//
//===----------------------------------------------------------------------===//

#include "RuleTables.h"
#include "tarpon/IR/Shapes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;
using Shape = OpRule::Shape;

/// What the operands must be for a forward pool of dx to give dy's shape.
static std::string checkOperands(const Problem &problem, const Shape &pooled) {
  for (const TensorDesc &desc :
       ArrayRef(problem.operands).take_front(problem.rootOperands))
    if (ArrayRef(desc.shape) != ArrayRef<int64_t>(pooled))
      return formatv("{0} has an operand of {1}, expected {2}", problem.op,
                     printShape(desc.shape), printShape(pooled));
  if (!isFloat(problem.operands[0].dtype) || problem.operands[0].quantized)
    return formatv("{0} has a gradient that is not of floats", problem.op);
  if (problem.rootOperands == 2 && problem.operands[1].dtype != DType::I64 &&
      problem.operands[1].dtype != DType::I32)
    return formatv("{0} has indices that are neither i64 nor i32", problem.op);
  return "";
}

static std::string inferWindowed(const Problem &problem,
                                 std::vector<Shape> &results) {
  // The size of the input does not follow from that of the result.
  Shape shape(ArrayRef(problem.result.shape));
  results.push_back(shape);
  if (shape.size() != problem.operands[0].shape.size())
    return formatv("{0} has a result of rank {1}, expected {2}", problem.op,
                   shape.size(), problem.operands[0].rank());
  std::vector<int64_t> kernel = problem.ints("kernel"),
                       strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  Shape pooled(ArrayRef<int64_t>(shape).take_front(2));
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    WindowDim window{shape[2 + dim],
                     kernel[dim],
                     strides[dim],
                     dilations[dim],
                     pads[dim],
                     pads[kernel.size() + dim],
                     problem.integer("ceil_mode") != 0};
    if (!window.fits())
      return formatv("{0} has a window of {1} cells on {2}", problem.op,
                     window.getExtent(), window.getPaddedSize());
    pooled.push_back(window.countPlaces());
  }
  return checkOperands(problem, pooled);
}

static std::string inferGlobal(const Problem &problem,
                               std::vector<Shape> &results) {
  Shape shape(ArrayRef(problem.result.shape));
  results.push_back(shape);
  if (shape.size() != problem.operands[0].shape.size())
    return formatv("{0} has a result of rank {1}, expected {2}", problem.op,
                   shape.size(), problem.operands[0].rank());
  Shape pooled(shape);
  std::fill(pooled.begin() + 2, pooled.end(), 1);
  return checkOperands(problem, pooled);
}

static constexpr AttrRule kMaxAttrs[] = {{"kernel", Count::Spatial, true, 1},
                                         {"strides", Count::Spatial, true, 1},
                                         {"dilations", Count::Spatial, true, 1},
                                         {"pads", Count::SpatialTwice, true, 0},
                                         {"ceil_mode", Count::One, true, 0}};
static constexpr AttrRule kAvgAttrs[] = {
    {"kernel", Count::Spatial, true, 1},
    {"strides", Count::Spatial, true, 1},
    {"dilations", Count::Spatial, true, 1},
    {"pads", Count::SpatialTwice, true, 0},
    {"ceil_mode", Count::One, true, 0},
    {"count_include_pad", Count::One, true, 0}};

ArrayRef<OpRule> tarpon::getPoolGradientRules() {
  static const OpRule rules[] = {
      {.op = "max_pool_backward",
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kMaxAttrs,
       .infer = inferWindowed},
      {.op = "avg_pool_backward",
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kAvgAttrs,
       .infer = inferWindowed},
      {.op = "global_max_pool_backward",
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = {},
       .infer = inferGlobal},
      {.op = "global_avg_pool_backward",
       .leastRank = 3,
       .mostRank = 5,
       .attrs = {},
       .infer = inferGlobal},
  };
  return rules;
}
