//===- SortOps.cpp - Import of operators that sort ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection whose size depends on data is a sort that puts what is selected
// in front; the number of selected elements is a result of its own.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "OpTable.h"
#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// TopK
//===----------------------------------------------------------------------===//

static Value createTopK(OnnxNode &node, Value input, int64_t axis,
                        int64_t count, bool largest) {
  OpBuilder &builder = node.getBuilder();
  return node.create<TopKOp>(input, builder.getI64IntegerAttr(axis),
                             builder.getI64IntegerAttr(count),
                             builder.getBoolAttr(largest));
}

/// The number of elements is an attribute before opset 10, and an input since
/// then.
static std::optional<SizeElement> readCount(OnnxNode &node) {
  if (node.getOpset() < 10) {
    if (!node.hasAttribute("k"))
      node.emitError() << "attribute 'k' is missing";
    int64_t count = node.getInt("k", 1);
    return SizeElement{count, count, nullptr};
  }
  if (!node.hasInput(1)) {
    node.emitError() << "input 1 is missing";
    return std::nullopt;
  }
  auto count = node.getSizes(1, "the number of elements");
  if (!count)
    return std::nullopt;
  if (count->size() != 1) {
    node.emitError() << "the number of elements is " << count->size()
                     << " numbers, expected one";
    return std::nullopt;
  }
  return count->front();
}

/// Results that need not be sorted are all the same. A number of elements that
/// depends on data is at most that of the input.
void importTopK(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<SizeElement> count = readCount(node);
  int64_t axis = node.getAxis("axis", -1, getShape(input).size());
  bool largest = node.getBool("largest", true);
  node.getBool("sorted", true);
  if (!count || node.hasFailed())
    return;
  int64_t most = count->most;
  std::optional<RealSize> size;
  if (!count->isKnown()) {
    most = std::min(most, getShape(input)[axis]);
    size = RealSize{axis, getSizeValue(node, node.getInput(1), 0, *count)};
  }
  Value indices = createTopK(node, input, axis, most, largest);
  if (node.isOutputUsed(0))
    node.setOutput(0, gatherElements(node, input, indices, axis), size);
  node.setOutput(1, indices, size);
}

//===----------------------------------------------------------------------===//
// Places that a mask selects
//===----------------------------------------------------------------------===//

namespace {
/// The places of a line at which a mask of i64 is 1, in order, and others
/// behind them; and how many there are.
struct Selection {
  Value places, count;
};
} // namespace

static Selection select(OnnxNode &node, Value mask) {
  if (!mask)
    return {};
  OpBuilder &builder = node.getBuilder();
  // A sort leaves equal elements in their order.
  Value places = createTopK(node, mask, 0, getShape(mask)[0], /*largest=*/true);
  Value count = node.create<ReduceSumOp>(
      mask, builder.getDenseI64ArrayAttr({0}), builder.getBoolAttr(true));
  return {places, count};
}

static Value gatherAlong(OnnxNode &node, Value data, Value indices,
                         int64_t axis) {
  return node.create<GatherOp>(data, indices,
                               node.getBuilder().getI64IntegerAttr(axis));
}

/// Converts what is not 0 to 1 of i64.
static Value isSet(OnnxNode &node, Value value) {
  OpBuilder &builder = node.getBuilder();
  return node.convert(node.convert(value, builder.getI1Type()),
                      builder.getI64Type());
}

Value compress(OnnxNode &node, Value data, Value condition, int64_t axis,
               Value &count) {
  if (!data || !condition)
    return nullptr;
  if (getShape(condition).size() != 1 ||
      getShape(condition)[0] > getShape(data)[axis]) {
    node.emitError() << "the condition " << getTensorType(condition)
                     << " does not fit dimension " << axis << " of "
                     << getTensorType(data);
    return nullptr;
  }
  Selection selection = select(node, isSet(node, condition));
  count = selection.count;
  return gatherAlong(node, data, selection.places, axis);
}

void importNonZero(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  int64_t size = multiply(shape);
  if (shape.empty() || size == 0) {
    node.emitError() << "expects a tensor with elements and dimensions, got "
                     << getTensorType(input);
    return;
  }
  Selection selection = select(node, isSet(node, node.reshape(input, {size})));
  auto number = [&](int64_t value) {
    return node.createInts({value}, /*scalar=*/true);
  };
  SmallVector<Value> rows;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    Value index = node.create<DivOp>(
        selection.places, number(multiply(shape.drop_front(dim + 1))));
    Value whole = node.create<MulOp>(
        node.create<DivOp>(index, number(shape[dim])), number(shape[dim]));
    Value row = node.create<SubOp>(index, whole);
    if (!row)
      return;
    rows.push_back(node.reshape(row, {1, size}));
  }
  node.setOutput(0, node.concat(rows, 0), RealSize{1, selection.count});
}

