//===- SizeValues.cpp - Values of sizes that depend on data ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

Value createIsCounted(OnnxNode &node, ArrayRef<int64_t> shape,
                      const RealSize &size) {
  SmallVector<int64_t> line(shape.size(), 1);
  line[size.dim] = shape[size.dim];
  Value places = node.reshape(node.createRange(shape[size.dim]), line);
  SmallVector<int64_t> ones(shape.size(), 1);
  return node.isSet(node.create<LessOp>(places, node.reshape(size.size, ones)));
}

Value getSizeValue(OnnxNode &node, Value list, int64_t place,
                   const SizeElement &element) {
  if (element.size)
    return element.size;
  if (element.isKnown())
    return node.createInts({element.least});
  int64_t count = multiply(getShape(list));
  Value wide =
      node.convert(node.reshape(list, {count}), node.getBuilder().getI64Type());
  return node.slice(wide, 0, place, 1);
}

LogicalResult readShape(OnnxNode &node, Value list, ArrayRef<SizeElement> sizes,
                        SmallVectorImpl<int64_t> &shape, RealSizes &real) {
  for (auto [place, element] : llvm::enumerate(sizes)) {
    shape.push_back(element.most);
    if (element.isKnown())
      continue;
    auto dim = static_cast<int64_t>(place);
    if (element.least < 0)
      return node.emitError() << "the size of dimension " << dim
                              << " depends on data, and may be below 0";
    real.push_back({dim, getSizeValue(node, list, dim, element)});
  }
  return success();
}

Value countFromEnd(OnnxNode &node, Value indices, Value data, int64_t dim) {
  std::optional<RealSize> real = node.findRealSize(data, dim);
  if (!real)
    return node.countFromStart(indices, getShape(data)[dim]);
  if (!indices)
    return nullptr;
  Value zero = node.createNumber(0, node.getBuilder().getI64Type());
  Value offset = node.create<MulOp>(node.create<LessOp>(indices, zero),
                                    node.reshape(real->size, {}));
  return node.create<AddOp>(offset, indices);
}

Value copyAlong(OnnxNode &node, Value value, int64_t dim) {
  return node.create<GatherOp>(value, node.createRange(getShape(value)[dim]),
                               node.getBuilder().getI64IntegerAttr(dim));
}

} // namespace tarpon
