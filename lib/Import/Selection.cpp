//===- Selection.cpp - Values that are selected at run time ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection.h"

#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

/// Appends zeros along a dimension.
static Value padTo(OnnxNode &node, Value value, int64_t dim, int64_t size) {
  if (!value)
    return nullptr;
  SmallVector<int64_t> shape(getShape(value));
  shape[dim] = size;
  if (multiply(getShape(value)) == 0)
    return node.createZeros(shape, getTensorType(value).getElementType());
  return node.slice(value, dim, 0, size);
}

/// Returns null if the size depends on nothing.
static Value findSize(const SizedValue &sized, int64_t dim) {
  for (const RealSize &size : sized.sizes)
    if (size.dim == dim)
      return size.size;
  return nullptr;
}

/// Returns the size of a dimension, as a value of i64 and one element.
static Value getSize(OnnxNode &node, const SizedValue &sized, int64_t dim) {
  if (Value size = findSize(sized, dim))
    return size;
  return node.createInts({getShape(sized.value)[dim]});
}

SizedValue getSized(OnnxNode &node, Value value) {
  return {value, node.findRealSizes(value)};
}

SizedValue selectValue(OnnxNode &node, Value condition,
                       const SizedValue &whenTrue,
                       const SizedValue &whenFalse) {
  if (whenTrue == whenFalse)
    return whenTrue;
  Value lhs = whenTrue.value, rhs = whenFalse.value;
  if (!lhs || !rhs ||
      getTensorType(lhs).getElementType() !=
          getTensorType(rhs).getElementType() ||
      getShape(lhs).size() != getShape(rhs).size())
    return {};
  SizedValue result;
  auto rank = static_cast<int64_t>(getShape(lhs).size());
  for (int64_t dim = 0; dim < rank && lhs && rhs; ++dim) {
    int64_t most = std::max(getShape(lhs)[dim], getShape(rhs)[dim]);
    bool isOpen = getShape(lhs)[dim] != getShape(rhs)[dim] ||
                  findSize(whenTrue, dim) || findSize(whenFalse, dim);
    if (!isOpen)
      continue;
    Value ifTrue = getSize(node, whenTrue, dim),
          ifFalse = getSize(node, whenFalse, dim);
    Value size = ifTrue == ifFalse
                     ? ifTrue
                     : node.create<WhereOp>(condition, ifTrue, ifFalse);
    result.sizes.push_back({dim, size});
    lhs = padTo(node, lhs, dim, most);
    rhs = padTo(node, rhs, dim, most);
  }
  bool isEmpty = lhs && multiply(getShape(lhs)) == 0;
  result.value = isEmpty ? lhs : node.create<WhereOp>(condition, lhs, rhs);
  // The value may have other sizes where others use it.
  bool isOld =
      result.value == whenTrue.value || result.value == whenFalse.value;
  if (isOld && !result.sizes.empty())
    result.value = copyAlong(node, result.value, result.sizes.front().dim);
  return result;
}

} // namespace tarpon
