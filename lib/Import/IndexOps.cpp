//===- IndexOps.cpp - Import of operators that select elements --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection of known places from a constant is computed here; one from
// another value is a concatenation of slices (pads below zero). Many places,
// and those that are known only at run time, are gathered.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "OpTable.h"
#include "Pads.h"
#include "SizeValues.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;

namespace tarpon {

/// A selection of more parts than this is a gather.
static constexpr size_t maxParts = 64;

//===----------------------------------------------------------------------===//
// Selecting along one axis
//===----------------------------------------------------------------------===//

static Value selectConstant(OnnxNode &node, ElementsAttr data, int64_t axis,
                            ArrayRef<int64_t> indices) {
  auto type = cast<RankedTensorType>(data.getShapedType());
  SmallVector<int64_t> shape(type.getShape());
  std::vector<char> source = getConstantBytes(data);
  int64_t row = multiply(ArrayRef(shape).drop_front(axis + 1)) *
                getElementBytes(type.getElementType());
  int64_t outer = multiply(ArrayRef(shape).take_front(axis));
  int64_t rows = shape[axis];
  shape[axis] = indices.size();
  if (!countElements(shape)) {
    node.emitError() << "the result is too large";
    return nullptr;
  }
  std::vector<char> bytes;
  bytes.reserve(outer * indices.size() * row);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t index : indices) {
      auto from = source.begin() + (i * rows + index) * row;
      bytes.insert(bytes.end(), from, from + row);
    }
  return node.createConstant(type.clone(shape), std::move(bytes));
}

/// The elements at `indices`, which are in range, along `axis`.
Value selectSlices(OnnxNode &node, Value data, int64_t axis,
                   ArrayRef<int64_t> indices) {
  if (ElementsAttr constant = OnnxNode::getConstant(data))
    return selectConstant(node, constant, axis, indices);
  SmallVector<Value> parts;
  for (size_t begin = 0, end; begin < indices.size(); begin = end) {
    end = begin + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1)
      ++end;
    if (parts.size() == maxParts)
      return node.create<GatherOp>(data, node.createInts(indices),
                                   node.getBuilder().getI64IntegerAttr(axis));
    parts.push_back(node.slice(data, axis, indices[begin], end - begin));
    if (!parts.back())
      return nullptr;
  }
  if (parts.empty()) {
    SmallVector<int64_t> shape(getShape(data));
    shape[axis] = 0;
    return node.createConstant(getTensorType(data).clone(shape), {});
  }
  if (parts.size() == 1)
    return parts.front();
  return node.create<ConcatOp>(ValueRange(parts),
                               node.getBuilder().getI64IntegerAttr(axis));
}

/// Returns the elements of a short list of i64 at `indices` as a constant of
/// their shape, if they are known: a shape has known sizes beside one that
/// depends on data. Returns null otherwise.
static Value gatherKnown(OnnxNode &node, ArrayRef<int64_t> indices,
                         ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(node.getInput(0));
  if (type.getRank() != 1 || !type.getElementType().isInteger(64))
    return nullptr;
  auto sizes = node.findSizes(0);
  SmallVector<int64_t> known;
  for (int64_t index : indices) {
    if (!sizes || !(*sizes)[index].isKnown())
      return nullptr;
    known.push_back((*sizes)[index].least);
  }
  return node.reshape(node.createInts(known), shape);
}

