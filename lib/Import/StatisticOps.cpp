//===- StatisticOps.cpp - Import of norms with own statistics ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Operators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

/// Returns scale and, if present, bias: inputs 1 and 2.
static SmallVector<Value> getParameters(OnnxNode &node) {
  SmallVector<Value> parameters = {node.getInput(1)};
  if (node.hasInput(2))
    parameters.push_back(node.getInput(2));
  return parameters;
}

Value createLayerNorm(OnnxNode &node, Value input, ArrayRef<Value> parameters,
                      int64_t axis, float epsilon) {
  if (!input || llvm::is_contained(parameters, Value()))
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  SmallVector<Value> results = node.createSeveral<LayerNormOp, 0>(
      input, ValueRange(parameters), builder.getI64IntegerAttr(axis),
      builder.getF32FloatAttr(epsilon), UnitAttr());
  if (results.empty())
    return nullptr;
  return node.convert(results.front(), getTensorType(input).getElementType());
}

static void checkStashType(OnnxNode &node) {
  constexpr int64_t kFloat = 1;
  if (int64_t type = node.getInt("stash_type", kFloat); type != kFloat)
    node.emitError() << "statistics are computed in f32, but stash_type is "
                     << type;
}

void importLayerNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  OpBuilder &builder = node.getBuilder();
  auto rank = static_cast<int64_t>(getShape(input).size());
  int64_t axis = node.getAxis("axis", -1, rank);
  float epsilon = node.getFloat("epsilon", 1e-5f);
  checkStashType(node);
  // The outputs Mean and InvStdDev.
  bool statistics = node.isOutputUsed(1) || node.isOutputUsed(2);
  if (node.hasFailed())
    return;
  SmallVector<Value> parameters = getParameters(node);
  SmallVector<Value> results = node.createSeveral<LayerNormOp, 0>(
      input, ValueRange(parameters), builder.getI64IntegerAttr(axis),
      builder.getF32FloatAttr(epsilon),
      statistics ? builder.getUnitAttr() : UnitAttr());
  for (auto [index, result] : llvm::enumerate(results)) {
    // Statistics of f64 are stashed in f32 too.
    Type element = index == 0 ? getTensorType(input).getElementType()
                              : Type(builder.getF32Type());
    node.setOutput(index, node.convert(result, element));
  }
}

static void createGroupNorm(OnnxNode &node, Value input,
                            ArrayRef<Value> parameters, int64_t groups) {
  OpBuilder &builder = node.getBuilder();
  float epsilon = node.getFloat("epsilon", 1e-5f);
  if (!node.hasFailed())
    node.setOutput(0,
                   node.create<GroupNormOp>(input, ValueRange(parameters),
                                            builder.getI64IntegerAttr(groups),
                                            builder.getF32FloatAttr(epsilon)));
}

/// Each channel is a group of its own.
void importInstanceNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  if (getShape(input).size() < 2) {
    node.emitError() << "the input has rank " << getShape(input).size()
                     << ", expected 2 or more";
    return;
  }
  createGroupNorm(node, input, getParameters(node), getShape(input)[1]);
}

/// Repeats one value per group for each of its `size` channels.
static Value repeatForChannels(OnnxNode &node, Value groups, int64_t size) {
  int64_t count = getShape(groups).front();
  Value column = node.reshape(groups, {count, 1});
  Value repeated =
      node.create<ConcatOp>(ValueRange(SmallVector<Value>(size, column)),
                            node.getBuilder().getI64IntegerAttr(1));
  return node.reshape(repeated, {count * size});
}

/// Before opset 21, there is one scale and bias per group.
void importGroupNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  int64_t groups = node.getInt("num_groups", 0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    node.emitError() << "num_groups is " << groups
                     << ", which does not divide the channels";
  if (node.hasFailed())
    return;
  SmallVector<Value> parameters = getParameters(node);
  for (Value &parameter : parameters)
    if (node.getOpset() < 21 && groups != shape[1] &&
        getShape(parameter) == ArrayRef<int64_t>(groups))
      parameter = repeatForChannels(node, parameter, shape[1] / groups);
  if (!llvm::is_contained(parameters, Value()))
    createGroupNorm(node, input, parameters, groups);
}

