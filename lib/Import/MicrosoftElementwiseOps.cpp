//===- MicrosoftElementwiseOps.cpp - Fused elementwise operators ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

using namespace mlir;

namespace tarpon {

/// The sum of the inputs 0 and 1, of which the second may be left out; null,
/// after an error, unless it has the shape of the first.
static Value addBias(OnnxNode &node) {
  Value input = node.getInput(0);
  if (!node.hasInput(1))
    return input;
  Value sum = node.create<AddOp>(input, node.getInput(1));
  if (!sum || sum.getType() == input.getType())
    return sum;
  node.emitError() << "the bias " << node.getInput(1).getType()
                   << " does not broadcast to " << input.getType();
  return nullptr;
}

void importFastGelu(OnnxNode &node) {
  node.setOutput(0, node.create<GeluTanhOp>(addBias(node)));
}

void importBiasGelu(OnnxNode &node) {
  node.setOutput(0, node.create<GeluOp>(addBias(node)));
}

/// x * sigmoid(alpha * x)
void importQuickGelu(OnnxNode &node) {
  FloatAttr alpha =
      node.getBuilder().getF32FloatAttr(node.getFloat("alpha", 1.702f));
  node.setOutput(0, node.create<SwishOp>(node.getInput(0), alpha));
}

void importBiasAdd(OnnxNode &node) {
  node.setOutput(0, node.create<AddOp>(addBias(node), node.getInput(2)));
}

/// The left half of the channels times Gelu of the right half.
void importBiasSplitGelu(OnnxNode &node) {
  Value sum = addBias(node);
  if (!sum)
    return;
  int64_t axis = static_cast<int64_t>(getShape(sum).size()) - 1;
  if (axis < 0 || getShape(sum)[axis] % 2 != 0) {
    node.emitError() << "the channels of " << sum.getType()
                     << " cannot be halved";
    return;
  }
  int64_t half = getShape(sum)[axis] / 2;
  node.setOutput(0, node.create<MulOp>(node.slice(sum, axis, 0, half),
                                       node.create<GeluOp>(
                                           node.slice(sum, axis, half, half))));
}

void importExpandDims(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<double> given = node.getConstantNumber(1, "the axis");
  if (!given)
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t axis = node.normalizeAxis(static_cast<int64_t>(*given),
                                    static_cast<int64_t>(shape.size()) + 1);
  if (node.hasFailed())
    return;
  shape.insert(shape.begin() + axis, 1);
  node.setOutput(0, node.reshape(input, shape));
}

} // namespace tarpon
