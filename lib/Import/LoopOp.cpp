//===- LoopOp.cpp - Import of Loop ----------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is unrolled. One whose trip count is a size that depends on data is so
// up to the most that it may be: each iteration computes as if it took place,
// and the results are those of the last one that does.
//
//===----------------------------------------------------------------------===//

#include "BodyResults.h"
#include "OpTable.h"
#include "Selection.h"
#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;

namespace tarpon {

using Values = SmallVector<Value>;

/// The stack of an output of a body that never runs, which has to declare its
/// shape.
static Value createEmptyStack(OnnxNode &node,
                              const onnx::ValueInfoProto &info) {
  const onnx::TypeProto::Tensor &type = info.type().tensor_type();
  std::optional<runtime::DType> dtype = getDType(type.elem_type());
  SmallVector<int64_t> shape = {0};
  bool isKnown = dtype && type.has_shape();
  for (const auto &dim : type.shape().dim()) {
    isKnown &= dim.has_dim_value() && dim.dim_value() >= 0;
    shape.push_back(dim.dim_value());
  }
  if (!isKnown || !countElements(shape)) {
    node.emitError() << "the loop does not run, and output '" << info.name()
                     << "' of its body has no known shape";
    return nullptr;
  }
  Type elementType = getElementType(node.getBuilder().getContext(), *dtype);
  return node.createConstant(RankedTensorType::get(shape, elementType), {});
}

namespace {

/// Unrolls one Loop.
class LoopUnroller {
public:
  explicit LoopUnroller(OnnxNode &node) : node(node) {}

  void unroll();

private:
  enum Input { TripCount, Condition, FirstCarried };

  bool readBounds();
  void readTripCount();
  bool runBody(int64_t iteration);
  SizedValue createResult(size_t index);
  Value createCount(int64_t most);
  SizedValue joinAppended(size_t index);
  SizedValue createStack(size_t index);
  void setResults();