/// Imports a layer normalisation of the dimensions in another order.
void importMeanVarianceNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  OpBuilder &builder = node.getBuilder();
  auto rank = static_cast<int64_t>(getShape(input).size());
  SmallVector<int64_t> given = {0, 2, 3};
  if (node.hasAttribute("axes"))
    given = node.getInts("axes");
  std::optional<SmallVector<int64_t>> axes = node.normalizeAxes(given, rank);
  if (!axes || node.hasFailed())
    return;
  SmallVector<int64_t> order, back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(*axes, dim))
      order.push_back(dim);
  auto axis = static_cast<int64_t>(order.size());
  order.append(*axes);
  for (auto [place, dim] : llvm::enumerate(order))
    back[dim] = static_cast<int64_t>(place);
  // The operator adds 1e-9 to the deviation.
  constexpr float kEpsilon = 1e-18f;
  Value moved =
      node.create<TransposeOp>(input, builder.getDenseI64ArrayAttr(order));
  SmallVector<Value> results = node.createSeveral<LayerNormOp, 0>(
      moved, ValueRange(), builder.getI64IntegerAttr(axis),
      builder.getF32FloatAttr(kEpsilon), UnitAttr());
  if (!results.empty())
    node.setOutput(0, node.create<TransposeOp>(
                          results.front(), builder.getDenseI64ArrayAttr(back)));
}

/// Divides by the root of the mean square over all dimensions from axis on.
Value createRmsNorm(OnnxNode &node, Value input, Value scale, int64_t axis,
                    float epsilon) {
  if (!input)
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  Type elementType = getTensorType(input).getElementType();
  auto rank = static_cast<int64_t>(getShape(input).size());
  Value x = node.convert(input, builder.getF32Type());
  Value mean =
      node.create<ReduceMeanOp>(node.create<MulOp>(x, x),
                                builder.getDenseI64ArrayAttr(llvm::to_vector(
                                    llvm::seq<int64_t>(axis, rank))),
                                builder.getBoolAttr(true));
  Value root = node.create<SqrtOp>(node.create<AddOp>(
      mean, node.createFloat(epsilon, builder.getF32Type())));
  Value normal = node.convert(node.create<DivOp>(x, root), elementType);
  return node.create<MulOp>(normal, scale);
}

void importRMSNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  auto rank = static_cast<int64_t>(getShape(input).size());
  int64_t axis = node.getAxis("axis", -1, rank);
  float epsilon = node.getFloat("epsilon", 1e-5f);
  checkStashType(node);
  if (node.hasFailed())
    return;
  node.setOutput(0,
                 createRmsNorm(node, input, node.getInput(1), axis, epsilon));
}

/// The name that ONNX Runtime had for RMSNormalization, in ONNX's domain.
void importSimplifiedLayerNormalization(OnnxNode &node) {
  importRMSNormalization(node);
}

/// Divides by a norm; a norm of 0 gives 0.
void importLpNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  OpBuilder &builder = node.getBuilder();
  Type elementType = getTensorType(input).getElementType();
  int64_t axis = node.getAxis("axis", -1, getShape(input).size());
  int64_t p = node.getInt("p", 2);
  if (p != 1 && p != 2)
    node.emitError() << "attribute 'p' is " << p << ", expected 1 or 2";
  if (node.hasFailed())
    return;
  DenseI64ArrayAttr axes = builder.getDenseI64ArrayAttr({axis});
  BoolAttr keepDims = builder.getBoolAttr(true);
  Value norm = p == 1 ? node.create<ReduceL1Op>(input, axes, keepDims)
                      : node.create<ReduceL2Op>(input, axes, keepDims);
  Value zero = node.createNumber(0, elementType);
  Value isZero =
      node.convert(node.create<EqualOp>(norm, zero), builder.getI1Type());
  node.setOutput(
      0, node.create<WhereOp>(isZero, zero, node.create<DivOp>(input, norm)));
}

void importLogSoftmax(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  bool isFlat = node.getOpset() < 13;
  int64_t axis = node.getAxis("axis", isFlat ? 1 : -1, shape.size());
  if (node.hasFailed())
    return;
  IntegerAttr attr = node.getBuilder().getI64IntegerAttr(axis);
  if (!isFlat)
    return node.setOutput(0, node.create<LogSoftmaxOp>(input, attr));
  // Before opset 13, all dimensions from axis on are flattened to one.
  IntegerAttr last = node.getBuilder().getI64IntegerAttr(1);
  Value flat = node.reshape(input, {multiply(shape.take_front(axis)),
                                    multiply(shape.drop_front(axis))});
  node.setOutput(0, node.reshape(node.create<LogSoftmaxOp>(flat, last), shape));
}

} // namespace tarpon
