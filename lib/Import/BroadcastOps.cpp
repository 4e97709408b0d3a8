//===- BroadcastOps.cpp - Import of operators that repeat elements --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "SizeValues.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tarpon {

static bool hasNegative(ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, [](int64_t size) { return size < 0; });
}

/// Returns true if the input has several slices along that dimension of the
/// result, whose number depends on nothing: the shape has as many there, or
/// one.
static bool isFixed(OnnxNode &node, Value input, const Shape &result,
                    int64_t dim) {
  ArrayRef<int64_t> shape = getShape(input);
  int64_t place = dim - static_cast<int64_t>(result.size() - shape.size());
  return place >= 0 && shape[place] > 1 && !node.findRealSize(input, place);
}

void importExpand(OnnxNode &node) {
  Value input = node.getInput(0);
  auto sizes = node.getSizes(1, "the shape");
  SmallVector<int64_t> shape;
  RealSizes real;
  if (!sizes || failed(readShape(node, node.getInput(1), *sizes, shape, real)))
    return;
  std::optional<Shape> both = broadcastShapes(getShape(input), shape);
  if (!both || hasNegative(shape)) {
    node.emitError() << "the shape [" << shape << "] does not fit the input "
                     << getTensorType(input);
    return;
  }
  for (RealSize &size : real)
    size.dim += static_cast<int64_t>(both->size() - shape.size());
  llvm::erase_if(real, [&](const RealSize &size) {
    return isFixed(node, input, *both, size.dim);
  });
  Value result = node.broadcast(input, *both);
  if (!real.empty() && result == input)
    result = copyAlong(node, result, real.front().dim);
  node.setOutput(0, result, real);
}

/// Repeats each dimension with a new one in front of it, which is broadcast.
void importTile(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  std::optional<SmallVector<int64_t>> repeats =
      node.getConstantInts(1, "the repeats");
  if (!repeats)
    return;
  if (repeats->size() != shape.size() || hasNegative(*repeats)) {
    node.emitError() << "the repeats [" << *repeats << "] do not fit the input "
                     << getTensorType(input);
    return;
  }
  SmallVector<int64_t> split, spread, joined;
  for (auto [size, count] : llvm::zip_equal(shape, *repeats)) {
    split.append({1, size});
    spread.append({count, size});
    joined.push_back(count * size);
  }
  node.setOutput(
      0,
      node.reshape(node.broadcast(node.reshape(input, split), spread), joined));
}

/// Creates a tensor of i1 with rows and columns that is true where
/// isSet(row, column); null after an error.
static Value createMask(OnnxNode &node, int64_t rows, int64_t columns,
                        function_ref<bool(int64_t, int64_t)> isSet) {
  if (!node.mayCreate({rows, columns}))
    return nullptr;
  std::vector<char> bytes;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      bytes.push_back(isSet(row, column));
  return node.createConstant(
      RankedTensorType::get({rows, columns}, node.getBuilder().getI1Type()),
      std::move(bytes));
}

void importTrilu(OnnxNode &node) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  bool upper = node.getBool("upper", true);
  std::optional<SmallVector<int64_t>> k{{0}};
  if (node.hasInput(1))
    k = node.getConstantInts(1, "the input k");
  if (!k || node.hasFailed())
    return;
  if (type.getRank() < 2 || k->size() != 1) {
    node.emitError() << "expects a tensor of rank 2 or more and one k, got "
                     << type << " and " << k->size();
    return;
  }
  Value keeps = createMask(
      node, type.getDimSize(type.getRank() - 2),
      type.getDimSize(type.getRank() - 1), [&](int64_t row, int64_t column) {
        return upper ? column - row >= k->front() : column - row <= k->front();
      });
  Value zero = node.createNumber(0, type.getElementType());
  node.setOutput(0, node.create<WhereOp>(keeps, input, zero));
}

