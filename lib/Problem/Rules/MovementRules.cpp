//===- MovementRules.cpp - Rules of operations that move data -------------===//
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

static std::string inferConcat(const Problem &problem,
                               std::vector<Shape> &results) {
  const TensorDesc &first = problem.operands[0];
  int64_t axis = problem.integer("axis");
  if (axis >= first.rank())
    return formatv("concat has the axis {0} of rank {1}", axis, first.rank());
  Shape &shape = results.emplace_back(ArrayRef(first.shape));
  for (const TensorDesc &operand : getRootOperands(problem).drop_front())
    if (!concatShape(shape, operand.shape, axis))
      return formatv("concat has operands that differ beside axis {0}", axis);
  return "";
}

static std::string inferTranspose(const Problem &problem,
                                  std::vector<Shape> &results) {
  std::optional<Shape> shape =
      permuteShape(problem.operands[0].shape, problem.ints("permutation"));
  if (!shape)
    return "transpose has no permutation of its dimensions";
  results.push_back(*shape);
  return "";
}

static std::string inferPad(const Problem &problem,
                            std::vector<Shape> &results) {
  enum Mode : int64_t { Constant, Edge, Reflect, Wrap };
  int64_t mode = problem.integer("mode");
  if (mode > Wrap)
    return formatv("pad has the mode {0}, expected 0 to 3", mode);
  std::vector<int64_t> pads = problem.ints("pads");
  ArrayRef<int64_t> shape = problem.operands[0].shape;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t most = std::max(pads[dim], pads[shape.size() + dim]);
    if (mode == Reflect && !canReflect(size, most))
      return formatv("pad reflects {0} cells of {1}", most, size);
  }
  results.push_back(padShape(shape, pads));
  return "";
}

/// The shape is that of the result, since no operand has it.
static std::string inferReshape(const Problem &problem,
                                std::vector<Shape> &results) {
  results.emplace_back(ArrayRef(problem.result.shape));
  int64_t elements = problem.operands[0].numElements();
  if (elements == problem.result.numElements())
    return "";
  return formatv("reshape makes {0} elements of {1}",
                 problem.result.numElements(), elements);
}

static std::string inferShuffle(const Problem &problem,
                                std::vector<Shape> &results) {
  int64_t group = problem.integer("group"),
          channels = problem.operands[0].shape[1];
  if (!isGroupOf(group, channels, channels))
    return formatv("shuffle_channels has {0} groups of {1} channels", group,
                   channels);
  return inferSame(problem, results);
}

static constexpr AttrRule kConcatAttrs[] = {attr::axis};
static constexpr AttrRule kTransposeAttrs[] = {
    {"permutation", Count::Rank, true, 0}};
static constexpr AttrRule kPadAttrs[] = {{"pads", Count::RankTwice, true},
                                         {"mode", Count::One, true, 0},
                                         {"value", Count::One, false}};
static constexpr AttrRule kShuffleAttrs[] = {attr::group};

ArrayRef<OpRule> tarpon::getMovementRules() {
  static const OpRule rules[] = {
      {.op = OpKind::Concat,
       .mostOperands = INT_MAX,
       .attrs = kConcatAttrs,
       .infer = inferConcat},
      {.op = OpKind::Convert, .followsResult = true, .infer = inferSame},
      {.op = OpKind::Pad, .attrs = kPadAttrs, .infer = inferPad},
      {.op = OpKind::Reshape, .infer = inferReshape},
      {.op = OpKind::ShuffleChannels,
       .leastRank = 2,
       .attrs = kShuffleAttrs,
       .infer = inferShuffle},
      {.op = OpKind::Transpose,
       .attrs = kTransposeAttrs,
       .infer = inferTranspose},
  };
  return rules;
}
