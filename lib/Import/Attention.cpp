//===- Attention.cpp - The parts of attention -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Value Attention::splitHeads(Value value, StringRef attribute) {
  if (!value)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(value);
  int64_t heads = node.getInt(attribute, 0);
  if (heads < 1 || shape[2] % heads != 0) {
    node.emitError() << "attribute '" << attribute << "' is " << heads
                     << ", which does not divide the " << shape[2]
                     << " channels";
    return nullptr;
  }
  Value split =
      node.reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
  return node.transpose(split, {0, 2, 1, 3});
}

Value Attention::joinHeads(Value value) {
  if (!value)
    return value;
  ArrayRef<int64_t> shape = getShape(value);
  return node.reshape(node.transpose(value, {0, 2, 1, 3}),
                      {shape[0], shape[2], shape[1] * shape[3]});
}

Value Attention::repeatHeads(Value value) {
  SmallVector<int64_t> shape(getShape(value));
  int64_t heads = numHeads();
  if (shape[1] == heads)
    return value;
  if (shape[1] == 0 || heads % shape[1] != 0) {
    node.emitError() << "the " << shape[1]
                     << " heads of keys do not divide the " << heads
                     << " of queries";
    return nullptr;
  }
  Value column =
      node.reshape(value, {shape[0], shape[1], 1, shape[2], shape[3]});
  Value spread = node.broadcast(
      column, {shape[0], shape[1], heads / shape[1], shape[2], shape[3]});
  return node.reshape(spread, {shape[0], heads, shape[2], shape[3]});
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

double Attention::defaultScale() const {
  return 1 / std::sqrt(static_cast<double>(getShape(query)[3]));
}

Value Attention::computeScores(double scale) {
  OpBuilder &builder = node.getBuilder();
  Value product =
      node.create<MatMulOp>(query, repeatHeads(key), builder.getBoolAttr(false),
                            builder.getBoolAttr(true));
  return node.create<MulOp>(node.convert(product, computeType), number(scale));
}

Value Attention::cap(Value scores, float limit) {
  if (limit <= 0)
    return scores;
  Value factor = number(limit);
  return node.create<MulOp>(
      node.create<TanhOp>(node.create<DivOp>(scores, factor)), factor);
}

Value Attention::createSoftmax(Value scores) {
  return node.create<SoftmaxOp>(scores, node.getBuilder().getI64IntegerAttr(3));
}

Value Attention::weighValues(Value probabilities) {
  OpBuilder &builder = node.getBuilder();
  return node.convert(
      node.create<MatMulOp>(node.convert(probabilities, elementType),
                            repeatHeads(value), builder.getBoolAttr(false),
                            builder.getBoolAttr(false)),
      elementType);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

Value Attention::createPositions(int64_t count, int64_t axis) {
  SmallVector<int64_t> shape(4, 1);
  shape[axis] = count;
  return node.reshape(node.createRange(count), shape);
}

Value Attention::isAtMost(Value lhs, Value rhs) {
  return node.isSet(node.create<LessOp>(lhs, add(rhs, integer(1))));
}

void Attention::addWhere(Value &bias, Value allowed, double filler) {
  addTo(bias, node.create<WhereOp>(allowed, number(0), number(filler)));
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

Value selectAngles(OnnxNode &node, Value cache, Value positions) {
  OpBuilder &builder = node.getBuilder();
  if (positions)
    cache = node.create<GatherOp>(cache,
                                  node.convert(positions, builder.getI64Type()),
                                  builder.getI64IntegerAttr(0));
  if (!cache)
    return nullptr;
  if (getShape(cache).size() != 3) {
    node.emitError() << "the cache " << getTensorType(cache)
                     << " does not have the rank 3";
    return nullptr;
  }
  SmallVector<int64_t> shape(getShape(cache));
  shape.insert(shape.begin() + 2, 1);
  return node.reshape(cache, shape);
}

int64_t readRotatedWidth(OnnxNode &node, int64_t channels) {
  int64_t width = node.getInt("rotary_embedding_dim", 0);
  width = width == 0 ? channels : width;
  if (width < 0 || width > channels || width % 2 != 0)
    node.emitError() << "attribute 'rotary_embedding_dim' is " << width
                     << ", expected an even number up to " << channels;
  return width;
}

Value rotate(OnnxNode &node, Value x, const Rotation &rotation, int64_t width) {
  Value cos = rotation.cos, sin = rotation.sin;
  if (!x || !cos || !sin)
    return nullptr;
  SmallVector<int64_t> shape(getShape(x));
  if (getShape(cos).back() != width / 2 || getShape(sin) != getShape(cos)) {
    node.emitError() << "the caches " << getTensorType(cos) << " and "
                     << getTensorType(sin) << " do not have " << width / 2
                     << " angles";
    return nullptr;
  }
  int64_t axis = rotation.interleaved ? 4 : 3;
  SmallVector<int64_t> points = {shape[0], shape[1], shape[2]}, half = points;
  points.append({rotation.interleaved ? width / 2 : 2,
                 rotation.interleaved ? 2 : width / 2});
  half.push_back(width / 2);
  Value pairs = node.reshape(node.slice(x, 3, 0, width), points);
  Value first = node.reshape(node.slice(pairs, axis, 0, 1), half),
        second = node.reshape(node.slice(pairs, axis, 1, 1), half);
  auto times = [&](Value lhs, Value rhs) {
    return node.create<MulOp>(lhs, rhs);
  };
  Value real = node.create<SubOp>(times(first, cos), times(second, sin)),
        imaginary = node.create<AddOp>(times(first, sin), times(second, cos));
  SmallVector<int64_t> column = points;
  column[axis] = 1;
  Value joined = node.concat(
      {node.reshape(real, column), node.reshape(imaginary, column)}, axis);
  SmallVector<int64_t> rotated(shape);
  rotated[3] = width;
  joined = node.reshape(joined, rotated);
  if (width == shape[3])
    return joined;
  return node.concat({joined, node.slice(x, 3, width, shape[3] - width)}, 3);
}

} // namespace tarpon