/// The type of the attribute dtype, or that of the input; none after an error.
static Type getWantedType(OnnxNode &node) {
  if (!node.hasAttribute("dtype"))
    return getTensorType(node.getInput(0)).getElementType();
  int64_t number = node.getInt("dtype", 0);
  std::optional<runtime::DType> dtype;
  if (llvm::isInt<32>(number))
    dtype = getDType(static_cast<int32_t>(number));
  if (dtype)
    return getElementType(node.getBuilder().getContext(), *dtype);
  node.emitError() << "the data type " << describeOnnxType(number)
                   << " is not supported";
  return nullptr;
}

void importEyeLike(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.getInput(0));
  Type elementType = getWantedType(node);
  int64_t k = node.getInt("k", 0);
  if (shape.size() != 2)
    node.emitError() << "the input has the rank " << shape.size()
                     << ", expected 2";
  if (node.hasFailed())
    return;
  Value mask =
      createMask(node, shape[0], shape[1], [&](int64_t row, int64_t column) {
        return column - row == k;
      });
  node.setOutput(0, node.convert(mask, elementType));
}

//===----------------------------------------------------------------------===//
// One of many
//===----------------------------------------------------------------------===//

/// The numbers from 0 to below `size` along `axis` of a tensor of that rank.
static Value createRange(OnnxNode &node, int64_t size, int64_t axis,
                         int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = size;
  return node.reshape(node.createRange(size), shape);
}

/// Converts what equals its place along `axis` to true.
static Value isPlace(OnnxNode &node, Value indices, int64_t size,
                     int64_t axis) {
  Value places = createRange(node, size, axis, getShape(indices).size());
  return node.convert(node.create<EqualOp>(indices, places),
                      node.getBuilder().getI1Type());
}

void importOneHot(OnnxNode &node) {
  Value indices = node.getInput(0), values = node.getInput(2);
  std::optional<double> depth = node.getConstantNumber(1, "the depth");
  int64_t rank = getShape(indices).size();
  // The result has one dimension more.
  int64_t axis = node.getAxis("axis", -1, rank + 1);
  if (depth && (*depth < 1 || *depth > 1 << 20))
    node.emitError() << "the depth is " << *depth << ", which is out of range";
  if (getShape(values) != ArrayRef<int64_t>{2})
    node.emitError() << "expects two values, got " << getTensorType(values);
  if (!depth || node.hasFailed())
    return;
  int64_t size = static_cast<int64_t>(*depth);
  SmallVector<int64_t> shape(getShape(indices));
  shape.insert(shape.begin() + axis, 1);
  Value wanted =
      node.countFromStart(node.convert(node.reshape(indices, shape),
                                       node.getBuilder().getI64Type()),
                          size);
  Value isSet = isPlace(node, wanted, size, axis);
  Value off = node.reshape(node.slice(values, 0, 0, 1), {});
  Value on = node.reshape(node.slice(values, 0, 1, 1), {});
  node.setOutput(0, node.create<WhereOp>(isSet, on, off));
}

void importHardmax(OnnxNode &node) {
  Value input = node.getInput(0);
  SmallVector<int64_t> shape(getShape(input));
  bool isFlat = node.getOpset() < 13;
  int64_t axis = node.getAxis("axis", isFlat ? 1 : -1, shape.size());
  if (node.hasFailed())
    return;
  // Before opset 13, all dimensions from axis on are flattened to one.
  SmallVector<int64_t> seen = shape;
  if (isFlat) {
    seen = {multiply(ArrayRef(shape).take_front(axis)),
            multiply(ArrayRef(shape).drop_front(axis))};
    axis = 1;
  }
  OpBuilder &builder = node.getBuilder();
  Value largest = node.create<ArgMaxOp>(
      node.reshape(input, seen), builder.getI64IntegerAttr(axis),
      builder.getBoolAttr(true), builder.getBoolAttr(false));
  if (!largest)
    return;
  Value isLargest = isPlace(node, largest, seen[axis], axis);
  node.setOutput(
      0, node.reshape(
             node.convert(isLargest, getTensorType(input).getElementType()),
             shape));
}

} // namespace tarpon
