//===- BodyResults.cpp - Results of nodes with sub-graphs -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyResults.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace tarpon {

bool checkCondition(OnnxNode &node, Value value) {
  if (getTensorType(value).getElementType().isInteger(1) &&
      multiply(getShape(value)) == 1)
    return true;
  node.emitError() << "the condition is " << getTensorType(value)
                   << ", expected one bool";
  return false;
}

bool isTrue(ElementsAttr condition) { return readInts(condition).front() != 0; }

void setOutputs(OnnxNode &node, ArrayRef<Value> values) {
  if (values.size() < node.getNumOutputs()) {
    node.emitError() << "the sub-graph has " << values.size()
                     << " outputs, but the node has " << node.getNumOutputs();
    return;
  }
  for (auto [index, value] : llvm::enumerate(values))
    node.setOutput(index, value);
}

Value stackValues(OnnxNode &node, ArrayRef<Value> values, int64_t axis,
                  bool reverse) {
  SmallVector<Value> parts;
  for (Value value : values) {
    if (!node.findRealSizes(value).empty()) {
      node.emitError() << "iterations give values whose size depends on data";
      return nullptr;
    }
    if (value.getType() != values.front().getType()) {
      node.emitError() << "iterations give both " << values.front().getType()
                       << " and " << value.getType();
      return nullptr;
    }
    SmallVector<int64_t> shape(getShape(value));
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(node.reshape(value, shape));
  }
  if (reverse)
    std::reverse(parts.begin(), parts.end());
  return node.concat(parts, axis);
}

} // namespace tarpon
