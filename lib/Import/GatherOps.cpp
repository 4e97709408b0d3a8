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
#include "SizeValues.h"
#include "Window.h"
#include "tarpon/Problem/Shapes.h"

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
  return node.reshape(node.createRange(shape[dim]), line);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The flat index into `data` of the element that each index along `axis`
/// selects, whose other indices are those of its own place.
static Value flattenElements(OnnxNode &node, Value indices, Value data,
                             int64_t axis) {
  ArrayRef<int64_t> shape = getShape(data);
  indices = node.convert(indices, node.getBuilder().getI64Type());
  Value flat = addScaled(node, nullptr, countFromEnd(node, indices, data, axis),
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
                      flattenElements(node, indices, data, axis));
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
static Value flattenSlices(OnnxNode &node, Value indices, Value data,
                           size_t first, size_t count) {
  ArrayRef<int64_t> shape = getShape(data);
  SmallVector<int64_t> places(getShape(indices).drop_back());
  int64_t last = static_cast<int64_t>(places.size());
  indices = node.convert(indices, node.getBuilder().getI64Type());
  ArrayRef<int64_t> indexed = shape.take_front(first + count);
  Value flat;
  for (size_t i = 0; i < count; ++i) {
    Value part = node.reshape(
        node.slice(indices, last, static_cast<int64_t>(i), 1), places);
    flat = addScaled(node, flat, countFromEnd(node, part, data, first + i),
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
                      flattenSlices(node, indices, data, batch, count)));
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

/// Moves the flat places of indices that do not count behind all others, where
/// nothing is written.
static Value dropUncounted(OnnxNode &node, Value places, Value indices,
                           int64_t behind) {
  for (const RealSize &real : node.findRealSizes(indices))
    if (places && real.dim < static_cast<int64_t>(getShape(places).size()))
      places = node.create<WhereOp>(
          createIsCounted(node, getShape(places), real), places,
          node.createInts({behind}, /*scalar=*/true));
  return places;
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
  Value places = dropUncounted(node, flattenElements(node, indices, data, axis),
                               indices, multiply(shape));
  Value flat = node.reshape(places, {count});
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
  Value flat = node.reshape(
      dropUncounted(node, flattenSlices(node, indices, data, 0, count), indices,
                    multiply(shape.take_front(count))),
      {rows});
  SmallVector<int64_t> rowsShape = {rows};
  llvm::append_range(rowsShape, shape.drop_front(count));
  Value result = createScatter(node, joinFront(node, data, count), flat,
                               node.reshape(updates, rowsShape), *mode);
  node.setOutput(0, node.reshape(result, shape));
}

//===----------------------------------------------------------------------===//
// TensorScatter
//===----------------------------------------------------------------------===//

/// The place along an axis of `size` of each of `count` updates, for each item
/// of the batch (batch x 1 x count). Items that are written behind the end of
/// the axis go to its start if it is circular.
static Value createWritePlaces(OnnxNode &node, int64_t batch, int64_t count,
                               int64_t size, bool isCircular) {
  Value steps = createPlaces(node, {1, 1, count}, 2);
  Value first = node.hasInput(2)
                    ? node.reshape(node.getInput(2), {batch, 1, 1})
                    : node.createInts(SmallVector<int64_t>(batch, 0));
  Value places = node.create<AddOp>(node.reshape(first, {batch, 1, 1}), steps);
  if (!isCircular)
    return places;
  Value divisor = node.createInts({size}, /*scalar=*/true);
  Value turns = node.create<DivOp>(places, divisor);
  return node.countFromStart(
      node.create<SubOp>(places, node.create<MulOp>(turns, divisor)), size);
}

/// Dimensions in front of the axis are joined with it to rows.
void importTensorScatter(OnnxNode &node) {
  Value cache = node.getInput(0), update = node.getInput(1);
  ArrayRef<int64_t> shape = getShape(cache);
  std::string mode = node.getString("mode", "linear");
  int64_t axis = node.getAxis("axis", -2, shape.size());
  if (mode != "linear" && mode != "circular")
    node.emitError() << "attribute 'mode' is '" << mode
                     << "', expected linear or circular";
  if (node.hasFailed())
    return;
  SmallVector<int64_t> wanted(shape), places = {shape[0]};
  bool fits = axis > 0 && getShape(update).size() == shape.size();
  if (fits)
    wanted[axis] = getShape(update)[axis];
  fits = fits && getShape(update) == ArrayRef(wanted) &&
         wanted[axis] <= shape[axis];
  if (fits && node.hasInput(2))
    fits = getShape(node.getInput(2)) == ArrayRef(places);
  if (!fits) {
    node.emitError() << "the update " << getTensorType(update)
                     << " or its indices do not fit the cache "
                     << getTensorType(cache) << " along axis " << axis;
    return;
  }
  int64_t batch = shape[0], count = wanted[axis], size = shape[axis];
  int64_t groups = multiply(shape.slice(1, axis - 1));
  Value along = createWritePlaces(node, batch, count, size, mode == "circular");
  Value row =
      addScaled(node,
                addScaled(node, along, createPlaces(node, {batch, 1, 1}, 0),
                          groups * size),
                createPlaces(node, {1, groups, 1}, 1), size);
  // A place that is not on the axis is written nowhere.
  Value outside = node.createInts({batch * groups * size}, /*scalar=*/true),
        isBelow = node.isSet(
            node.create<LessOp>(along, node.createInts({0}, /*scalar=*/true))),
        isInside = node.isSet(node.create<LessOp>(
            along, node.createInts({size}, /*scalar=*/true)));
  row = node.create<WhereOp>(isInside, row, outside);
  row = node.create<WhereOp>(isBelow, outside, row);
  int64_t rows = batch * groups * count;
  SmallVector<int64_t> rowsShape = {rows};
  llvm::append_range(rowsShape, shape.drop_front(axis + 1));
  Value result = createScatter(
      node, joinFront(node, cache, axis + 1), node.reshape(row, {rows}),
      node.reshape(update, rowsShape), ScatterMode::Replace);
  node.setOutput(0, node.reshape(result, shape));
}

//===----------------------------------------------------------------------===//
// ReverseSequence
//===----------------------------------------------------------------------===//

/// Place t of a sequence of length n is place n - 1 - t, behind it place t.
void importReverseSequence(OnnxNode &node) {
  Value data = node.getInput(0), lengths = node.getInput(1);
  ArrayRef<int64_t> shape = getShape(data);
  int64_t batch = node.getInt("batch_axis", 1),
          time = node.getInt("time_axis", 0);
  if (!node.hasFailed() && (batch + time != 1 || batch * time != 0))
    node.emitError() << "batch_axis and time_axis are " << batch << " and "
                     << time << ", expected 0 and 1";
  if (shape.size() < 2 ||
      (!node.hasFailed() && getShape(lengths) != ArrayRef(shape[batch])))
    node.emitError() << "the lengths " << getTensorType(lengths)
                     << " do not fit the data " << getTensorType(data);
  if (node.hasFailed())
    return;
  SmallVector<int64_t> spread = {1, 1};
  spread[batch] = shape[batch];
  lengths = node.reshape(node.convert(lengths, node.getBuilder().getI64Type()),
                         spread);
  Value places = createPlaces(node, shape.take_front(2), time);
  Value last =
      node.create<SubOp>(lengths, node.createInts({1}, /*scalar=*/true));
  Value isInside = node.create<LessOp>(places, lengths);
  Value source = node.create<WhereOp>(
      node.convert(isInside, node.getBuilder().getI1Type()),
      node.create<SubOp>(last, places), places);
  // The first two dimensions are one.
  Value flat = addScaled(node, nullptr, source, time == 0 ? shape[1] : 1);
  flat = node.create<AddOp>(
      flat,
      addScaled(node, nullptr, createPlaces(node, shape.take_front(2), batch),
                batch == 0 ? shape[1] : 1));
  node.setOutput(0, createGather(node, joinFront(node, data, 2), flat));
}

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

/// The pixel of a flat image that each cell of the window has at each of its
/// places, or one behind the last for a cell that lies in the padding.
static SmallVector<int64_t> listPixels(const Window &window,
                                       ArrayRef<int64_t> image,
                                       ArrayRef<int64_t> places) {
  SmallVector<int64_t> pixels;
  int64_t numCells = multiply(window.kernel), numPlaces = multiply(places);
  for (int64_t cell = 0; cell < numCells; ++cell)
    for (int64_t place = 0; place < numPlaces; ++place) {
      SmallVector<int64_t> in = splitIndex(cell, window.kernel),
                           at = splitIndex(place, places);
      int64_t pixel = 0;
      bool isInside = true;
      for (auto [dim, size] : llvm::enumerate(image)) {
        int64_t index = at[dim] * window.strides[dim] - window.pads[dim] +
                        in[dim] * window.dilations[dim];
        isInside &= index >= 0 && index < size;
        pixel = pixel * size + index;
      }
      pixels.push_back(isInside ? pixel : multiply(image));
    }
  return pixels;
}

/// Adds the columns up at the pixels that they are those of.
void importCol2Im(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> image =
      node.getConstantInts(1, "the image_shape");
  std::optional<SmallVector<int64_t>> block =
      node.getConstantInts(2, "the block_shape");
  ArrayRef<int64_t> shape = getShape(input);
  if (!image || !block)
    return;
  auto isPositive = [](int64_t size) { return size > 0; };
  if (shape.size() != 3 || image->size() != block->size() ||
      !llvm::all_of(*image, isPositive) || !llvm::all_of(*block, isPositive) ||
      !countElements(*image) || !countElements(*block)) {
    node.emitError() << "the image_shape [" << *image
                     << "] and the block_shape [" << *block
                     << "] do not fit the input " << getTensorType(input);
    return;
  }
  SmallVector<int64_t> imageShape = {shape[0], 1};
  llvm::append_range(imageShape, *image);
  std::optional<Window> window = readWindow(node, imageShape, *block);
  if (!window || node.hasFailed())
    return;
  SmallVector<int64_t> places;
  SlidingWindow sliding{window->kernel, window->strides, window->pads,
                        window->dilations};
  int64_t cells = multiply(window->kernel), pixels = multiply(*image);
  if (sliding.appendPlaces(*image, places) || shape[1] % cells != 0 ||
      multiply(places) != shape[2]) {
    node.emitError() << "the input " << getTensorType(input)
                     << " does not hold blocks [" << *block << "] of an image ["
                     << *image << "]";
    return;
  }
  int64_t channels = shape[1] / cells, planes = shape[0] * channels;
  Value columns = node.transpose(
      node.reshape(input, {shape[0], channels, cells, shape[2]}), {2, 3, 0, 1});
  Type elementType = getTensorType(input).getElementType();
  Value sums = createScatter(
      node, node.splat(node.createNumber(0, elementType), {pixels, planes}),
      node.createInts(listPixels(*window, *image, places)),
      node.reshape(columns, {cells * shape[2], planes}), ScatterMode::Add);
  imageShape[1] = channels;
  if (sums)
    node.setOutput(0, node.reshape(node.transpose(sums, {1, 0}), imageShape));
}

} // namespace tarpon
