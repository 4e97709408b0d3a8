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
                        SmallVectorImpl<int64_t> &shape,
                        std::optional<RealSize> &real) {
  for (auto [place, element] : llvm::enumerate(sizes)) {
    shape.push_back(element.most);
    if (element.isKnown())
      continue;
    auto dim = static_cast<int64_t>(place);
    if (real || element.least < 0)
      return node.emitError() << "a shape has sizes that depend on data in its "
                                 "dimensions "
                              << (real ? real->dim : dim) << " and " << dim;
    real = RealSize{dim, getSizeValue(node, list, dim, element)};
  }
  return success();
}

Value countFromEnd(OnnxNode &node, Value indices, Value data, int64_t dim) {
  std::optional<RealSize> real = node.findRealSize(data);
  if (!real || real->dim != dim)
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

std::optional<RealSize> cutSlices(OnnxNode &node, const RealSize &real,
                                  int64_t most, int64_t start,
                                  const SizeElement &end, int64_t place) {
  bool countsFromEnd = end.isKnown() && end.least < 0;
  if (start < 0 || (end.least < 0 && !countsFromEnd))
    return std::nullopt;
  Value size = real.size;
  if (countsFromEnd)
    size = node.create<AddOp>(size, node.createInts({end.least}));
  else if (end.size != size && (!end.isKnown() || end.least < most))
    size = node.create<MinOp>(size,
                              getSizeValue(node, node.getInput(2), place, end));
  if (start > 0)
    size = node.create<SubOp>(size, node.createInts({start}));
  if (start > 0 || countsFromEnd)
    size = node.create<MaxOp>(size, node.createInts({0}));
  return RealSize{real.dim, size};
}

} // namespace tarpon
