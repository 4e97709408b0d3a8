//===- GatherOps.cpp - Import of gathers and scatters of elements ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices along several dimensions become indices into a tensor in which these
// dimensions are one.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"

#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tarpon {

static Value createGather(OnnxNode &node, Value data, Value indices) {
  return node.create<GatherOp>(data, indices,
                               node.getBuilder().getI64IntegerAttr(0));
}

static Value addScaled(OnnxNode &node, Value sum, Value indices,
                       int64_t stride) {
  Value scaled =
      node.create<MulOp>(indices, node.createInts({stride}, /*scalar=*/true));
  return sum ? node.create<AddOp>(scaled, sum) : scaled;
}

/// The numbers from 0 to below the size of dimension `dim` of `shape`, along
/// it.
static Value createPlaces(OnnxNode &node, ArrayRef<int64_t> shape, size_t dim) {
  SmallVector<int64_t> line(shape.size(), 1);
  line[dim] = shape[dim];
  return node.reshape(
      node.createInts(llvm::to_vector(llvm::seq<int64_t>(0, shape[dim]))),
      line);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The flat index into `shape` of the element that each index along `axis`
/// selects, whose other indices are those of its own place.
static Value flattenElements(OnnxNode &node, Value indices,
                             ArrayRef<int64_t> shape, int64_t axis) {
  indices = node.convert(indices, node.getBuilder().getI64Type());
  Value flat =
      addScaled(node, nullptr, node.countFromStart(indices, shape[axis]),
                multiply(shape.drop_front(axis + 1)));
  for (size_t dim = 0; dim < shape.size() && flat; ++dim)
    if (static_cast<int64_t>(dim) != axis)
      flat = node.create<AddOp>(
          flat,
          addScaled(node, nullptr, createPlaces(node, getShape(indices), dim),
                    multiply(shape.drop_front(dim + 1))));
  return flat;
}

Value gatherElements(OnnxNode &node, Value data, Value indices, int64_t axis) {
  if (!data || !indices)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(data);
  return createGather(node, node.reshape(data, {multiply(shape)}),
                      flattenElements(node, indices, shape, axis));
}

/// Checks that indices fit the data beside `axis`, which is -1 after an error.
static int64_t getElementAxis(OnnxNode &node, Value data, Value indices) {
  ArrayRef<int64_t> shape = getShape(data), places = getShape(indices);
  int64_t axis = node.getAxis("axis", 0, shape.size());
  bool fits = shape.size() == places.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = static_cast<int64_t>(dim) == axis || places[dim] <= shape[dim];
  if (!fits)
    node.emitError() << "the indices " << getTensorType(indices)
                     << " do not fit the data " << getTensorType(data);
  return node.hasFailed() ? -1 : axis;
}

void importGatherElements(OnnxNode &node) {
  Value data = node.getInput(0), indices = node.getInput(1);
  int64_t axis = getElementAxis(node, data, indices);
  if (axis < 0)
    return;
  node.setOutput(0, gatherElements(node, data, indices, axis));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The last dimension of the indices holds one index for each of the `count`
/// dimensions of the data from `first` on; returns the index into these, as if
/// all dimensions up to them were one. Leading dimensions of indices and data
/// are the same.
static Value flattenSlices(OnnxNode &node, Value indices,
                           ArrayRef<int64_t> shape, size_t first,
                           size_t count) {
  SmallVector<int64_t> places(getShape(indices).drop_back());
  int64_t last = static_cast<int64_t>(places.size());
  indices = node.convert(indices, node.getBuilder().getI64Type());
  ArrayRef<int64_t> indexed = shape.take_front(first + count);
  Value flat;
  for (size_t i = 0; i < count; ++i) {
    Value part = node.reshape(
        node.slice(indices, last, static_cast<int64_t>(i), 1), places);
    flat = addScaled(node, flat, node.countFromStart(part, shape[first + i]),
                     multiply(indexed.drop_front(first + i + 1)));
  }
  for (size_t dim = 0; dim < first && flat; ++dim)
    flat = addScaled(node, flat, createPlaces(node, places, dim),
                     multiply(indexed.drop_front(dim + 1)));
  return flat;
}

/// Reshapes the data so that its first `count` dimensions are one.
static Value joinFront(OnnxNode &node, Value data, size_t count) {
  ArrayRef<int64_t> shape = getShape(data);
  SmallVector<int64_t> joined = {multiply(shape.take_front(count))};
  llvm::append_range(joined, shape.drop_front(count));
  return node.reshape(data, joined);
}

void importGatherND(OnnxNode &node) {
  Value data = node.getInput(0), indices = node.getInput(1);
  ArrayRef<int64_t> shape = getShape(data), places = getShape(indices);
  int64_t batch = node.getInt("batch_dims", 0);
  int64_t count = places.empty() ? 0 : places.back();
  auto rank = static_cast<int64_t>(shape.size());
  bool fits = batch >= 0 && batch < static_cast<int64_t>(places.size()) &&
              count > 0 && batch + count <= rank &&
              shape.take_front(batch) == places.take_front(batch);
  if (!fits)
    node.emitError() << "the indices " << getTensorType(indices)
                     << " do not fit the data " << getTensorType(data)
                     << " with " << batch << " batch dimensions";
  if (node.hasFailed())
    return;
  node.setOutput(
      0, createGather(node, joinFront(node, data, batch + count),
                      flattenSlices(node, indices, shape, batch, count)));
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

static std::optional<ScatterMode> getReduction(OnnxNode &node) {
  std::string name = node.getString("reduction", "none");
  auto mode = llvm::StringSwitch<std::optional<ScatterMode>>(name)
                  .Case("none", ScatterMode::Replace)
                  .Case("add", ScatterMode::Add)
                  .Case("mul", ScatterMode::Mul)
                  .Case("max", ScatterMode::Max)
                  .Case("min", ScatterMode::Min)
                  .Default(std::nullopt);
  if (!mode)
    node.emitError() << "attribute 'reduction' is '" << name
                     << "', expected none, add, mul, max or min";
  return node.hasFailed() ? std::nullopt : mode;
}

static Value createScatter(OnnxNode &node, Value data, Value indices,
                           Value updates, ScatterMode mode) {
  return node.create<ScatterOp>(
      data, indices, updates,
      ScatterModeAttr::get(node.getBuilder().getContext(), mode));
}

void importScatterElements(OnnxNode &node) {
  Value data = node.getInput(0), indices = node.getInput(1),
        updates = node.getInput(2);
  int64_t axis = getElementAxis(node, data, indices);
  std::optional<ScatterMode> mode = getReduction(node);
  if (axis < 0 || !mode)
    return;
  if (getShape(indices) != getShape(updates)) {
    node.emitError() << "the indices " << getTensorType(indices)
                     << " do not fit the updates " << getTensorType(updates);
    return;
  }
  ArrayRef<int64_t> shape = getShape(data);
  int64_t count = multiply(getShape(indices));
  Value flat =
      node.reshape(flattenElements(node, indices, shape, axis), {count});
  Value result = createScatter(node, node.reshape(data, {multiply(shape)}),
                               flat, node.reshape(updates, {count}), *mode);
  node.setOutput(0, node.reshape(result, shape));
}

/// Before opset 11, ScatterElements had this name.
void importScatter(OnnxNode &node) { importScatterElements(node); }

void importScatterND(OnnxNode &node) {
  Value data = node.getInput(0), indices = node.getInput(1),
        updates = node.getInput(2);
  ArrayRef<int64_t> shape = getShape(data), places = getShape(indices);
  std::optional<ScatterMode> mode = getReduction(node);
  if (!mode)
    return;
  size_t count = places.empty() ? 0 : places.back();
  SmallVector<int64_t> expected(places.drop_back(places.empty() ? 0 : 1));
  if (count <= shape.size())
    llvm::append_range(expected, shape.drop_front(count));
  if (count == 0 || count > shape.size() ||
      getShape(updates) != ArrayRef(expected)) {
    node.emitError() << "the indices " << getTensorType(indices)
                     << " and the updates " << getTensorType(updates)
                     << " do not fit the data " << getTensorType(data);
    return;
  }
  int64_t rows = multiply(places.drop_back());
  Value flat =
      node.reshape(flattenSlices(node, indices, shape, 0, count), {rows});
  SmallVector<int64_t> rowsShape = {rows};
  llvm::append_range(rowsShape, shape.drop_front(count));
  Value result = createScatter(node, joinFront(node, data, count), flat,
                               node.reshape(updates, rowsShape), *mode);
  node.setOutput(0, node.reshape(result, shape));
}

} // namespace tarpon