void importGather(OnnxNode &node) {
  Value data = node.getInput(0);
  SmallVector<int64_t> shape(getShape(data));
  int64_t axis = node.getAxis("axis", 0, shape.size());
  OpBuilder &builder = node.getBuilder();
  if (!getTensorType(node.getInput(1)).getElementType().isInteger())
    node.emitError() << "the indices are not integers";
  if (node.hasFailed())
    return;
  ElementsAttr indicesAttr = OnnxNode::getConstant(node.getInput(1));
  bool mayBeBehind = node.findRealSize(data, axis).has_value();
  SmallVector<int64_t> indices;
  if (indicesAttr) {
    indices = readInts(indicesAttr);
    mayBeBehind &= llvm::any_of(indices, [](int64_t i) { return i < 0; });
  }
  if (!indicesAttr || mayBeBehind) {
    Value places = node.convert(node.getInput(1), builder.getI64Type());
    if (mayBeBehind)
      places = countFromEnd(node, places, data, axis);
    return node.setOutput(
        0,
        node.create<GatherOp>(data, places, builder.getI64IntegerAttr(axis)));
  }
  for (int64_t &index : indices) {
    if (index < -shape[axis] || index >= shape[axis]) {
      node.emitError() << "index " << index << " is out of range for dimension "
                       << axis << " of size " << shape[axis];
      return;
    }
    index += index < 0 ? shape[axis] : 0;
  }
  ArrayRef<int64_t> inner = indicesAttr.getShapedType().getShape();
  if (Value known = gatherKnown(node, indices, inner))
    return node.setOutput(0, known);
  Value rows = selectSlices(node, data, axis, indices);
  // The indices' shape replaces the axis.
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, inner.begin(), inner.end());
  node.setOutput(0, node.reshape(rows, shape));
}

/// Returns how many slices of the input a condition may select, if that depends
/// on data. Without an axis, the input is flattened.
static Value findSelectable(OnnxNode &node, int64_t axis) {
  Value input = node.getInput(0);
  if (node.hasAttribute("axis")) {
    std::optional<RealSize> real = node.findRealSize(input, axis);
    return real ? real->size : Value();
  }
  RealSizes sizes = node.findRealSizes(input);
  if (sizes.empty())
    return nullptr;
  int64_t each = multiply(getShape(input).drop_front(sizes[0].dim + 1));
  return node.create<MulOp>(sizes[0].size, node.createInts({each}));
}

