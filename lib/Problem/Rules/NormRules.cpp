//===- NormRules.cpp - Rules of normalisations ----------------------------===//
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
// Parts
//===----------------------------------------------------------------------===//

/// Checks that root operands `first` to `last` have that shape.
static std::string checkParameters(const Problem &problem, int first, int last,
                                   ArrayRef<int64_t> shape) {
  for (int i = first; i <= std::min(last, problem.rootOperands - 1); ++i) {
    const TensorDesc &desc = problem.operands[i];
    if (ArrayRef(desc.shape) != shape)
      return formatv("{0} has a parameter of {1}, expected {2}", problem.op,
                     printShape(desc.shape), printShape(shape));
    if (!isFloat(desc.dtype))
      return formatv("{0} has a parameter that is not of floats", problem.op);
  }
  return "";
}

/// Statistics are not rounded, since other values are computed from them.
static std::string checkStatistics(const Problem &problem) {
  DType expected =
      problem.operands[0].dtype == DType::F64 ? DType::F64 : DType::F32;
  for (const TensorDesc &desc : problem.moreResults)
    if (desc.dtype != expected)
      return formatv("{0} has a statistic that is not of {1}", problem.op,
                     std::string(runtime::dtypeName(expected)));
  return "";
}

static bool isFlag(const Problem &problem, StringRef name) {
  int64_t value = problem.integer(name);
  return value == 0 || value == 1;
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

/// The statistics are operands, as in models.
static std::string inferBatchNorm(const Problem &problem,
                                  std::vector<Shape> &results) {
  int64_t channels = problem.operands[0].shape[1];
  for (const TensorDesc &operand : getRootOperands(problem).drop_front())
    if (ArrayRef(operand.shape) != ArrayRef(channels))
      return formatv("batch_norm has a parameter of {0} elements, expected {1}",
                     printShape(operand.shape), channels);
  return inferSame(problem, results);
}

static std::string inferBatchNormTraining(const Problem &problem,
                                          std::vector<Shape> &results) {
  if (problem.rootOperands == 4)
    return "batch_norm_training has 4 operands, expected 3 or 5";
  if (!isFlag(problem, "spatial"))
    return "batch_norm_training is neither spatial nor not";
  bool runs = problem.rootOperands == 5;
  for (StringRef name : {"factor", "unbiased"})
    if (runs && (!problem.attrs.count(name.str()) ||
                 problem.attrs.at(name.str()).size() != 1))
      return formatv("batch_norm_training lacks the attribute {0}", name);
  Shape stats = getBatchStatistics(problem.operands[0].shape,
                                   problem.integer("spatial") != 0);
  results.emplace_back(ArrayRef(problem.operands[0].shape));
  results.insert(results.end(), runs ? 4 : 2, stats);
  std::string fault = checkParameters(problem, 1, 4, stats);
  return fault.empty() ? checkStatistics(problem) : fault;
}

static std::string inferPerActivation(const Problem &problem,
                                      std::vector<Shape> &results) {
  ArrayRef<int64_t> shape = problem.operands[0].shape;
  results.emplace_back(shape);
  return checkParameters(problem, 1, 4,
                         getBatchStatistics(shape, /*isSpatial=*/false));
}

static std::string inferBatchNormBackward(const Problem &problem,
                                          std::vector<Shape> &results) {
  if (problem.rootOperands == 4)
    return "batch_norm_backward has 4 operands, expected 3 or 5";
  if (!isFlag(problem, "spatial"))
    return "batch_norm_backward is neither spatial nor not";
  Shape shape(ArrayRef(problem.operands[0].shape));
  if (problem.operands[1].shape != problem.operands[0].shape)
    return "batch_norm_backward has a gradient of another shape than its "
           "operand";
  Shape stats = getBatchStatistics(problem.operands[0].shape,
                                   problem.integer("spatial") != 0);
  results.push_back(shape);
  results.insert(results.end(), 2, stats);
  std::string fault = checkParameters(problem, 2, 4, stats);
  return fault.empty() ? checkStatistics(problem) : fault;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Operands and result have one shape: the forward operand, or result, and the
/// gradient.
static std::string inferGradient(const Problem &problem,
                                 std::vector<Shape> &results) {
  if (problem.operands[1].shape != problem.operands[0].shape)
    return formatv("{0} has a gradient of another shape than its operand",
                   problem.op);
  results.emplace_back(ArrayRef(problem.operands[0].shape));
  return "";
}

//===----------------------------------------------------------------------===//
// Layer and group normalisation
//===----------------------------------------------------------------------===//

static std::string inferLayerNorm(const Problem &problem,
                                  std::vector<Shape> &results) {
  Shape shape(ArrayRef(problem.operands[0].shape));
  int64_t axis = problem.integer("axis");
  if (axis >= static_cast<int64_t>(shape.size()))
    return formatv("layer_norm has the axis {0} of rank {1}", axis,
                   shape.size());
  results.push_back(shape);
  for (const TensorDesc &desc :
       ArrayRef(problem.operands).slice(1, problem.rootOperands - 1)) {
    if (!broadcastsTo(desc.shape, ArrayRef(shape).drop_front(axis)))
      return formatv("layer_norm has a parameter of {0} that does not "
                     "broadcast to the normalised dimensions",
                     printShape(desc.shape));
    if (!isFloat(desc.dtype))
      return "layer_norm has a parameter that is not of floats";
  }
  if (problem.numResults() > 1)
    results.insert(results.end(), 2, getRowStatistics(shape, axis));
  return checkStatistics(problem);
}

static std::string inferGroupNorm(const Problem &problem,
                                  std::vector<Shape> &results) {
  const std::vector<int64_t> &shape = problem.operands[0].shape;
  int64_t groups = problem.integer("groups");
  if (!isGroupOf(groups, shape[1], shape[1]))
    return formatv("group_norm has {0} groups of {1} channels", groups,
                   shape[1]);
  results.emplace_back(ArrayRef(shape));
  if (problem.numResults() > 1)
    results.insert(results.end(), 2, Shape{shape[0], groups});
  std::string fault = checkParameters(problem, 1, 2, shape[1]);
  return fault.empty() ? checkStatistics(problem) : fault;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr AttrRule kBatchAttrs[] = {attr::epsilon,
                                           {"spatial", Count::One, true, 0}};
static constexpr AttrRule kEpsilonAttrs[] = {attr::epsilon};
static constexpr AttrRule kLrnAttrs[] = {{"size", Count::One, true, 1},
                                         {"alpha", Count::One, false},
                                         {"beta", Count::One, false},
                                         {"bias", Count::One, false}};
static constexpr AttrRule kAxisAttrs[] = {attr::axis};
static constexpr AttrRule kLayerAttrs[] = {attr::epsilon, attr::axis};
static constexpr AttrRule kGroupAttrs[] = {attr::epsilon,
                                           {"groups", Count::One, true, 1}};

ArrayRef<OpRule> tarpon::getNormRules() {
  static const OpRule rules[] = {
      {.op = OpKind::BatchNorm,
       .leastOperands = 5,
       .mostOperands = 5,
       .leastRank = 2,
       .attrs = kEpsilonAttrs,
       .isReal = true,
       .positiveOperands = 1 << 4,
       .infer = inferBatchNorm},
      {.op = OpKind::BatchNormTraining,
       .leastOperands = 3,
       .mostOperands = 5,
       .leastRank = 2,
       .attrs = kBatchAttrs,
       .isReal = true,
       .infer = inferBatchNormTraining},
      {.op = OpKind::BatchNormPerActivation,
       .leastOperands = 5,
       .mostOperands = 5,
       .leastRank = 2,
       .attrs = kEpsilonAttrs,
       .isReal = true,
       .positiveOperands = 1 << 4,
       .infer = inferPerActivation},
      {.op = OpKind::BatchNormBackward,
       .leastOperands = 3,
       .mostOperands = 5,
       .leastRank = 2,
       .attrs = kBatchAttrs,
       .isReal = true,
       .infer = inferBatchNormBackward},
      {.op = OpKind::Lrn,
       .leastRank = 3,
       .attrs = kLrnAttrs,
       .isReal = true,
       .infer = inferSame},
      {.op = OpKind::LrnBackward,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .attrs = kLrnAttrs,
       .isReal = true,
       .infer = inferGradient},
      {.op = OpKind::Softmax,
       .attrs = kAxisAttrs,
       .isReal = true,
       .infer = inferAlongAxis},
      {.op = OpKind::LogSoftmax,
       .leastRank = 1,
       .attrs = kAxisAttrs,
       .isReal = true,
       .infer = inferAlongAxis},
      {.op = OpKind::SoftmaxBackward,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 1,
       .attrs = kAxisAttrs,
       .isReal = true,
       .infer = inferAlongAxis},
      {.op = OpKind::LogSoftmaxBackward,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 1,
       .attrs = kAxisAttrs,
       .isReal = true,
       .infer = inferAlongAxis},
      {.op = OpKind::LayerNorm,
       .mostOperands = 3,
       .leastRank = 1,
       .attrs = kLayerAttrs,
       .isReal = true,
       .infer = inferLayerNorm},
      {.op = OpKind::GroupNorm,
       .mostOperands = 3,
       .leastRank = 2,
       .attrs = kGroupAttrs,
       .isReal = true,
       .infer = inferGroupNorm},
  };
  return rules;
}
