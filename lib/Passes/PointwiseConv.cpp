//===- PointwiseConv.cpp - Convolutions that mix channels only ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointwiseConv.h"

#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

static bool areAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

bool tarpon::detail::isPointwise(ConvOp op) {
  RankedTensorType filter = op.getFilter().getType();
  return op.getGroup() == 1 && areAll(op.getStrides(), 1) &&
         areAll(op.getPads(), 0) &&
         areAll(filter.getShape().drop_front(2), 1) &&
         filter.getElementType().isF32() &&
         op.getInput().getType().getElementType().isF32() &&
         op.getType().getElementType().isF32() &&
         !op.getInput().getType().getEncoding() &&
         getConstantValue(op.getFilter()) && !op->getParentOfType<FusedOp>();
}

RankedTensorType tarpon::detail::withDim(RankedTensorType type, int64_t dim,
                                         int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}
