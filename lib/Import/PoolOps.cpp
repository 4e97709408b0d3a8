//===- PoolOps.cpp - Import of pooling --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Window.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

void importMaxPool(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  bool columnMajor = node.getBool("storage_order", false);
  if (!window || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  if (node.isOutputUsed(1)) {
    SmallVector<Value> results = node.createSeveral<MaxPoolIndicesOp, 2>(
        input, builder.getDenseI64ArrayAttr(window->kernel),
        builder.getDenseI64ArrayAttr(window->strides),
        builder.getDenseI64ArrayAttr(window->pads),
        builder.getDenseI64ArrayAttr(window->dilations),
        builder.getBoolAttr(ceilMode && !window->autoPadded),
        builder.getBoolAttr(columnMajor));
    for (auto [index, result] : llvm::enumerate(results))
      node.setOutput(index, result);
    return;
  }
  node.setOutput(0, node.create<MaxPoolOp>(
                        input, builder.getDenseI64ArrayAttr(window->kernel),
                        builder.getDenseI64ArrayAttr(window->strides),
                        builder.getDenseI64ArrayAttr(window->pads),
                        builder.getDenseI64ArrayAttr(window->dilations),
                        builder.getBoolAttr(ceilMode && !window->autoPadded)));
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

void importAveragePool(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  bool countPad = node.getBool("count_include_pad", false);
  if (!window || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  node.setOutput(0, node.create<AvgPoolOp>(
                        input, builder.getDenseI64ArrayAttr(window->kernel),
                        builder.getDenseI64ArrayAttr(window->strides),
                        builder.getDenseI64ArrayAttr(window->pads),
                        builder.getDenseI64ArrayAttr(window->dilations),
                        builder.getBoolAttr(ceilMode && !window->autoPadded),
                        builder.getBoolAttr(countPad)));
}

void importGlobalAveragePool(OnnxNode &node) {
  node.setOutput(0, node.create<GlobalAvgPoolOp>(node.getInput(0)));
}

void importGlobalMaxPool(OnnxNode &node) {
  node.setOutput(0, node.create<GlobalMaxPoolOp>(node.getInput(0)));
}

} // namespace tarpon
