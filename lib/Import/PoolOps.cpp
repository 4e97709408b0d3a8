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
  if (node.isOutputUsed(1)) {
    node.emitError() << "the output Indices is not supported";
    return;
  }
  std::optional<Window> window = readWindow(node, getShape(input));
  bool ceilMode = node.getBool("ceil_mode", false);
  if (!window || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  node.setOutput(0, node.create<MaxPoolOp>(
                        input, builder.getDenseI64ArrayAttr(window->kernel),
                        builder.getDenseI64ArrayAttr(window->strides),
                        builder.getDenseI64ArrayAttr(window->pads),
                        builder.getDenseI64ArrayAttr(window->dilations),
                        builder.getBoolAttr(ceilMode && !window->autoPadded)));
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

/// Exporters write global average pooling as a mean over the spatial
/// dimensions; other means are not supported.
void importReduceMean(OnnxNode &node) {
  Value input = node.getInput(0);
  int64_t rank = getShape(input).size();
  std::optional<SmallVector<int64_t>> axes = node.getInts("axes");
  if (node.hasInput(1))
    axes = node.getConstantInts(1, "the input axes");
  bool keepDims = node.getBool("keepdims", true);
  if (!axes || node.hasFailed())
    return;
  axes = node.normalizeAxes(*axes, rank);
  if (!axes)
    return;
  if (rank < 3 || !llvm::equal(*axes, llvm::seq<int64_t>(2, rank))) {
    node.emitError() << "a mean is supported over all spatial dimensions only, "
                        "got the axes ["
                     << *axes << "] of rank " << rank;
    return;
  }
  Value result = node.create<GlobalAvgPoolOp>(input);
  if (result && !keepDims)
    result = node.reshape(result, getShape(result).take_front(2));
  node.setOutput(0, result);
}

} // namespace tarpon
