//===- SampleRules.cpp - Rules of elements between those of images --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   grid_sample(x, grid)->y {mode padding align_corners}
//   roi_align(x, corners, images)->y {sizes samples scale half_pixel takes_max}
//   non_max_suppression(boxes, scores, order)->(selected, count) {limit
//   most_overlap least_score has_least center_point}
//
// Images, order, selected and count are of i64; see tarpon.grid_sample,
// tarpon.roi_align and tarpon.non_max_suppression.
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

static bool isI64(const TensorDesc &desc) {
  return desc.dtype == DType::I64 && !desc.quantized;
}

static bool isReal(const TensorDesc &desc) {
  return desc.quantized || isFloat(desc.dtype);
}

static std::string inferGridSample(const Problem &problem,
                                   std::vector<Shape> &results) {
  constexpr int64_t kModes = 3, kPaddings = 3;
  const TensorDesc &input = problem.operands[0], &grid = problem.operands[1];
  if (problem.integer("mode") >= kModes ||
      problem.integer("padding") >= kPaddings)
    return "grid_sample has an unknown mode";
  if (!isReal(grid))
    return "grid_sample has a grid that is not of floats";
  std::optional<Shape> shape = sampleShape(input.shape, grid.shape);
  if (!shape)
    return formatv("grid_sample has a grid of {0} for images of {1}",
                   printShape(grid.shape), printShape(input.shape));
  results.push_back(*shape);
  return "";
}

static std::string inferRoiAlign(const Problem &problem,
                                 std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0], &corners = problem.operands[1],
                   &images = problem.operands[2];
  if (!isReal(corners))
    return "roi_align has corners that are not of floats";
  if (!isI64(images) || images.rank() != 1)
    return "roi_align has images that are not i64 of rank 1";
  int64_t expected[] = {images.shape[0], 4};
  if (ArrayRef(corners.shape) != ArrayRef(expected))
    return formatv("roi_align has corners of {0}, expected {1}",
                   printShape(corners.shape), printShape(expected));
  std::vector<int64_t> sizes = problem.ints("sizes");
  results.push_back({images.shape[0], input.shape[1], sizes[0], sizes[1]});
  return "";
}

static std::string inferNonMaxSuppression(const Problem &problem,
                                          std::vector<Shape> &results) {
  const TensorDesc &boxes = problem.operands[0], &scores = problem.operands[1],
                   &order = problem.operands[2];
  if (scores.rank() != 3 || !isReal(scores))
    return "non_max_suppression has scores that are not floats of rank 3";
  int64_t expected[] = {scores.shape[0], scores.shape[2], 4};
  if (ArrayRef(boxes.shape) != ArrayRef(expected))
    return formatv("non_max_suppression has boxes of {0}, expected {1}",
                   printShape(boxes.shape), printShape(expected));
  if (!isI64(order) || order.shape != scores.shape)
    return formatv("non_max_suppression has no order of i64 and {0}",
                   printShape(scores.shape));
  for (int64_t i = 0; i < problem.numResults(); ++i)
    if (!isI64(problem.getResult(i)))
      return "non_max_suppression has a result that is not of i64";
  if (!problem.epilogue.empty())
    return "non_max_suppression has an epilogue";
  results = {suppressShape(scores.shape, problem.integer("limit")), {1}};
  return "";
}

static constexpr AttrRule kGridSampleAttrs[] = {
    {"mode", Count::One, true, 0},
    {"padding", Count::One, true, 0},
    {"align_corners", Count::One, true, 0}};
static constexpr AttrRule kRoiAlignAttrs[] = {
    {"sizes", Count::Spatial, true, 1},
    {"samples", Count::One, true, 0},
    {"scale", Count::One, false},
    {"half_pixel", Count::One, true, 0},
    {"takes_max", Count::One, true, 0}};
static constexpr AttrRule kNonMaxSuppressionAttrs[] = {
    {"limit", Count::One, true, 1},
    {"most_overlap", Count::One, false},
    {"least_score", Count::One, false},
    {"has_least", Count::One, true, 0},
    {"center_point", Count::One, true, 0}};

ArrayRef<OpRule> tarpon::getSampleRules() {
  static const OpRule rules[] = {
      {.op = OpKind::GridSample,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kGridSampleAttrs,
       .needsFloats = true,
       .infer = inferGridSample},
      {.op = OpKind::RoiAlign,
       .leastOperands = 3,
       .mostOperands = 3,
       .leastRank = 4,
       .mostRank = 4,
       .attrs = kRoiAlignAttrs,
       .needsFloats = true,
       .infer = inferRoiAlign},
      {.op = OpKind::NonMaxSuppression,
       .leastOperands = 3,
       .mostOperands = 3,
       .leastRank = 3,
       .mostRank = 3,
       .attrs = kNonMaxSuppressionAttrs,
       .needsFloats = true,
       .infer = inferNonMaxSuppression},
  };
  return rules;
}
