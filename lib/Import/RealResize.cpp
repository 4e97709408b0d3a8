//===- RealResize.cpp - Resizes to sizes that depend on data --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RealResize.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

/// The coordinates are computed as ONNX Runtime does: in f32, divided by the
/// scale.
Value RealResize::apply(OnnxNode &node, Value value) const {
  if (!value)
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  Type f32 = builder.getF32Type(),
       elementType = getTensorType(value).getElementType();
  auto number = [&](double x) { return node.createFloat(x, f32); };
  Value old = node.convert(from, f32), size = node.convert(to, f32);
  SmallVector<double> middles;
  for (int64_t place : llvm::seq<int64_t>(0, most))
    middles.push_back(static_cast<double>(place) + 0.5);
  Value places = node.create<SubOp>(
      node.create<DivOp>(node.createFloats(middles, {most}, f32),
                         node.create<DivOp>(size, old)),
      number(0.5));
  if (startsAtFirst)
    places = node.create<WhereOp>(
        node.isSet(node.create<LessOp>(to, node.createInts({2}))), number(0),
        places);
  Value last = node.create<SubOp>(old, number(1));
  places = node.create<MaxOp>(node.create<MinOp>(places, last), number(0));
  Value below = node.create<FloorOp>(places);
  Value above = node.create<MinOp>(node.create<AddOp>(below, number(1)), last);
  auto gather = [&](Value index) {
    return node.create<GatherOp>(value,
                                 node.convert(index, builder.getI64Type()),
                                 builder.getI64IntegerAttr(dim));
  };
  SmallVector<int64_t> line(getShape(value).size(), 1);
  line[dim] = most;
  Value weight = node.convert(
      node.reshape(node.create<SubOp>(places, below), line), elementType);
  Value first = gather(below);
  Value step = node.create<SubOp>(gather(above), first);
  return node.create<AddOp>(first, node.create<MulOp>(step, weight));
}

} // namespace tarpon
