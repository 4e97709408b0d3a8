//===- FusedOps.cpp - Products and convolutions with activations ----------===//
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

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
/// An activation by name, with the defaults of up to two parameters.
struct FusedActivation {
  StringRef name;
  float first, second;
  Value (*create)(OnnxNode &node, Value x, FloatAttr first, FloatAttr second);
};
} // namespace

template <typename OpTy>
static Value createPlain(OnnxNode &node, Value x, FloatAttr, FloatAttr) {
  return node.create<OpTy>(x);
}

template <typename OpTy>
static Value createWithOne(OnnxNode &node, Value x, FloatAttr first,
                           FloatAttr) {
  return node.create<OpTy>(x, first);
}

template <typename OpTy>
static Value createWithTwo(OnnxNode &node, Value x, FloatAttr first,
                           FloatAttr second) {
  return node.create<OpTy>(x, first, second);
}

static Value createClip(OnnxNode &node, Value x, FloatAttr low,
                        FloatAttr high) {
  OpBuilder &builder = node.getBuilder();
  return node.create<ClipOp>(x, builder.getF64FloatAttr(low.getValueAsDouble()),
                             builder.getF64FloatAttr(high.getValueAsDouble()));
}

/// The defaults are those of ONNX's operators.
static const FusedActivation kActivations[] = {
    {"Clip", std::numeric_limits<float>::lowest(),
     std::numeric_limits<float>::max(), createClip},
    {"Elu", 1, 0, createWithOne<EluOp>},
    {"HardSigmoid", 0.2f, 0.5f, createWithTwo<HardSigmoidOp>},
    {"LeakyRelu", 0.01f, 0, createWithOne<LeakyReluOp>},
    {"Relu", 0, 0, createPlain<ReluOp>},
    {"Selu", 1.67326319217681884765625f, 1.05070102214813232421875f,
     createWithTwo<SeluOp>},
    {"Sigmoid", 0, 0, createPlain<SigmoidOp>},
    {"Softplus", 0, 0, createPlain<SoftplusOp>},
    {"Softsign", 0, 0, createPlain<SoftsignOp>},
    {"Tanh", 0, 0, createPlain<TanhOp>},
    {"ThresholdedRelu", 1, 0, createWithOne<ThresholdedReluOp>},
};

/// Applies the node's activation, if it has one; its parameters are those that
/// `getParameter` returns for 0 and 1, given the defaults.
static Value activate(OnnxNode &node, Value x,
                      llvm::function_ref<float(size_t, float)> getParameter) {
  std::string name = node.getString("activation", "");
  if (name.empty() || !x)
    return x;
  const auto *activation =
      llvm::find_if(kActivations, [&](const FusedActivation &candidate) {
        return candidate.name == name;
      });
  if (activation == std::end(kActivations)) {
    node.emitError() << "the activation '" << name << "' is not supported";
    return nullptr;
  }
  OpBuilder &builder = node.getBuilder();
  return activation->create(
      node, x, builder.getF32FloatAttr(getParameter(0, activation->first)),
      builder.getF32FloatAttr(getParameter(1, activation->second)));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Adds input 3, which has the result's shape, before the activation.
void importFusedConv(OnnxNode &node) {
  Value result = createConv(node);
  if (node.hasInput(3) && result) {
    Value sum = node.create<AddOp>(result, node.getInput(3));
    if (sum && sum.getType() != result.getType()) {
      node.emitError() << "the input Z " << node.getInput(3).getType()
                       << " does not broadcast to " << result.getType();
      return;
    }
    result = sum;
  }
  SmallVector<float> parameters = node.getFloats("activation_params");
  node.setOutput(0, activate(node, result, [&](size_t index, float otherwise) {
                   return index < parameters.size() ? parameters[index]
                                                    : otherwise;
                 }));
}

/// The parameters keep the names of the activation's attributes, of which the
/// second is beta or gamma.
void importFusedGemm(OnnxNode &node) {
  auto getParameter = [&](size_t index, float otherwise) {
    if (index == 0)
      return node.getFloat("activation_alpha", otherwise);
    return node.getFloat(node.hasAttribute("activation_gamma")
                             ? "activation_gamma"
                             : "activation_beta",
                         otherwise);
  };
  node.setOutput(0, activate(node, createGemm(node), getParameter));
}

/// Returns an operand of FusedMatMul as MatMul takes it. With `batch`, the
/// first dimension lies among the last two, and the batch before it.
static Value orient(OnnxNode &node, Value value, bool swapped, bool batch) {
  auto rank = static_cast<int64_t>(getShape(value).size());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (batch && rank > 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (swapped && rank > 1)
    std::swap(order[rank - 2], order[rank - 1]);
  return llvm::is_sorted(order) ? value : node.transpose(value, order);
}

void importFusedMatMul(OnnxNode &node) {
  Value lhs = orient(node, node.getInput(0), node.getBool("transA", false),
                     node.getBool("transBatchA", false)),
        rhs = orient(node, node.getInput(1), node.getBool("transB", false),
                     node.getBool("transBatchB", false));
  Value product = multiplyMatrices(node, lhs, rhs);
  float alpha = node.getFloat("alpha", 1);
  if (product && alpha != 1)
    product = node.create<MulOp>(
        product,
        node.createFloat(alpha, getTensorType(product).getElementType()));
  node.setOutput(0, product);
}

} // namespace tarpon
