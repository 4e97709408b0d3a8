//===- ElementwiseOps.cpp - Import of elementwise operators -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tarpon {

template <typename OpTy>
static void importBinary(OnnxNode &node) {
  node.setOutput(0, node.create<OpTy>(node.getInput(0), node.getInput(1)));
}

void importAdd(OnnxNode &node) { importBinary<AddOp>(node); }
void importSub(OnnxNode &node) { importBinary<SubOp>(node); }
void importMul(OnnxNode &node) { importBinary<MulOp>(node); }
void importDiv(OnnxNode &node) { importBinary<DivOp>(node); }

void importSum(OnnxNode &node) {
  Value sum = node.getInput(0);
  for (unsigned i = 1; i < node.getNumInputs(); ++i)
    sum = node.create<AddOp>(sum, node.getInput(i));
  node.setOutput(0, sum);
}

void importRelu(OnnxNode &node) {
  node.setOutput(0, node.create<ReluOp>(node.getInput(0)));
}

void importSigmoid(OnnxNode &node) {
  node.setOutput(0, node.create<SigmoidOp>(node.getInput(0)));
}

void importHardSwish(OnnxNode &node) {
  node.setOutput(0, node.create<HardSwishOp>(node.getInput(0)));
}

void importLeakyRelu(OnnxNode &node) {
  FloatAttr alpha =
      node.getBuilder().getF32FloatAttr(node.getFloat("alpha", 0.01f));
  node.setOutput(0, node.create<LeakyReluOp>(node.getInput(0), alpha));
}

void importHardSigmoid(OnnxNode &node) {
  OpBuilder &builder = node.getBuilder();
  FloatAttr alpha = builder.getF32FloatAttr(node.getFloat("alpha", 0.2f));
  FloatAttr beta = builder.getF32FloatAttr(node.getFloat("beta", 0.5f));
  node.setOutput(0, node.create<HardSigmoidOp>(node.getInput(0), alpha, beta));
}

/// A bound of Clip: an attribute before opset 11, an optional input since.
static double readBound(OnnxNode &node, StringRef name, unsigned input,
                        double absent) {
  if (node.hasInput(input))
    return node.getConstantNumber(input, "the bound").value_or(absent);
  if (!node.hasAttribute(name))
    return absent;
  return node.getFloat(name, 0.0f);
}

void importClip(OnnxNode &node) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low = readBound(node, "min", 1, -infinity);
  double high = readBound(node, "max", 2, infinity);
  if (std::isnan(low) || std::isnan(high))
    node.emitError() << "a bound is NaN";
  if (node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value input = node.getInput(0);
  // Without bounds there is nothing to do.
  if (low == -infinity && high == infinity)
    return node.setOutput(0, input);
  node.setOutput(0, node.create<ClipOp>(input, builder.getF64FloatAttr(low),
                                        builder.getF64FloatAttr(high)));
}

} // namespace tarpon