/// Without an axis, the input is flattened. Of a condition that is longer than
/// the input is, the rest selects nothing.
void importCompress(OnnxNode &node) {
  Value data = node.getInput(0), selects = node.getInput(1);
  if (!node.hasAttribute("axis"))
    data = node.reshape(data, {multiply(getShape(data))});
  int64_t axis = node.getAxis("axis", 0, getShape(data).size());
  if (node.hasFailed())
    return;
  Value selectable = findSelectable(node, axis);
  if (selectable && getShape(selects).size() == 1)
    selects = node.create<WhereOp>(
        createIsCounted(node, getShape(selects), {0, selectable}), selects,
        node.createNumber(0, getTensorType(selects).getElementType()));
  if (selectable || !OnnxNode::getConstant(selects)) {
    Value count;
    Value slices = compress(node, data, selects, axis, count);
    return node.setOutput(0, slices, RealSize{axis, count});
  }
  std::optional<SmallVector<int64_t>> condition =
      node.getConstantInts(1, "the condition");
  if (!condition)
    return;
  if (static_cast<int64_t>(condition->size()) > getShape(data)[axis]) {
    node.emitError() << "the condition has " << condition->size()
                     << " elements for a dimension of " << getShape(data)[axis];
    return;
  }
  SmallVector<int64_t> indices;
  for (auto [index, isSet] : llvm::enumerate(*condition))
    if (isSet)
      indices.push_back(index);
  node.setOutput(0, selectSlices(node, data, axis, indices));
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// Splits into equal parts, of which the last may be smaller since opset 18.
static SmallVector<int64_t> splitEvenly(OnnxNode &node, int64_t size) {
  int64_t count = node.getInt("num_outputs", node.getNumOutputs());
  if (count < 1 || count != node.getNumOutputs()) {
    node.emitError() << "attribute 'num_outputs' is " << count
                     << ", but there are " << node.getNumOutputs()
                     << " outputs";
    return {};
  }
  int64_t part = (size + count - 1) / count;
  SmallVector<int64_t> sizes(count, part);
  sizes.back() = size - part * (count - 1);
  if (sizes.back() < 1 || (sizes.back() != part && node.getOpset() < 18))
    node.emitError() << "cannot split a dimension of " << size << " into "
                     << count << " parts";
  return sizes;
}

void importSplit(OnnxNode &node) {
  Value value = node.getInput(0);
  int64_t axis = node.getAxis("axis", 0, getShape(value).size());
  if (node.hasFailed())
    return;
  int64_t size = getShape(value)[axis];
  std::optional<SmallVector<int64_t>> sizes;
  if (node.hasInput(1))
    sizes = node.getConstantInts(1, "the input split");
  else if (node.hasAttribute("split"))
    sizes = node.getInts("split");
  else
    sizes = splitEvenly(node, size);
  if (!sizes || node.hasFailed())
    return;
  bool fits = sizes->size() == node.getNumOutputs();
  int64_t left = size;
  for (int64_t part : *sizes) {
    fits = fits && part >= 0 && part <= left;
    left -= fits ? part : 0;
  }
  if (!fits || left != 0) {
    node.emitError() << "the parts [" << *sizes
                     << "] do not make up a dimension of " << size << " in "
                     << node.getNumOutputs() << " outputs";
    return;
  }
  int64_t begin = 0;
  for (auto [i, part] : llvm::enumerate(*sizes)) {
    auto indices = llvm::to_vector(llvm::seq<int64_t>(begin, begin + part));
    node.setOutput(i, selectSlices(node, value, axis, indices));
    begin += part;
  }
}

//===----------------------------------------------------------------------===//
// Concat and Pad
//===----------------------------------------------------------------------===//

/// Returns bools that are true for the slices along `axis` that count.
static Value joinCounted(OnnxNode &node, ArrayRef<Value> inputs, int64_t axis) {
  SmallVector<Value> parts;
  for (Value input : inputs) {
    int64_t size = getShape(input)[axis];
    std::optional<RealSize> real = node.findRealSize(input, axis);
    Value all =
        node.splat(node.createNumber(1, node.getBuilder().getI1Type()), {size});
    parts.push_back(real ? createIsCounted(node, {size}, {0, real->size})
                         : all);
  }
  return node.concat(parts, 0);
}

/// Gives all `parts`, of the node's inputs, one size along a dimension in which
/// they are not joined: the standard says that they have one. A size that
/// depends on nothing is that of all; else the result has a real one.
static std::optional<RealSize>
unifySizes(OnnxNode &node, MutableArrayRef<Value> parts, int64_t dim) {
  std::optional<RealSize> real;
  std::optional<int64_t> fixed;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (auto [index, part] : llvm::enumerate(parts)) {
    least = std::min(least, getShape(part)[dim]);
    if (auto size = node.findRealSize(node.getInput(index), dim))
      real = real.value_or(*size);
    else
      fixed = fixed.value_or(getShape(part)[dim]);
  }
  if (!real)
    return std::nullopt;
  for (auto [index, part] : llvm::enumerate(parts))
    if (node.findRealSize(node.getInput(index), dim))
      part = node.slice(part, dim, 0, fixed.value_or(least));
  return fixed ? std::nullopt : real;
}

/// The slices that count of all inputs come in front.
void importConcat(OnnxNode &node) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < node.getNumInputs(); ++i)
    inputs.push_back(node.getInput(i));
  if (!node.hasAttribute("axis")) {
    node.emitError() << "attribute 'axis' is missing";
    return;
  }
  auto rank = static_cast<int64_t>(getShape(inputs.front()).size());
  int64_t axis = node.getAxis("axis", 0, rank);
  bool hasOneRank = llvm::all_of(inputs, [&](Value input) {
    return static_cast<int64_t>(getShape(input).size()) == rank;
  });
  if (node.hasFailed())
    return;
  SmallVector<Value> parts = inputs;
  RealSizes sizes;
  for (int64_t dim = 0; dim < rank && hasOneRank; ++dim)
    if (dim != axis && !llvm::is_contained(parts, Value()))
      if (auto size = unifySizes(node, parts, dim))
        sizes.push_back(*size);
  auto isOpen = [&](Value input) {
    return node.findRealSize(input, axis).has_value();
  };
  Value joined = node.concat(parts, axis), count;
  if (inputs.size() == 1 && isOpen(inputs.front()))
    count = node.findRealSize(inputs.front(), axis)->size;
  else if (joined && hasOneRank && llvm::any_of(inputs, isOpen))
    joined =
        compress(node, joined, joinCounted(node, inputs, axis), axis, count);
  if (count)
    sizes.push_back({axis, count});
  if (joined && !sizes.empty() && llvm::is_contained(inputs, joined))
    joined = copyAlong(node, joined, axis);
  node.setOutput(0, joined, sizes);
}