  OnnxNode &node;
  const onnx::GraphProto *body = nullptr;
  /// The most that it may be.
  int64_t tripCount = std::numeric_limits<int64_t>::max();
  /// The number of iterations, of i64 and one element, and the least that it
  /// may be, if it depends on data; null otherwise.
  Value realCount;
  int64_t leastCount = 0;
  bool goesOn = true;
  /// The condition as the body sees it; only true lets it run.
  Value condition;
  Values carried;
  /// The values that are carried into each iteration, and those out of the
  /// last one.
  std::vector<Values> states;
  /// For each further output of the body, the values of all iterations.
  std::vector<Values> stacks;
};

} // namespace

void LoopUnroller::readTripCount() {
  if (!node.findConstantInput(TripCount)) {
    auto sizes = node.findSizes(TripCount);
    if (sizes && sizes->size() == 1) {
      const SizeElement &count = sizes->front();
      realCount = getSizeValue(node, node.getInput(TripCount), 0, count);
      if (count.least < 0)
        realCount = node.create<MaxOp>(realCount, node.createInts({0}));
      leastCount = count.least;
      tripCount = std::max<int64_t>(count.most, 0);
      return;
    }
  }
  std::optional<double> count =
      node.getConstantNumber(TripCount, "the trip count");
  // Every loop of so many iterations is too long.
  constexpr double most = 1e15;
  tripCount = static_cast<int64_t>(std::clamp(count.value_or(0), 0.0, most));
}

bool LoopUnroller::readBounds() {
  if (node.hasInput(TripCount))
    readTripCount();
  SmallVector<int64_t> shape;
  if (node.hasInput(Condition)) {
    if (!checkCondition(node, node.getInput(Condition)))
      return false;
    shape.assign(getShape(node.getInput(Condition)));
    ElementsAttr known = node.getConstantInput(Condition, "the condition");
    goesOn = known && isTrue(known);
  }
  condition =
      node.reshape(node.createNumber(1, node.getBuilder().getI1Type()), shape);
  for (unsigned i = FirstCarried; i < node.getNumInputs(); ++i) {
    carried.push_back(node.getInput(i));
    if (!carried.back())
      node.emitError() << "input " << i << " is missing";
  }
  return !node.hasFailed();
}

bool LoopUnroller::runBody(int64_t iteration) {
  Values inputs = {node.createInts({iteration}, /*scalar=*/true), condition};
  llvm::append_range(inputs, carried);
  std::optional<Values> outputs = node.importBody(*body, inputs);
  if (!outputs)
    return false;
  if (node.hasInput(Condition)) {
    ElementsAttr known = node.evaluate(outputs->front());
    if (!known || known.getNumElements() != 1 ||
        !known.getElementType().isInteger(1)) {
      node.emitError() << "the condition that iteration " << iteration
                       << " computes is not known while compiling";
      return false;
    }
    goesOn = isTrue(known);
  }
  auto results = ArrayRef(*outputs).drop_front();
  carried.assign(results.take_front(carried.size()));
  for (auto [stack, value] :
       llvm::zip_equal(stacks, results.drop_front(carried.size())))
    stack.push_back(value);
  return true;
}

/// Returns the value that an iteration appends to another one along `axis`, or
/// null if it does something else. To an empty value, nothing is joined.
static Value findAppended(Value before, Value after, int64_t axis) {
  SmallVector<int64_t> empty(getShape(after));
  empty[axis] = 0;
  if (getShape(before) == ArrayRef(empty))
    return after;
  auto concat = after.getDefiningOp<ConcatOp>();
  bool isAppended = concat && concat.getInputs().size() == 2 &&
                    concat.getInputs().front() == before &&
                    static_cast<int64_t>(concat.getAxis()) == axis;
  return isAppended ? concat.getInputs().back() : Value();
}

/// The number of iterations that take place, of which the condition may have
/// ended the loop behind `most`.
Value LoopUnroller::createCount(int64_t most) {
  if (most == tripCount)
    return realCount;
  return node.create<MinOp>(realCount, node.createInts({most}));
}

/// Returns a carried value to which each iteration appends as many slices, with
/// the size that follows from the number of iterations; null if it is another
/// one.
SizedValue LoopUnroller::joinAppended(size_t index) {
  Values parts = {states.front()[index]};
  if (states.size() < 2 || !node.findRealSizes(parts.front()).empty())
    return {};
  auto concat = states.back()[index].getDefiningOp<ConcatOp>();
  if (!concat)
    return {};
  auto axis = static_cast<int64_t>(concat.getAxis());
  for (size_t i = 1; i < states.size(); ++i) {
    Value state = states[i][index];
    bool hasRank = getShape(state).size() == getShape(parts.front()).size();
    Value part =
        hasRank ? findAppended(states[i - 1][index], state, axis) : Value();
    if (!part ||
        getShape(part)[axis] != getShape(concat.getInputs()[1])[axis] ||
        !node.findRealSizes(state).empty() || !node.findRealSizes(part).empty())
      return {};
    parts.push_back(part);
  }
  int64_t first = getShape(parts.front())[axis],
          each = getShape(parts.back())[axis];
  Value size = createCount(static_cast<int64_t>(states.size()) - 1);
  if (each != 1)
    size = node.create<MulOp>(size, node.createInts({each}));
  if (first != 0)
    size = node.create<AddOp>(size, node.createInts({first}));
  return {node.concat(parts, axis), {RealSize{axis, size}}};
}

/// Returns a carried value behind the last iteration that takes place.
SizedValue LoopUnroller::createResult(size_t index) {
  if (!realCount)
    return getSized(node, carried[index]);
  if (SizedValue joined = joinAppended(index); joined.value)
    return joined;
  SizedValue result = getSized(node, states.front()[index]);
  for (int64_t i = 1; i < static_cast<int64_t>(states.size()); ++i) {
    SizedValue state = getSized(node, states[i][index]);
    if (i <= leastCount) {
      result = state;
      continue;
    }
    Value takesPlace =
        node.isSet(node.create<LessOp>(node.createInts({i - 1}), realCount));
    SizedValue before = result;
    result = selectValue(node, node.reshape(takesPlace, {}), state, before);
    if (result.value)
      continue;
    node.emitError() << "iterations give both " << before.value.getType()
                     << " and " << state.value.getType()
                     << ", and their number depends on data";
    return {};
  }
  return result;
}

/// Returns the values that the iterations give for an output, side by side.
SizedValue LoopUnroller::createStack(size_t index) {
  ArrayRef<Value> values = stacks[index];
  size_t output = carried.size() + index;
  if (!node.isOutputUsed(output))
    return {};
  if (values.empty())
    return {createEmptyStack(node, body->output(1 + output)), {}};
  SizedValue result = {stackValues(node, values, 0), {}};
  auto count = static_cast<int64_t>(values.size());
  if (realCount && leastCount < count)
    result.sizes.push_back({0, createCount(count)});
  return result;
}

void LoopUnroller::setResults() {
  size_t count = carried.size() + stacks.size();
  if (count < node.getNumOutputs()) {
    node.emitError() << "the sub-graph has " << count
                     << " outputs, but the node has " << node.getNumOutputs();
    return;
  }
  for (size_t i = 0; i < node.getNumOutputs() && !node.hasFailed(); ++i) {
    SizedValue result =
        i < carried.size() ? createResult(i) : createStack(i - carried.size());
    node.setOutput(i, result.value, result.sizes);
  }
}

void LoopUnroller::unroll() {
  body = node.getGraph("body");
  if (!body || !readBounds())
    return;
  int64_t numStacks = body->output_size() - 1 - int64_t(carried.size());
  if (numStacks < 0) {
    node.emitError() << "the body has " << body->output_size()
                     << " outputs, expected " << 1 + carried.size()
                     << " or more";
    return;
  }
  stacks.resize(numStacks);
  states.push_back(carried);
  for (int64_t i = 0; i < tripCount && goesOn; ++i) {
    if (!runBody(i))
      return;
    if (realCount)
      states.push_back(carried);
  }
  setResults();
}

void importLoop(OnnxNode &node) { LoopUnroller(node).unroll(); }

} // namespace tarpon
