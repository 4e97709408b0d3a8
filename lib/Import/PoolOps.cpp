//===- PoolOps.cpp - Import of pooling --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Operators.h"
#include "Window.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

Value createMaxPool(OnnxNode &node, Value input) {
  if (!input)
    return nullptr;
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  if (!window || node.hasFailed())
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  return node.create<MaxPoolOp>(
      input, builder.getDenseI64ArrayAttr(window->kernel),
      builder.getDenseI64ArrayAttr(window->strides),
      builder.getDenseI64ArrayAttr(window->pads),
      builder.getDenseI64ArrayAttr(window->dilations),
      builder.getBoolAttr(ceilMode && !window->autoPadded));
}

static void importMaxPoolIndices(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  bool columnMajor = node.getBool("storage_order", false);
  if (!window || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  SmallVector<Value> results = node.createSeveral<MaxPoolIndicesOp, 2>(
      input, builder.getDenseI64ArrayAttr(window->kernel),
      builder.getDenseI64ArrayAttr(window->strides),
      builder.getDenseI64ArrayAttr(window->pads),
      builder.getDenseI64ArrayAttr(window->dilations),
      builder.getBoolAttr(ceilMode && !window->autoPadded),
      builder.getBoolAttr(columnMajor));
  for (auto [index, result] : llvm::enumerate(results))
    node.setOutput(index, result);
}

void importMaxPool(OnnxNode &node) {
  if (node.isOutputUsed(1))
    return importMaxPoolIndices(node);
  // The order counts for indices only.
  (void)node.getBool("storage_order", false);
  node.setOutput(0, createMaxPool(node, node.getInput(0)));
}

/// Computes the spatial shape of a pool's input from that of its result.
static SmallVector<int64_t> invertWindow(ArrayRef<int64_t> pooled,
                                         const Window &window) {
  SmallVector<int64_t> sizes;
  size_t rank = pooled.size();
  for (size_t dim = 0; dim < rank; ++dim)
    sizes.push_back((pooled[dim] - 1) * window.strides[dim] +
                    window.kernel[dim] - window.pads[dim] -
                    window.pads[rank + dim]);
  return sizes;
}

/// The indices refer to a tensor whose shape follows from the window; if
/// output_shape asks for a larger one, the rest is zeros.
void importMaxUnpool(OnnxNode &node) {
  Value input = node.getInput(0);
  OpBuilder &builder = node.getBuilder();
  ArrayRef<int64_t> shape = getShape(input);
  std::optional<Window> window = readWindow(node, shape);
  if (!window || node.hasFailed())
    return;
  SmallVector<int64_t> sizes = invertWindow(shape.drop_front(2), *window);
  Value result = node.create<MaxUnpoolOp>(input, node.getInput(1),
                                          builder.getDenseI64ArrayAttr(sizes));
  if (!node.hasInput(2) || !result)
    return node.setOutput(0, result);
  std::optional<SmallVector<int64_t>> wanted =
      node.getConstantInts(2, "the input output_shape");
  if (!wanted)
    return;
  ArrayRef<int64_t> given = getShape(result);
  SmallVector<int64_t> pads(2 * given.size(), 0);
  bool fits = wanted->size() == given.size();
  for (size_t dim = 0; fits && dim < given.size(); ++dim) {
    int64_t more = (*wanted)[dim] - given[dim];
    fits = more == 0 || (more > 0 && dim >= 2);
    pads[given.size() + dim] = more;
  }
  if (!fits) {
    node.emitError() << "the output_shape [" << *wanted
                     << "] is smaller than the shape [" << given
                     << "] that the indices are those of";
    return;
  }
  node.setOutput(0,
                 node.create<PadOp>(result, builder.getDenseI64ArrayAttr(pads),
                                    builder.getF64FloatAttr(0.0),
                                    PadModeAttr::get(builder.getContext(),
                                                     PadMode::Constant)));
}

Value createAveragePool(OnnxNode &node, Value input) {
  if (!input)
    return nullptr;
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  bool countPad = node.getBool("count_include_pad", false);
  if (!window || node.hasFailed())
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  return node.create<AvgPoolOp>(
      input, builder.getDenseI64ArrayAttr(window->kernel),
      builder.getDenseI64ArrayAttr(window->strides),
      builder.getDenseI64ArrayAttr(window->pads),
      builder.getDenseI64ArrayAttr(window->dilations),
      builder.getBoolAttr(ceilMode && !window->autoPadded),
      builder.getBoolAttr(countPad));
}

void importAveragePool(OnnxNode &node) {
  node.setOutput(0, createAveragePool(node, node.getInput(0)));
}

bool requireInputs(OnnxNode &node, ArrayRef<unsigned> indices) {
  for (unsigned index : indices)
    if (!node.hasInput(index))
      node.emitError() << "input " << index << " is missing";
  return !node.hasFailed();
}

Value moveChannels(OnnxNode &node, Value value, bool toLast) {
  if (!value || getShape(value).size() < 3)
    return value;
  auto rank = static_cast<int64_t>(getShape(value).size());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(dims.begin() + 1, toLast ? dims.begin() + 2 : dims.end() - 1,
              dims.end());
  return node.transpose(value, dims);
}

void importGlobalAveragePool(OnnxNode &node) {
  node.setOutput(0, node.create<GlobalAvgPoolOp>(node.getInput(0)));
}

void importGlobalMaxPool(OnnxNode &node) {
  node.setOutput(0, node.create<GlobalMaxPoolOp>(node.getInput(0)));
}

//===----------------------------------------------------------------------===//
// Norms over windows
//===----------------------------------------------------------------------===//

/// Reads the attribute p; 0 after an error.
static int64_t readOrder(OnnxNode &node) {
  int64_t order = node.getInt("p", 2);
  if (order < 1)
    node.emitError() << "attribute 'p' is " << order << ", expected 1 or more";
  return node.hasFailed() ? 0 : order;
}

/// Returns the magnitudes to the power of `order`.
static Value raise(OnnxNode &node, Value input, int64_t order) {
  if (order == 2)
    return node.create<MulOp>(input, input);
  Value magnitude = node.create<AbsOp>(input);
  if (order == 1 || !magnitude)
    return magnitude;
  return node.create<PowOp>(
      magnitude, node.createFloat(static_cast<double>(order),
                                  getTensorType(input).getElementType()));
}

static Value takeRoot(OnnxNode &node, Value sum, int64_t order) {
  if (order == 1 || !sum)
    return sum;
  if (order == 2)
    return node.create<SqrtOp>(sum);
  return node.create<PowOp>(
      sum, node.createFloat(1 / static_cast<double>(order),
                            getTensorType(sum).getElementType()));
}

/// Pads with zeros, or crops, so that the windows end where the value ends.
static Value padWindows(OnnxNode &node, Value value, const Window &window,
                        bool ceilMode) {
  ArrayRef<int64_t> shape = getShape(value);
  size_t dims = window.kernel.size();
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  for (size_t dim = 0; dim < dims; ++dim) {
    WindowDim line{shape[2 + dim],
                   window.kernel[dim],
                   window.strides[dim],
                   window.dilations[dim],
                   window.pads[dim],
                   window.pads[dims + dim],
                   ceilMode && !window.autoPadded};
    if (!line.fits()) {
      node.emitError() << "the kernel [" << window.kernel
                       << "] does not fit the input " << getTensorType(value);
      return nullptr;
    }
    auto extent = static_cast<int64_t>(line.getExtent());
    pads[2 + dim] = line.padBegin;
    pads[shape.size() + 2 + dim] = (line.countPlaces() - 1) * line.stride +
                                   extent - line.size - line.padBegin;
  }
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return value;
  OpBuilder &builder = node.getBuilder();
  return node.create<PadOp>(
      value, builder.getDenseI64ArrayAttr(pads), builder.getF64FloatAttr(0.0),
      PadModeAttr::get(builder.getContext(), PadMode::Constant));
}

/// The sum of a window is its mean times the number of its cells.
void importLpPool(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  int64_t order = readOrder(node);
  RankedTensorType type = getTensorType(input);
  if (!isa<FloatType>(type.getElementType()))
    node.emitError() << "the input is not of floats";
  if (!window || node.hasFailed())
    return;
  // Powers and sums of small floats may overflow.
  OpBuilder &builder = node.getBuilder();
  Type compute = type.getElementType().isF64() ? type.getElementType()
                                               : Type(builder.getF32Type());
  Value powers = raise(node, node.convert(input, compute), order);
  if (powers)
    powers = padWindows(node, powers, *window, ceilMode);
  SmallVector<int64_t> none(2 * window->kernel.size(), 0);
  Value mean = node.create<AvgPoolOp>(
      powers, builder.getDenseI64ArrayAttr(window->kernel),
      builder.getDenseI64ArrayAttr(window->strides),
      builder.getDenseI64ArrayAttr(none),
      builder.getDenseI64ArrayAttr(window->dilations),
      builder.getBoolAttr(false), builder.getBoolAttr(true));
  auto cells = static_cast<double>(multiply(window->kernel));
  Value sum = node.create<MulOp>(mean, node.createFloat(cells, compute));
  node.setOutput(
      0, node.convert(takeRoot(node, sum, order), type.getElementType()));
}

void importGlobalLpPool(OnnxNode &node) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  int64_t order = readOrder(node);
  if (type.getRank() < 3 || !isa<FloatType>(type.getElementType()))
    node.emitError() << "expects floats of rank 3 or more, got " << type;
  if (node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Type compute = type.getElementType().isF64() ? type.getElementType()
                                               : Type(builder.getF32Type());
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, type.getRank()));
  Value sum = node.create<ReduceSumOp>(
      raise(node, node.convert(input, compute), order),
      builder.getDenseI64ArrayAttr(axes), builder.getBoolAttr(true));
  node.setOutput(
      0, node.convert(takeRoot(node, sum, order), type.getElementType()));
}

} // namespace tarpon