std::optional<SmallVector<int64_t>> readPads(OnnxNode &node, int64_t rank) {
  std::optional<SmallVector<int64_t>> pads = node.getInts("pads");
  if (node.hasInput(1))
    pads = node.getConstantInts(1, "the input pads");
  std::optional<SmallVector<int64_t>> axes{
      llvm::to_vector(llvm::seq<int64_t>(0, rank))};
  if (node.hasInput(3))
    axes = node.getConstantInts(3, "the input axes");
  if (!pads || !axes || !node.normalizeAxes(*axes, rank) || node.hasFailed())
    return std::nullopt;
  if (pads->size() != 2 * axes->size()) {
    node.emitError() << "the pads have " << pads->size()
                     << " entries, expected " << 2 * axes->size();
    return std::nullopt;
  }
  SmallVector<int64_t> result(2 * rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = node.normalizeAxis((*axes)[i], rank);
    result[axis] = (*pads)[i];
    result[rank + axis] = (*pads)[axes->size() + i];
  }
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  for (int64_t pad : result)
    if (pad < -limit || pad > limit) {
      node.emitError() << "the pad " << pad << " is out of range";
      return std::nullopt;
    }
  return result;
}

void importPad(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> pads =
      readPads(node, getShape(input).size());
  std::optional<double> value = node.getFloat("value", 0.0f);
  if (node.hasInput(2))
    value = node.getConstantNumber(2, "the input constant_value");
  std::string modeName = node.getString("mode", "constant");
  std::optional<PadMode> mode = symbolizePadMode(modeName);
  if (!mode)
    node.emitError() << "the mode '" << modeName
                     << "' is not supported; expected constant, edge, "
                        "reflect or wrap";
  if (!pads || !value || node.hasFailed())
    return;
  if (llvm::all_of(*pads, [](int64_t pad) { return pad == 0; }))
    return node.setOutput(0, input);
  OpBuilder &builder = node.getBuilder();
  node.setOutput(
      0, node.create<PadOp>(input, builder.getDenseI64ArrayAttr(*pads),
                            builder.getF64FloatAttr(*value),
                            PadModeAttr::get(builder.getContext(), *mode)));
}

/// Crops or pads the same number of cells on both sides; of an odd number, the
/// end gets one more.
void importCenterCropPad(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  auto rank = static_cast<int64_t>(shape.size());
  std::optional<SmallVector<int64_t>> sizes =
      node.getConstantInts(1, "the shape");
  SmallVector<int64_t> axes = node.getInts("axes");
  if (!node.hasAttribute("axes"))
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (sizes && sizes->size() != axes.size())
    node.emitError() << "the shape has " << sizes->size() << " sizes for "
                     << axes.size() << " axes";
  if (!sizes || node.hasFailed())
    return;
  SmallVector<int64_t> pads(2 * rank, 0);
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    int64_t dim = node.normalizeAxis(axis, rank);
    if (size < 1 || size > std::numeric_limits<int32_t>::max())
      node.emitError() << "the size " << size << " is out of range";
    if (node.hasFailed())
      return;
    int64_t missing = size - shape[dim];
    pads[dim] = missing < 0 ? -(-missing / 2) : missing / 2;
    pads[rank + dim] = missing - pads[dim];
  }
  OpBuilder &builder = node.getBuilder();
  node.setOutput(0,
                 node.create<PadOp>(input, builder.getDenseI64ArrayAttr(pads),
                                    builder.getF64FloatAttr(0.0),
                                    PadModeAttr::get(builder.getContext(),
                                                     PadMode::Constant)));
}

} // namespace tarpon
