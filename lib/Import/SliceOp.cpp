//===- SliceOp.cpp - Import of Slice --------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A start that is known, and not counted from an end that depends on data,
// selects slices while compiling. Others are added to the places of a gather,
// whose result has as many slices as there may be.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "OpTable.h"
#include "SizeValues.h"

#include <algorithm>

using namespace mlir;

namespace tarpon {

namespace {

struct SliceBounds {
  SizeElements::List starts, ends;
  SmallVector<int64_t> axes, steps;
};

/// Slices one dimension of a value whose size, or the slice's, depends on data.
class RealSlice {
public:
  /// The bounds are the elements at `place` of their lists.
  RealSlice(OnnxNode &node, const SliceBounds &bounds, size_t place,
            Value &value)
      : node(node), start(bounds.starts[place]), end(bounds.ends[place]),
        axis(bounds.axes[place]), step(bounds.steps[place]),
        place(static_cast<int64_t>(place)), most(getShape(value)[axis]),
        value(value) {
    std::optional<RealSize> real = node.findRealSize(node.getInput(0), axis);
    size = real ? real->size : node.createInts({most});
  }

  /// Slices the value and returns the size of the dimension.
  RealSize apply();

private:
  Value createPlace(const SizeElement &bound, unsigned input);
  Value createEnd();
  int64_t countMost() const;

