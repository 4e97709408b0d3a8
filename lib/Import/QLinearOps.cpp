//===- QLinearOps.cpp - Import of ONNX Runtime's quantised operators ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor, its scale and its zero point are three inputs that follow each
// other; the scale and the zero point of the result come last.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "OpTable.h"
#include "Operators.h"
#include "Quantization.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

/// Returns the tensor at input `index` and the two behind it in f32.
static Value readOperand(OnnxNode &node, unsigned index) {
  return dequantizeWhole(node, index, index + 1, index + 2);
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// Sets the output to what `compute` makes of the only operand.
static void importUnary(OnnxNode &node,
                        llvm::function_ref<Value(Value)> compute) {
  Value input = requireInputs(node, {3}) ? readOperand(node, 0) : Value();
  if (input && !node.hasFailed())
    setQuantized(node, compute(input), 3, 4);
}

void importQLinearSigmoid(OnnxNode &node) {
  importUnary(node, [&](Value x) { return node.create<SigmoidOp>(x); });
}

void importQLinearLeakyRelu(OnnxNode &node) {
  importUnary(node, [&](Value x) {
    return node.create<LeakyReluOp>(
        x, node.getBuilder().getF32FloatAttr(node.getFloat("alpha", 0.01f)));
  });
}

void importQLinearSoftmax(OnnxNode &node) {
  importUnary(node, [&](Value x) {
    return createSoftmax(node, x, node.getInt("opset", node.getOpset()),
                         /*defaultAxis=*/-1);
  });
}

/// Applies a pool to batch x channels x positions.
static void importPool(OnnxNode &node,
                       llvm::function_ref<Value(Value)> compute) {
  bool isLast = node.getBool("channels_last", false);
  importUnary(node, [&](Value x) {
    if (!isLast)
      return compute(x);
    Value result = compute(moveChannels(node, x, /*toLast=*/false));
    return moveChannels(node, result, /*toLast=*/true);
  });
}

void importQLinearAveragePool(OnnxNode &node) {
  importPool(node, [&](Value x) { return createAveragePool(node, x); });
}

void importQLinearGlobalAveragePool(OnnxNode &node) {
  importPool(node, [&](Value x) { return node.create<GlobalAvgPoolOp>(x); });
}

void importQLinearReduceMean(OnnxNode &node) {
  if (!node.hasAttribute("axes")) {
    node.emitError() << "attribute 'axes' is missing";
    return;
  }
  importUnary(node, [&](Value x) -> Value {
    OpBuilder &builder = node.getBuilder();
    std::optional<SmallVector<int64_t>> axes = node.normalizeAxes(
        node.getInts("axes"), static_cast<int64_t>(getShape(x).size()));
    if (!axes)
      return nullptr;
    return node.create<ReduceMeanOp>(
        x, builder.getDenseI64ArrayAttr(*axes),
        builder.getBoolAttr(node.getBool("keepdims", true)));
  });
}

/// The greatest of quantised values is that of their integers.
void importNhwcMaxPool(OnnxNode &node) {
  Value input = moveChannels(node, node.getInput(0), /*toLast=*/false);
  node.setOutput(
      0, moveChannels(node, createMaxPool(node, input), /*toLast=*/true));
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void importBinary(OnnxNode &node) {
  Value lhs = requireInputs(node, {3, 4, 6}) ? readOperand(node, 0) : Value();
  Value rhs = lhs ? readOperand(node, 3) : nullptr;
  if (rhs && !node.hasFailed())
    setQuantized(node, node.create<OpTy>(lhs, rhs), 6, 7);
}

void importQLinearAdd(OnnxNode &node) { importBinary<AddOp>(node); }
void importQLinearMul(OnnxNode &node) { importBinary<MulOp>(node); }

void importQLinearWhere(OnnxNode &node) {
  Value x = readOperand(node, 1);
  Value y = x ? readOperand(node, 4) : nullptr;
  if (y && !node.hasFailed())
    setQuantized(node, node.create<WhereOp>(node.getInput(0), x, y), 7, 8);
}

/// The scale and the zero point of the result come first.
void importQLinearConcat(OnnxNode &node) {
  unsigned count = node.getNumInputs();
  if (count % 3 != 2) {
    node.emitError() << "has " << count
                     << " inputs, expected two and three for each tensor";
    return;
  }
  SmallVector<Value> parts;
  for (unsigned index = 2; index < count && !node.hasFailed(); index += 3)
    parts.push_back(readOperand(node, index));
  if (node.hasFailed())
    return;
  int64_t axis =
      node.getAxis("axis", 0, static_cast<int64_t>(getShape(parts[0]).size()));
  if (!node.hasFailed())
    setQuantized(node, node.concat(parts, axis), 0, 1, /*like=*/2);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds input `index`, a vector of as many numbers as the product has columns.
static Value addRow(OnnxNode &node, Value product, unsigned index) {
  if (!product || !node.hasInput(index))
    return product;
  Value sum = node.create<AddOp>(product, node.getInput(index));
  if (!sum || sum.getType() == product.getType())
    return sum;
  node.emitError() << "the bias " << node.getInput(index).getType()
                   << " does not broadcast to " << product.getType();
  return nullptr;
}

/// The left side is quantised by its own range.
void importDynamicQuantizeMatMul(OnnxNode &node) {
  Value rhs = dequantize(node, {1, 2, 3, /*axis=*/-1});
  Value lhs = rhs ? roundDynamically(node, node.getInput(0)) : nullptr;
  node.setOutput(0, addRow(node, multiplyMatrices(node, lhs, rhs), 4));
}

void importMatMulIntegerToFloat(OnnxNode &node) {
  Value lhs = dequantizeWhole(node, 0, 2, 4);
  Value rhs = lhs ? dequantize(node, {1, 3, 5, /*axis=*/-1}) : nullptr;
  node.setOutput(0, addRow(node, multiplyMatrices(node, lhs, rhs), 6));
}

/// Returns input C of a QGemm, which is quantised as the product is: by alpha
/// and the scales of both sides.
static Value readSummand(OnnxNode &node, float alpha) {
  Type f32 = node.getBuilder().getF32Type();
  Value scale = node.create<MulOp>(node.reshape(node.getInput(1), {}),
                                   node.createFloat(alpha, f32));
  Value other = node.getInput(4);
  if (multiply(getShape(other)) == 1)
    other = node.reshape(other, {});
  return node.create<MulOp>(node.convert(node.getInput(6), f32),
                            node.create<MulOp>(scale, other));
}

/// Without a scale, the result stays f32.
void importQGemm(OnnxNode &node) {
  bool transL = node.getBool("transA", false),
       transR = node.getBool("transB", false);
  float alpha = node.getFloat("alpha", 1);
  Value lhs = readOperand(node, 0);
  Value rhs = lhs ? dequantize(node, {3, 4, 5, transR ? 0 : 1}) : nullptr;
  if (!rhs || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value result = node.create<MatMulOp>(lhs, rhs, builder.getBoolAttr(transL),
                                       builder.getBoolAttr(transR));
  if (alpha != 1)
    result = node.create<MulOp>(result,
                                node.createFloat(alpha, builder.getF32Type()));
  if (node.hasInput(6))
    result = node.create<AddOp>(result, readSummand(node, alpha));
  if (!node.hasInput(7))
    return node.setOutput(0, result);
  if (result)
    setQuantized(node, result, 7, 8);
}

/// Imports QuantizeLinear of the product of two DequantizeLinear; as for a
/// model that spells it out, the passes find the integer computation.
void importQLinearMatMul(OnnxNode &node) {
  Value lhs = dequantize(node, {0, 1, 2, /*axis=*/-2});
  Value rhs = lhs ? dequantize(node, {3, 4, 5, /*axis=*/-1}) : nullptr;
  if (!rhs || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value product = node.create<MatMulOp>(lhs, rhs, builder.getBoolAttr(false),
                                        builder.getBoolAttr(false));
  setQuantized(node, product, 6, 7);
}

/// Adds the bias of a QLinearConv, whose scales are the products of those of
/// the input and of the filter.
static Value addIntegerBias(OnnxNode &node, Value result) {
  Value bias = node.getInput(8);
  if (!bias || !result)
    return result;
  int64_t channels = getShape(result)[1];
  if (getShape(bias) != ArrayRef(channels)) {
    node.emitError() << "the bias is " << bias.getType() << ", expected "
                     << channels << " elements in one dimension";
    return nullptr;
  }
  Type f32 = node.getBuilder().getF32Type();
  auto spread = [&](Value vector) {
    SmallVector<int64_t> shape(getShape(result).size(), 1);
    shape[1] = multiply(getShape(vector));
    return node.convert(node.reshape(vector, shape), f32);
  };
  Value scale =
      node.create<MulOp>(spread(node.getInput(1)), spread(node.getInput(4)));
  return node.create<AddOp>(result, node.create<MulOp>(spread(bias), scale));
}

/// Imports QuantizeLinear of the convolution of two DequantizeLinear.
void importQLinearConv(OnnxNode &node) {
  if (multiply(getShape(node.getInput(1))) != 1) {
    node.emitError() << "the scale of the input is "
                     << node.getInput(1).getType() << ", expected one number";
    return;
  }
  // Only the operator of com.microsoft has the attribute.
  bool channelsLast = node.getBool("channels_last", false);
  Value input = dequantize(node, {0, 1, 2, std::nullopt});
  if (channelsLast)
    input = moveChannels(node, input, /*toLast=*/false);
  std::optional<Convolution> conv;
  if (input)
    conv = readConvolution(node, input, node.getInput(3));
  Value filter = conv ? dequantize(node, {3, 4, 5, /*axis=*/0}) : nullptr;
  if (!filter || node.hasFailed())
    return;
  Value result = addIntegerBias(node, createConv(node, *conv, input, filter));
  if (channelsLast)
    result = moveChannels(node, result, /*toLast=*/true);
  setQuantized(node, result, 6, 7);
}

} // namespace tarpon
