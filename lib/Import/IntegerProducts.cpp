//===- IntegerProducts.cpp - Products of integers -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerProducts.h"
#include "tarpon/Problem/Shapes.h"

using namespace mlir;

namespace tarpon {

Value subtractZeroPoint(OnnxNode &node, unsigned index, int64_t axis) {
  Type f32 = node.getBuilder().getF32Type();
  Value value = node.getInput(index), zeroPoint = node.getInput(index + 2);
  ArrayRef<int64_t> shape = getShape(value);
  Value real = node.convert(value, f32);
  if (!zeroPoint)
    return real;
  ArrayRef<int64_t> given = getShape(zeroPoint);
  SmallVector<int64_t> spread(given);
  if (given.size() == 1 && given[0] != 1) {
    spread.assign(shape.size(), 1);
    spread[axis] = given[0];
  }
  if (!broadcastsTo(spread, shape)) {
    node.emitError() << "the zero point '" << node.getInputName(index + 2)
                     << "' does not fit " << value.getType();
    return nullptr;
  }
  zeroPoint = node.convert(node.reshape(zeroPoint, spread), f32);
  return node.create<SubOp>(real, zeroPoint);
}

} // namespace tarpon
