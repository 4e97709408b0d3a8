//===- IntegerProducts.cpp - Products of integers -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerProducts.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Problem/Shapes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include <optional>
#include <vector>

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

//===----------------------------------------------------------------------===//
// Products of bytes
//===----------------------------------------------------------------------===//

/// Sums of up to this many products of u8 and i8 are exact in f32.
static constexpr int64_t kExactBytes = 512;

namespace {
/// A constant matrix less its zero points, row-major.
struct ByteMatrix {
  int64_t rows, columns;
  std::vector<int8_t> values;

  /// The matrix of input 1 and the zero points of input 3.
  static std::optional<ByteMatrix> get(OnnxNode &node);
  std::vector<char> getRows(int64_t first, int64_t count) const;
  std::vector<int64_t> sumColumns() const;
};
} // namespace

std::optional<ByteMatrix> ByteMatrix::get(OnnxNode &node) {
  ElementsAttr stored = OnnxNode::getConstant(node.getInput(1));
  if (!stored || stored.getShapedType().getRank() != 2)
    return std::nullopt;
  ByteMatrix matrix = {stored.getShapedType().getDimSize(0),
                       stored.getShapedType().getDimSize(1),
                       {}};
  std::vector<float> zeroPoints(matrix.columns, 0);
  if (node.hasInput(3)) {
    ElementsAttr given = OnnxNode::getConstant(node.getInput(3));
    if (!given)
      return std::nullopt;
    std::vector<float> values = getConstantFloats(given);
    if (values.size() == 1)
      zeroPoints.assign(matrix.columns, values.front());
    else if (values.size() == zeroPoints.size())
      zeroPoints = values;
    else
      return std::nullopt;
  }
  std::vector<float> values = getConstantFloats(stored);
  for (size_t i = 0; i < values.size(); ++i) {
    float value = values[i] - zeroPoints[i % matrix.columns];
    if (value < -128 || value > 127)
      return std::nullopt;
    matrix.values.push_back(static_cast<int8_t>(value));
  }
  return matrix;
}

std::vector<char> ByteMatrix::getRows(int64_t first, int64_t count) const {
  const int8_t *begin = values.data() + first * columns;
  return {begin, begin + count * columns};
}

std::vector<int64_t> ByteMatrix::sumColumns() const {
  std::vector<int64_t> sums(columns, 0);
  for (size_t i = 0; i < values.size(); ++i)
    sums[i % columns] += values[i];
  return sums;
}

/// The type of integers of 8 bits that stand for themselves.
static Type getIntegerType(OpBuilder &builder, bool isSigned) {
  return quant::UniformQuantizedType::get(
      isSigned ? quant::QuantizationFlags::Signed : 0, builder.getI8Type(),
      builder.getF32Type(), /*scale=*/1, /*zeroPoint=*/0, isSigned ? -128 : 0,
      isSigned ? 127 : 255);
}

/// Returns the product of the bytes without a zero point, in i32.
static Value sumProducts(OnnxNode &node, Value bytes,
                         const ByteMatrix &matrix) {
  OpBuilder &builder = node.getBuilder();
  Type f32 = builder.getF32Type();
  BoolAttr no = builder.getBoolAttr(false);
  bool isSigned = !getTensorType(bytes).getElementType().isUnsignedInteger();
  int64_t axis = static_cast<int64_t>(getShape(bytes).size()) - 1;
  Value total;
  for (int64_t first = 0; first < matrix.rows; first += kExactBytes) {
    int64_t length = std::min(kExactBytes, matrix.rows - first);
    Value part = node.convert(node.slice(bytes, axis, first, length),
                              getIntegerType(builder, isSigned));
    Value filter = node.createConstant(
        RankedTensorType::get({length, matrix.columns},
                              getIntegerType(builder, /*isSigned=*/true)),
        matrix.getRows(first, length));
    // OnnxNode::convert would fold it, and lose the integers.
    filter =
        ConvertOp::create(builder, node.getLoc(),
                          RankedTensorType::get(getShape(filter), f32), filter);
    Value product =
        node.create<MatMulOp>(node.convert(part, f32), filter, no, no);
    product = node.convert(product, builder.getI32Type());
    total = total ? node.create<AddOp>(total, product) : product;
  }
  return total;
}

Value multiplyBytes(OnnxNode &node) {
  Value bytes = node.getInput(0);
  bool hasZeroPoint = node.hasInput(2);
  if (OnnxNode::getConstant(bytes) ||
      (hasZeroPoint && multiply(getShape(node.getInput(2))) != 1))
    return nullptr;
  std::optional<ByteMatrix> matrix = ByteMatrix::get(node);
  if (!matrix || matrix->rows == 0 || getShape(bytes).back() != matrix->rows)
    return nullptr;
  Value total = sumProducts(node, bytes, *matrix);
  if (!hasZeroPoint)
    return total;
  Type i32 = node.getBuilder().getI32Type();
  Value zeroPoint = node.convert(node.reshape(node.getInput(2), {1}), i32);
  Value sums = node.convert(node.createInts(matrix->sumColumns()), i32);
  return node.create<SubOp>(total, node.create<MulOp>(zeroPoint, sums));
}

} // namespace tarpon
