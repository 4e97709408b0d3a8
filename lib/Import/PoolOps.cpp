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

} // namespace tarpon