//===----------------------------------------------------------------------===//
// NonMaxSuppression
//===----------------------------------------------------------------------===//

/// The number of an optional input.
static std::optional<double> readNumber(OnnxNode &node, unsigned input,
                                        StringRef what, double otherwise) {
  if (!node.hasInput(input))
    return otherwise;
  return node.getConstantNumber(input, what);
}

void importNonMaxSuppression(OnnxNode &node) {
  Value boxes = node.getInput(0), scores = node.getInput(1);
  ArrayRef<int64_t> shape = getShape(scores);
  std::optional<double> limit = readNumber(node, 2, "the limit", 0);
  std::optional<double> overlap = readNumber(node, 3, "the iou_threshold", 0);
  std::optional<double> score = readNumber(node, 4, "the score_threshold", 0);
  bool centerPoint = node.getBool("center_point_box", false);
  if (!limit || !overlap || !score || node.hasFailed())
    return;
  if (shape.size() != 3 || multiply(shape) == 0 ||
      getShape(boxes) != ArrayRef<int64_t>{shape[0], shape[2], 4}) {
    node.emitError() << "the boxes " << getTensorType(boxes)
                     << " do not fit the scores " << getTensorType(scores);
    return;
  }
  if (!(*overlap >= 0 && *overlap <= 1)) {
    node.emitError() << "the iou_threshold is " << *overlap
                     << ", expected 0 to 1";
    return;
  }
  OpBuilder &builder = node.getBuilder();
  if (*limit < 1) {
    auto type = RankedTensorType::get({0, 3}, builder.getI64Type());
    return node.setOutput(0, node.createConstant(type, {}));
  }
  // The score of boxes that do not count is the lowest, which none may have.
  double least = *score;
  bool hasLeast = node.hasInput(4);
  if (!hasLeast && !node.findRealSizes(scores).empty()) {
    hasLeast = true;
    least = std::numeric_limits<float>::lowest();
  }
  // No class has more boxes than there are.
  auto most =
      static_cast<int64_t>(std::min(*limit, static_cast<double>(shape[2])));
  Value order = createTopK(node, scores, 2, shape[2], /*largest=*/true);
  SmallVector<Value> results = node.createSeveral<NonMaxSuppressionOp, 2>(
      boxes, scores, order, builder.getI64IntegerAttr(most),
      builder.getF64FloatAttr(*overlap), builder.getF64FloatAttr(least),
      builder.getBoolAttr(hasLeast), builder.getBoolAttr(centerPoint));
  if (!results.empty())
    node.setOutput(0, results[0], RealSize{0, results[1]});
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

namespace {

/// Sorts rows, so that equal ones stand side by side.
class UniqueBuilder {
public:
  /// The rows are the slices of `data` along its first dimension.
  UniqueBuilder(OnnxNode &node, Value data)
      : node(node), data(data), size(getShape(data)[0]),
        columns(node.reshape(data, {size, multiply(getShape(data)) / size})) {}

  /// The number of columns that a row may have: each is sorted by.
  static constexpr int64_t maxColumns = 64;

  void build(bool sorted);

  Value rows, indices, inverse, counts, count;

private:
  Value getColumn(int64_t column) {
    return node.reshape(node.slice(columns, 1, column, 1), {size});
  }
  Value number(int64_t value) {
    return node.createInts({value}, /*scalar=*/true);
  }
  Value scatter(Value target, Value places, Value updates, ScatterMode mode) {
    return node.create<ScatterOp>(
        target, places, updates,
        ScatterModeAttr::get(node.getBuilder().getContext(), mode));
  }
  Value gather(Value values, Value places) {
    return gatherAlong(node, values, places, 0);
  }
  Value zeros() { return node.splat(number(0), {size}); }
  Value list() { return node.createRange(size); }
  Value sortRows();
  Value markNew(Value order);
  Value addUp(Value marks);
  void orderByPlace();

  OnnxNode &node;
  Value data;
  int64_t size;
  Value columns;
};

} // namespace

/// Sorts by the last column first: the sort by another one leaves rows in their
/// order where it is equal.
Value UniqueBuilder::sortRows() {
  Value order = list();
  for (int64_t column = getShape(columns)[1]; column-- > 0;) {
    Value keys = gather(getColumn(column), order);
    order = gather(order, createTopK(node, keys, 0, size, /*largest=*/false));
  }
  return order;
}

/// Returns 1 of i64 for each sorted row that is not like the one before it.
Value UniqueBuilder::markNew(Value order) {
  Value first = node.createInts({1});
  if (size == 1)
    return first;
  Value same;
  for (int64_t column = 0; column < getShape(columns)[1]; ++column) {
    Value keys = gather(getColumn(column), order);
    if (!keys)
      return nullptr;
    Value equal =
        isSet(node, node.create<EqualOp>(node.slice(keys, 0, 1, size - 1),
                                         node.slice(keys, 0, 0, size - 1)));
    same = same ? node.create<MulOp>(same, equal) : equal;
  }
  return node.concat({first, node.create<SubOp>(number(1), same)}, 0);
}

/// The sum of the marks up to each place: adds the one before, then the two
/// before these, and so on.
Value UniqueBuilder::addUp(Value marks) {
  for (int64_t step = 1; marks && step < size; step *= 2) {
    Value before = node.slice(marks, 0, 0, size - step);
    marks = node.create<AddOp>(
        marks, node.concat({node.splat(number(0), {step}), before}, 0));
  }
  return marks;
}

/// Brings unique rows into the order of their first places.
void UniqueBuilder::orderByPlace() {
  Value isOne = node.convert(node.create<LessOp>(list(), count),
                             node.getBuilder().getI1Type());
  Value keys = node.create<WhereOp>(
      isOne, indices,
      node.splat(number(std::numeric_limits<int64_t>::max()), {size}));
  Value order = createTopK(node, keys, 0, size, /*largest=*/false);
  indices = gather(indices, order);
  counts = gather(counts, order);
  Value numbers = scatter(zeros(), order, list(), ScatterMode::Replace);
  inverse = gather(numbers, inverse);
}

void UniqueBuilder::build(bool sorted) {
  Value order = sortRows(), marks = markNew(order);
  Value sums = addUp(marks);
  Selection selection = select(node, marks);
  count = selection.count;
  Value numbers = node.create<SubOp>(sums, number(1));
  indices = gather(order, selection.places);
  counts = scatter(zeros(), numbers, node.splat(number(1), {size}),
                   ScatterMode::Add);
  inverse = scatter(zeros(), order, numbers, ScatterMode::Replace);
  if (!sorted)
    orderByPlace();
  rows = gather(data, indices);
}

/// Without an axis, the elements are sorted.
void importUnique(OnnxNode &node) {
  Value input = node.getInput(0);
  int64_t axis = 0, size = multiply(getShape(input));
  bool sorted = node.getBool("sorted", true);
  if (node.hasAttribute("axis"))
    axis = node.getAxis("axis", 0, getShape(input).size());
  else
    input = node.reshape(input, {size});
  if (node.hasFailed())
    return;
  // The axis becomes the first dimension, and goes back.
  auto there = llvm::to_vector(llvm::seq<int64_t>(0, getShape(input).size()));
  std::rotate(there.begin(), there.begin() + axis, there.begin() + axis + 1);
  auto back = llvm::to_vector(llvm::seq<int64_t>(0, getShape(input).size()));
  std::rotate(back.begin(), back.begin() + 1, back.begin() + axis + 1);
  if (size == 0 || size / getShape(input)[axis] > UniqueBuilder::maxColumns) {
    node.emitError() << "unique slices of " << getTensorType(input)
                     << " along dimension " << axis
                     << " are not supported, only of 1 to "
                     << UniqueBuilder::maxColumns << " elements";
    return;
  }
  if (axis != 0)
    input = node.transpose(input, there);
  if (!input)
    return;
  UniqueBuilder unique(node, input);
  unique.build(sorted);
  if (axis != 0)
    unique.rows = node.transpose(unique.rows, back);
  node.setOutput(0, unique.rows, RealSize{axis, unique.count});
  node.setOutput(1, unique.indices, RealSize{0, unique.count});
  node.setOutput(2, unique.inverse);
  node.setOutput(3, unique.counts, RealSize{0, unique.count});
}

} // namespace tarpon
