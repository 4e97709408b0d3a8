//===- NormOps.cpp - Import of normalisations -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Operators.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;

namespace tarpon {

/// Training exists since opset 14; the outputs are the result and the new
/// running statistics, whose variance divides by the number of elements.
static void importBatchNormTraining(OnnxNode &node) {
  OpBuilder &builder = node.getBuilder();
  FloatAttr epsilon = builder.getF32FloatAttr(node.getFloat("epsilon", 1e-5f));
  FloatAttr factor =
      builder.getF32FloatAttr(1 - node.getFloat("momentum", 0.9f));
  if (node.hasFailed())
    return;
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < 5; ++i)
    inputs.push_back(node.getInput(i));
  SmallVector<Value> results = node.createSeveral<BatchNormTrainingOp, 5>(
      inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], epsilon, factor,
      builder.getBoolAttr(false), builder.getBoolAttr(true));
  if (results.empty())
    return;
  node.setOutput(0, results[0]);
  constexpr unsigned kRunning = 3; // behind the statistics of the batch
  for (unsigned i = 0; i < 2; ++i)
    node.setOutput(1 + i,
                   node.convert(results[kRunning + i],
                                getTensorType(inputs[3 + i]).getElementType()));
}

void importBatchNormalization(OnnxNode &node) {
  Value input = node.getInput(0);
  float epsilon = node.getFloat("epsilon", 1e-5f);
  if (node.getBool("training_mode", false))
    return importBatchNormTraining(node);
  if (!node.getBool("spatial", true)) {
    node.emitError() << "batch normalisation with spatial = 0 is not supported";
    return;
  }
  for (unsigned i = 1; i < node.getNumOutputs(); ++i)
    if (node.isOutputUsed(i)) {
      node.emitError() << "output " << i
                       << " exists in training only, which is not supported";
      return;
    }
  if (node.hasFailed())
    return;
  node.setOutput(
      0, node.create<BatchNormOp>(input, node.getInput(1), node.getInput(2),
                                  node.getInput(3), node.getInput(4),
                                  node.getBuilder().getF32FloatAttr(epsilon)));
}

/// Before opset 13, all dimensions from axis on are flattened to one.
static Value createFlatSoftmax(OnnxNode &node, Value input, int64_t axis) {
  ArrayRef<int64_t> shape = getShape(input);
  IntegerAttr last = node.getBuilder().getI64IntegerAttr(1);
  Value flat = node.reshape(input, {multiply(shape.take_front(axis)),
                                    multiply(shape.drop_front(axis))});
  return node.reshape(node.create<SoftmaxOp>(flat, last), shape);
}

Value createSoftmax(OnnxNode &node, Value input, int64_t opset,
                    int64_t defaultAxis) {
  ArrayRef<int64_t> shape = getShape(input);
  bool isFlat = opset < 13;
  int64_t axis = node.getAxis("axis", defaultAxis, shape.size());
  if (node.hasFailed())
    return nullptr;
  auto isOne = [](int64_t size) { return size == 1; };
  if (isFlat && !llvm::all_of(shape.drop_front(axis + 1), isOne))
    return createFlatSoftmax(node, input, axis);
  return node.create<SoftmaxOp>(input,
                                node.getBuilder().getI64IntegerAttr(axis));
}

void importSoftmax(OnnxNode &node) {
  int64_t opset = node.getOpset();
  node.setOutput(
      0, createSoftmax(node, node.getInput(0), opset, opset < 13 ? 1 : -1));
}

void importLRN(OnnxNode &node) {
  OpBuilder &builder = node.getBuilder();
  if (!node.hasAttribute("size")) {
    node.emitError() << "attribute 'size' is missing";
    return;
  }
  int64_t size = node.getInt("size", 1);
  if (size < 1 || size > std::numeric_limits<int32_t>::max()) {
    node.emitError() << "attribute 'size' is " << size
                     << ", which is out of range";
    return;
  }
  FloatAttr alpha = builder.getF32FloatAttr(node.getFloat("alpha", 1e-4f));
  FloatAttr beta = builder.getF32FloatAttr(node.getFloat("beta", 0.75f));
  FloatAttr bias = builder.getF32FloatAttr(node.getFloat("bias", 1.0f));
  node.setOutput(0, node.create<LrnOp>(node.getInput(0),
                                       builder.getI64IntegerAttr(size), alpha,
                                       beta, bias));
}

/// In training, Dropout is still the identity at a ratio of 0.
static bool isTraining(OnnxNode &node) {
  if (!node.hasInput(2))
    return false;
  std::optional<double> training =
      node.getConstantNumber(2, "the input training_mode");
  if (!training || *training == 0)
    return false;
  std::optional<double> ratio = 0.5;
  if (node.hasInput(1))
    ratio = node.getConstantNumber(1, "the input ratio");
  return ratio && *ratio != 0;
}

void importDropout(OnnxNode &node) {
  Value input = node.getInput(0);
  if (isTraining(node))
    node.emitError() << "training-mode dropout is not supported";
  if (node.hasFailed())
    return;
  node.setOutput(0, input);
  if (!node.isOutputUsed(1))
    return;
  // Nothing is dropped, so that the mask is all true; before opset 10 it has
  // the type of the input.
  Type elementType = getTensorType(input).getElementType();
  if (node.getOpset() >= 10)
    elementType = node.getBuilder().getI1Type();
  Value mask = node.createFloat(1.0, node.getBuilder().getF32Type());
  node.setOutput(1,
                 node.splat(node.convert(mask, elementType), getShape(input)));
}

} // namespace tarpon
