//===- ConvOps.cpp - Import of convolutions ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "IntegerProducts.h"
#include "OpTable.h"
#include "Operators.h"
#include "tarpon/Problem/Shapes.h"

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

std::optional<Convolution> readConvolution(OnnxNode &node, Value input,
                                           Value filter) {
  ArrayRef<int64_t> kernel = getKernel(node, input, filter);
  if (node.hasFailed())
    return std::nullopt;
  std::optional<Window> window = readWindow(node, getShape(input), kernel);
  int64_t group = node.getInt("group", 1);
  if (!window || node.hasFailed())
    return std::nullopt;
  return Convolution{*window, group};
}

Value createConv(OnnxNode &node, const Convolution &conv, Value input,
                 Value filter) {
  OpBuilder &builder = node.getBuilder();
  return node.create<ConvOp>(
      input, filter, builder.getDenseI64ArrayAttr(conv.window.strides),
      builder.getDenseI64ArrayAttr(conv.window.pads),
      builder.getDenseI64ArrayAttr(conv.window.dilations),
      builder.getI64IntegerAttr(conv.group));
}

Value createConv(OnnxNode &node) {
  Value input = node.getInput(0), filter = node.getInput(1);
  std::optional<Convolution> conv = readConvolution(node, input, filter);
  if (!conv)
    return nullptr;
  // A convolution of a small float type gives f32; that of ONNX gives its
  // input's type.
  Value result = addBias(node, createConv(node, *conv, input, filter));
  return node.convert(result, getTensorType(input).getElementType());
}

void importConv(OnnxNode &node) { node.setOutput(0, createConv(node)); }

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The part of the input that cell `cell` of the kernel sees, with zeros where
/// it sees padding.
static Value cropToCell(OnnxNode &node, const Convolution &conv, Value input,
                        ArrayRef<int64_t> cell, ArrayRef<int64_t> places) {
  ArrayRef<int64_t> shape = getShape(input);
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  for (size_t dim = 0; dim < cell.size(); ++dim) {
    int64_t begin =
        conv.window.pads[dim] - cell[dim] * conv.window.dilations[dim];
    pads[2 + dim] = begin;
    pads[shape.size() + 2 + dim] =
        (places[dim] - 1) * conv.window.strides[dim] + 1 - shape[2 + dim] -
        begin;
  }
  OpBuilder &builder = node.getBuilder();
  return node.create<PadOp>(
      input, builder.getDenseI64ArrayAttr(pads), builder.getF64FloatAttr(0.0),
      PadModeAttr::get(builder.getContext(), PadMode::Constant));
}

/// Adds up the products with each cell of the kernel, over at most kExactDepth
/// channels at a time: 1x1 convolutions multiply nothing but what they add up,
/// while a Winograd transform rounds.
static Value addUpCells(OnnxNode &node, const Convolution &conv, Value input,
                        Value filter, ArrayRef<int64_t> places) {
  Convolution point = conv;
  for (SmallVector<int64_t> *list :
       {&point.window.kernel, &point.window.dilations})
    list->assign(places.size(), 1);
  point.window.pads.assign(2 * places.size(), 0);
  int64_t channels = getShape(filter)[1];
  Value total;
  for (int64_t number = 0; number < multiply(conv.window.kernel); ++number) {
    SmallVector<int64_t> cell = splitIndex(number, conv.window.kernel);
    Value seen = cropToCell(node, conv, input, cell, places), weights = filter;
    for (auto [dim, index] : llvm::enumerate(cell))
      weights = node.slice(weights, 2 + static_cast<int64_t>(dim), index, 1);
    for (int64_t first = 0; first < channels; first += kExactDepth) {
      int64_t length = std::min(kExactDepth, channels - first);
      // With several groups, there is one part, of all channels.
      int64_t taken = length == channels ? getShape(input)[1] : length;
      Value part = createConv(node, point, node.slice(seen, 1, first, taken),
                              node.slice(weights, 1, first, length));
      part = node.convert(part, node.getBuilder().getI32Type());
      total = total ? node.create<AddOp>(total, part) : part;
    }
    if (!total)
      return nullptr;
  }
  return total;
}

void importConvInteger(OnnxNode &node) {
  std::optional<Convolution> conv =
      readConvolution(node, node.getInput(0), node.getInput(1));
  if (!conv)
    return;
  Value input = subtractZeroPoint(node, 0, 1);
  Value filter = input ? subtractZeroPoint(node, 1, 0) : nullptr;
  if (!filter)
    return;
  SmallVector<int64_t> places;
  ArrayRef<int64_t> shape = getShape(input), weights = getShape(filter);
  SlidingWindow window{conv->window.kernel, conv->window.strides,
                       conv->window.pads, conv->window.dilations};
  if (window.appendPlaces(shape.drop_front(2), places) ||
      !isGroupOf(conv->group, shape[1], weights[0]) ||
      weights[1] * conv->group != shape[1] ||
      (conv->group > 1 && weights[1] > kExactDepth)) {
    node.emitError() << "the filter " << getTensorType(node.getInput(1))
                     << " with " << conv->group
                     << " groups does not fit the input "
                     << getTensorType(node.getInput(0)) << ", or has more than "
                     << kExactDepth << " channels in a group";
    return;
  }
  node.setOutput(0, addUpCells(node, *conv, input, filter, places));
}

//===----------------------------------------------------------------------===//
// ConvTranspose
//===----------------------------------------------------------------------===//

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