  OnnxNode &node;
  const SizeElement &start, &end;
  int64_t axis, step, place;
  /// The most that the size of the dimension may be.
  int64_t most;
  Value &value, size;
};

} // namespace

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The list is an attribute before opset 10, and an input since then.
static SizeElements::List readBounds(OnnxNode &node, StringRef name,
                                     unsigned input) {
  SizeElements::List list;
  if (node.hasInput(input))
    return node.getSizes(input, "the input " + name.str()).value_or(list);
  for (int64_t number : node.getInts(name))
    list.push_back({number, number, nullptr});
  return list;
}

static SmallVector<int64_t> readList(OnnxNode &node, StringRef name,
                                     unsigned input) {
  if (node.hasInput(input))
    return node.getConstantInts(input, "the input " + name.str())
        .value_or(SmallVector<int64_t>());
  return node.getInts(name);
}

static std::optional<SliceBounds> readSliceBounds(OnnxNode &node,
                                                  int64_t rank) {
  SliceBounds bounds{readBounds(node, "starts", 1), readBounds(node, "ends", 2),
                     readList(node, "axes", 3), readList(node, "steps", 4)};
  if (bounds.axes.empty())
    for (size_t i = 0; i < bounds.starts.size(); ++i)
      bounds.axes.push_back(i);
  if (bounds.steps.empty())
    bounds.steps.assign(bounds.starts.size(), 1);
  if (node.hasFailed())
    return std::nullopt;
  size_t count = bounds.starts.size();
  if (count == 0 || bounds.ends.size() != count ||
      bounds.axes.size() != count || bounds.steps.size() != count) {
    node.emitError() << "starts, ends, axes and steps have " << count << ", "
                     << bounds.ends.size() << ", " << bounds.axes.size()
                     << " and " << bounds.steps.size() << " entries";
    return std::nullopt;
  }
  for (int64_t &axis : bounds.axes)
    axis = node.normalizeAxis(axis, rank);
  if (llvm::is_contained(bounds.steps, 0))
    node.emitError() << "a step is 0";
  if (node.hasFailed())
    return std::nullopt;
  return bounds;
}

/// The places that a slice of a dimension of `size` selects, as in NumPy.
static SmallVector<int64_t> listSlice(int64_t start, int64_t end, int64_t step,
                                      int64_t size) {
  // Backwards, the first place of all would be selected.
  if (size == 0)
    return {};
  step =
      std::clamp(step, -std::max<int64_t>(size, 1), std::max<int64_t>(size, 1));
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  start = std::clamp(start < 0 ? start + size : start, step > 0 ? low : 0,
                     std::max<int64_t>(high, 0));
  end = std::clamp(end < 0 ? end + size : end, low, high);
  SmallVector<int64_t> indices;
  for (int64_t i = start; step > 0 ? i < end : i > end; i += step)
    indices.push_back(i);
  return indices;
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

/// Returns a bound as a place that is not below 0: one that is counts from the
/// end.
Value RealSlice::createPlace(const SizeElement &bound, unsigned input) {
  Value number = node.hasInput(input)
                     ? getSizeValue(node, node.getInput(input), place, bound)
                     : node.createInts({bound.least});
  if (bound.least >= 0)
    return number;
  Value zero = node.createInts({0});
  Value fromEnd = node.create<AddOp>(size, number);
  if (bound.most >= 0)
    fromEnd = node.create<WhereOp>(
        node.isSet(node.create<LessOp>(number, zero)), fromEnd, number);
  return node.create<MaxOp>(fromEnd, zero);
}

/// Returns the end as a place in the dimension. One that is known may be far
/// below 0, from which nothing could be subtracted.
Value RealSlice::createEnd() {
  if (end.size == size || (end.isKnown() && end.least >= most))
    return size;
  if (end.isKnown() && end.least < 0)
    return node.create<AddOp>(size,
                              node.createInts({std::max(end.least, -most)}));
  return node.create<MinOp>(size, createPlace(end, 2));
}

/// The most slices that there may be.
int64_t RealSlice::countMost() const {
  int64_t last = end.least < 0 ? most : std::min(end.most, most);
  if (end.isKnown() && end.least < 0)
    last = std::max<int64_t>(most + end.least, 0);
  if (start.isKnown() && start.least < 0)
    return std::min(last, -std::max(start.least, -most));
  return last - std::clamp<int64_t>(start.least, 0, last);
}

RealSize RealSlice::apply() {
  Value last = createEnd(), count = last;
  if (start.isKnown() && start.least >= 0) {
    bool mayBeAny = !end.isKnown() && end.least < 0;
    int64_t limit = mayBeAny ? most : end.most;
    value = selectSlices(node, value, axis,
                         listSlice(start.least, limit, step, most));
    int64_t first = std::min(start.least, most);
    if (first > 0)
      count = node.create<SubOp>(last, node.createInts({first}));
  } else {
    Value first = createPlace(start, 1);
    SmallVector<int64_t> steps;
    for (int64_t i = 0, length = countMost(); i < length; i += step)
      steps.push_back(i);
    value = node.create<GatherOp>(
        value, node.create<AddOp>(first, node.createInts(steps)),
        node.getBuilder().getI64IntegerAttr(axis));
    count = node.create<SubOp>(last, first);
  }
  bool isAhead = start.isKnown() && start.least == 0;
  if (!isAhead || (end.isKnown() && end.least < 0))
    count = node.create<MaxOp>(count, node.createInts({0}));
  if (step > 1)
    count = node.create<DivOp>(
        node.create<AddOp>(count, node.createInts({step - 1})),
        node.createInts({step}));
  return {axis, count};
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// Slices dimension `place` of the lists, and appends its size to `sizes` if
/// that depends on data.
static void sliceOne(OnnxNode &node, const SliceBounds &bounds, size_t place,
                     Value &value, RealSizes &sizes) {
  int64_t axis = bounds.axes[place], step = bounds.steps[place];
  const SizeElement &start = bounds.starts[place], &end = bounds.ends[place];
  bool isKnown = start.isKnown() && end.isKnown() &&
                 !node.findRealSize(node.getInput(0), axis);
  if (isKnown) {
    value = selectSlices(
        node, value, axis,
        listSlice(start.least, end.least, step, getShape(value)[axis]));
    return;
  }
  if (step < 1) {
    node.emitError() << "the slice of dimension " << axis
                     << ", whose size depends on data, has the step " << step
                     << ", expected 1 or more";
    return;
  }
  sizes.push_back(RealSlice(node, bounds, place, value).apply());
}

void importSlice(OnnxNode &node) {
  Value input = node.getInput(0), value = input;
  std::optional<SliceBounds> bounds =
      readSliceBounds(node, getShape(value).size());
  RealSizes sizes;
  for (size_t i = 0; bounds && i < bounds->axes.size() && value; ++i)
    sliceOne(node, *bounds, i, value, sizes);
  if (node.hasFailed() || !value)
    return;
  auto isNew = [&](const RealSize &size) {
    std::optional<RealSize> known = node.findRealSize(input, size.dim);
    return !known || *known != node.canonicalize(input, size);
  };
  if (value == input && llvm::any_of(sizes, isNew))
    value = copyAlong(node, value, sizes.front().dim);
  node.setOutput(0, value, sizes);
}

} // namespace tarpon
