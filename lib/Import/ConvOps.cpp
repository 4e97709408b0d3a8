//===- ConvOps.cpp - Import of convolutions ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Window.h"

using namespace mlir;

namespace tarpon {

/// Adds the bias, in the type that the convolution accumulates in.
static Value addBias(OnnxNode &node, Value result) {
  Value bias = node.getInput(2);
  if (!bias || !result)
    return result;
  int64_t channels = getShape(result)[1];
  if (getShape(bias) != ArrayRef(channels)) {
    node.emitError() << "the bias is " << bias.getType() << ", expected "
                     << channels << " elements in one dimension";
    return nullptr;
  }
  SmallVector<int64_t> shape(getShape(result).size(), 1);
  shape[1] = channels;
  Type elementType = getTensorType(result).getElementType();
  return node.create<AddOp>(
      result, node.convert(node.reshape(bias, shape), elementType));
}

/// The kernel's sizes; an error unless input and filter have one rank.
static ArrayRef<int64_t> getKernel(OnnxNode &node, Value input, Value filter) {
  ArrayRef<int64_t> shape = getShape(filter);
  if (getShape(input).size() != shape.size())
    node.emitError() << "the input " << input.getType() << " and the filter "
                     << filter.getType() << " differ in rank";
  return shape.drop_front(std::min<size_t>(2, shape.size()));
}

void importConv(OnnxNode &node) {
  Value input = node.getInput(0), filter = node.getInput(1);
  ArrayRef<int64_t> kernel = getKernel(node, input, filter);
  if (node.hasFailed())
    return;
  std::optional<Window> window = readWindow(node, getShape(input), kernel);
  int64_t group = node.getInt("group", 1);
  if (!window || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value result = node.create<ConvOp>(
      input, filter, builder.getDenseI64ArrayAttr(window->strides),
      builder.getDenseI64ArrayAttr(window->pads),
      builder.getDenseI64ArrayAttr(window->dilations),
      builder.getI64IntegerAttr(group));
  // A convolution of a small float type gives f32; that of ONNX gives its
  // input's type.
  result = addBias(node, result);
  node.setOutput(0,
                 node.convert(result, getTensorType(input).getElementType()));
}

void importConvTranspose(OnnxNode &node) {
  Value input = node.getInput(0), filter = node.getInput(1);
  ArrayRef<int64_t> kernel = getKernel(node, input, filter);
  if (node.hasFailed())
    return;
  std::optional<SpreadWindow> window =
      readSpreadWindow(node, getShape(input), kernel);
  int64_t group = node.getInt("group", 1);
  if (!window || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value result = node.create<ConvTransposeOp>(
      input, filter, builder.getDenseI64ArrayAttr(window->strides),
      builder.getDenseI64ArrayAttr(window->pads),
      builder.getDenseI64ArrayAttr(window->dilations),
      builder.getDenseI64ArrayAttr(window->outputPadding),
      builder.getI64IntegerAttr(group));
  result = addBias(node, result);
  node.setOutput(0,
                 node.convert(result, getTensorType(input).getElementType()));
}

} // namespace tarpon
