//===- ResizeRules.cpp - Rules of interpolations --------------------------===//
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

static std::string inferResize(const Problem &problem,
                               std::vector<Shape> &results) {
  constexpr int64_t kModes = 3, kCoordinates = 7, kRoundings = 4, kCrop = 5;
  const TensorDesc &input = problem.operands[0];
  size_t rank = input.shape.size();
  int64_t mode = problem.integer("mode"),
          coordinates = problem.integer("coordinates");
  if (mode >= kModes || coordinates >= kCoordinates ||
      problem.integer("rounding") >= kRoundings)
    return "resize has an unknown mode";
  auto roi = problem.attrs.find("roi");
  size_t entries = roi == problem.attrs.end() ? 1 : roi->second.size();
  if (entries != 0 && entries != 2 * rank)
    return formatv("resize lacks a region of 0 or {0} numbers", 2 * rank);
  if ((mode > 0 || coordinates == kCrop) && !isFloat(computeKindOf(problem)))
    return "resize interpolates integers";
  std::vector<int64_t> sizes = problem.ints("sizes");
  results.emplace_back(ArrayRef(sizes));
  if (input.layout.kind != Layout::NCHW &&
      !keepsChannels(input.shape, sizes, problem.attrs.at("scales"),
                     entries != 0))
    return "resize changes batch or channels of a tensor that is not in nchw";
  return "";
}

static constexpr AttrRule kAttrs[] = {{"sizes", Count::Rank, true, 1},
                                      {"scales", Count::Rank, false, 1e-9},
                                      {"mode", Count::One, true, 0},
                                      {"coordinates", Count::One, true, 0},
                                      {"rounding", Count::One, true, 0},
                                      {"cubic_a", Count::One, false},
                                      {"exclude_outside", Count::One, true, 0},
                                      {"extrapolation", Count::One, false}};

ArrayRef<OpRule> tarpon::getResizeRules() {
  static const OpRule rules[] = {
      {.op = OpKind::Resize, .attrs = kAttrs, .infer = inferResize},
  };
  return rules;
}
