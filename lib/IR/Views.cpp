//===- Views.cpp - The memory that a value lies in --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/Views.h"

using namespace mlir;
using namespace tarpon;

JoinOp tarpon::getJoin(Value value) {
  for (Operation *user : value.getUsers())
    if (auto join = dyn_cast<JoinOp>(user))
      return join;
  return nullptr;
}

/// The elements of the input's memory in front of the slice.
static int64_t getSliceOffset(SliceOp slice) {
  RankedTensorType type = slice.getInput().getType();
  if (getLayout(type).getKind() == LayoutKind::NHWC)
    return slice.getOffset();
  // If channels are outermost, there is one image and no block is cut.
  return type.getNumElements() / type.getDimSize(1) * slice.getOffset();
}

/// The elements of the join's memory in front of the operand `value`.
static int64_t getSliceOffset(JoinOp join, Value value) {
  bool inPixel = getLayout(join.getType()).getKind() == LayoutKind::NHWC;
  int64_t offset = 0;
  for (Value input : join.getInputs()) {
    if (input == value)
      break;
    auto type = cast<RankedTensorType>(input.getType());
    // If channels are outermost, there is one image of whole blocks.
    offset += inPixel ? type.getDimSize(1) : type.getNumElements();
  }
  return offset;
}

View tarpon::getView(Value value) {
  View view{value};
  while (Operation *producer = view.storage.getDefiningOp()) {
    if (auto slice = dyn_cast<SliceOp>(producer))
      view.offset += getSliceOffset(slice);
    else if (!isa<BitcastOp, ReshapeOp>(producer))
      break;
    view.storage = producer->getOperand(0);
  }
  // Operands of joins are no views themselves, so that only joins follow from
  // here.
  while (JoinOp join = getJoin(view.storage)) {
    view.offset += getSliceOffset(join, view.storage);
    view.storage = join.getResult();
  }
  return view;
}
