//===- PoolIndicesRules.cpp - What pools with indices look like -----------===//
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

#include "RuleTables.h"
#include "tarpon/IR/Shapes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;
using Shape = OpRule::Shape;

static bool holdsFloats(const TensorDesc &desc) {
  return desc.quantized || desc.dtype == DType::F32 ||
         desc.dtype == DType::F16 || desc.dtype == DType::BF16 ||
         desc.dtype == DType::F64;
}

static std::string inferPool(const Problem &problem,
                             std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0];
  if (!holdsFloats(input))
    return "max_pool_indices has an operand that is not of floats";
  std::vector<int64_t> kernel = problem.ints("kernel"),
                       strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  Shape pooled(ArrayRef<int64_t>(input.shape).take_front(2));
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    WindowDim window{input.spatial()[dim],
                     kernel[dim],
                     strides[dim],
                     dilations[dim],
                     pads[dim],
                     pads[kernel.size() + dim],
                     problem.integer("ceil_mode") != 0};
    if (!window.fits())
      return formatv("max_pool_indices has a window of {0} cells on {1}",
                     window.getExtent(), window.getPaddedSize());
    pooled.push_back(window.countPlaces());
  }
  results.assign(2, pooled);
  if (problem.numResults() == 2 && (problem.getResult(1).dtype != DType::I64 ||
                                    problem.getResult(1).quantized))
    return "max_pool_indices has indices that are not i64";
  return "";
}

static std::string inferUnpool(const Problem &problem,
                               std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0], &indices = problem.operands[1];
  if (!holdsFloats(input))
    return "max_unpool has an operand that is not of floats";
  if (indices.shape != input.shape)
    return formatv("max_unpool has indices of {0}, expected {1}",
                   printShape(indices.shape), printShape(input.shape));
  if (indices.dtype != DType::I64)
    return "max_unpool has indices that are not i64";
  Shape shape(ArrayRef<int64_t>(input.shape).take_front(2));
  llvm::append_range(shape, problem.ints("sizes"));
  results.push_back(shape);
  return "";
}

static constexpr AttrRule kPoolAttrs[] = {
    {"kernel", Count::Spatial, true, 1},
    {"strides", Count::Spatial, true, 1},
    {"dilations", Count::Spatial, true, 1},
    {"pads", Count::SpatialTwice, true, 0},
    {"ceil_mode", Count::One, true, 0},
    {"column_major", Count::One, true, 0}};
static constexpr AttrRule kUnpoolAttrs[] = {{"sizes", Count::Spatial, true, 1}};

ArrayRef<OpRule> tarpon::getPoolIndicesRules() {
  static const OpRule rules[] = {
      {.op = "max_pool_indices",
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kPoolAttrs,
       .infer = inferPool},
      {.op = "max_unpool",
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kUnpoolAttrs,
       .infer = inferUnpool},
  };
  return rules;
}
