//===- ControlFlowOps.cpp - Import of If, Loop, Scan and optionals --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs have no control flow: loops whose trip counts are known are unrolled,
// and both branches of an If are computed unless its condition is known.
// GraphBuilder.cpp limits how many nodes that may make.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tarpon {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// Returns true if `value` holds one bool; emits an error otherwise.
static bool checkCondition(OnnxNode &node, Value value) {
  if (getTensorType(value).getElementType().isInteger(1) &&
      multiply(getShape(value)) == 1)
    return true;
  node.emitError() << "the condition is " << getTensorType(value)
                   << ", expected one bool";
  return false;
}

static bool isTrue(ElementsAttr condition) {
  return readInts(condition).front() != 0;
}

/// Sets the outputs, the last of which a node may leave out.
static void setOutputs(OnnxNode &node, ArrayRef<Value> values) {
  if (values.size() < node.getNumOutputs()) {
    node.emitError() << "the sub-graph has " << values.size()
                     << " outputs, but the node has " << node.getNumOutputs();
    return;
  }
  for (auto [index, value] : llvm::enumerate(values))
    node.setOutput(index, value);
}

namespace {
/// The results of both branches for one output.
struct Branches {
  Value whenTrue, whenFalse;
};
} // namespace

/// Returns the only dimension in which the results differ in their sizes, the
/// first one if they do not differ, and none if they differ in more.
static std::optional<int64_t> findOpenDim(OnnxNode &node, Branches results) {
  RankedTensorType lhs = getTensorType(results.whenTrue),
                   rhs = getTensorType(results.whenFalse);
  if (lhs.getElementType() != rhs.getElementType() ||
      lhs.getRank() != rhs.getRank())
    return std::nullopt;
  std::optional<int64_t> open;
  auto add = [&](int64_t dim) {
    bool isOther = open && *open != dim;
    open = dim;
    return !isOther;
  };
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (lhs.getDimSize(dim) != rhs.getDimSize(dim) && !add(dim))
      return std::nullopt;
  for (Value value : {results.whenTrue, results.whenFalse})
    if (auto real = node.findRealSize(value); real && !add(real->dim))
      return std::nullopt;
  return open.value_or(0);
}

/// Appends zeros along a dimension.
static Value padTo(OnnxNode &node, Value value, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(getShape(value));
  shape[dim] = size;
  if (multiply(getShape(value)) == 0)
    return node.createZeros(shape, getTensorType(value).getElementType());
  return node.slice(value, dim, 0, size);
}

/// The size of a result, as a value of i64 and one element.
static Value getSize(OnnxNode &node, Value value, int64_t dim) {
  if (auto real = node.findRealSize(value))
    return real->size;
  return node.createInts({getShape(value)[dim]});
}

/// Returns the result that the condition selects at run time. The size of a
/// dimension depends on the condition where the branches give different ones.
static Value select(OnnxNode &node, Value condition, Branches results,
                    std::optional<RealSize> &real) {
  auto [lhs, rhs] = results;
  std::optional<int64_t> dim = findOpenDim(node, results);
  if (!dim) {
    node.emitError() << "the branches give " << lhs.getType() << " and "
                     << rhs.getType() << ", and the condition '"
                     << node.getInputName(0) << "' is not a constant";
    return nullptr;
  }
  bool isOpen = lhs.getType() != rhs.getType() || node.findRealSize(lhs) ||
                node.findRealSize(rhs);
  if (isOpen) {
    real =
        RealSize{*dim, node.create<WhereOp>(condition, getSize(node, lhs, *dim),
                                            getSize(node, rhs, *dim))};
    int64_t most = std::max(getShape(lhs)[*dim], getShape(rhs)[*dim]);
    lhs = padTo(node, lhs, *dim, most);
    rhs = padTo(node, rhs, *dim, most);
  }
  if (lhs && multiply(getShape(lhs)) == 0)
    return lhs;
  return node.create<WhereOp>(condition, lhs, rhs);
}

/// Sets the outputs to those of the branch that the condition selects at run
/// time; where they have different types, it may be known after all.
static void selectBranch(OnnxNode &node, ArrayRef<Value> whenTrue,
                         ArrayRef<Value> whenFalse) {
  bool isSame = whenTrue.size() == whenFalse.size() &&
                llvm::equal(ValueRange(whenTrue).getTypes(),
                            ValueRange(whenFalse).getTypes());
  if (!isSame)
    if (ElementsAttr known = node.findConstantInput(0))
      return setOutputs(node, isTrue(known) ? whenTrue : whenFalse);
  size_t count = std::min(whenTrue.size(), whenFalse.size());
  if (whenTrue.size() != whenFalse.size() || count < node.getNumOutputs()) {
    node.emitError() << "the branches have " << whenTrue.size() << " and "
                     << whenFalse.size() << " outputs, but the node has "
                     << node.getNumOutputs();
    return;
  }
  Value condition = node.reshape(node.getInput(0), {});
  for (size_t i = 0; i < count; ++i) {
    std::optional<RealSize> real;
    Value result = select(node, condition, {whenTrue[i], whenFalse[i]}, real);
    node.setOutput(i, result, real);
  }
}

void importIf(OnnxNode &node) {
  const onnx::GraphProto *thenBranch = node.getGraph("then_branch"),
                         *elseBranch = node.getGraph("else_branch");
  if (!thenBranch || !elseBranch || !checkCondition(node, node.getInput(0)))
    return;
  ElementsAttr known = OnnxNode::getConstant(node.getInput(0));
  std::optional<Values> whenTrue, whenFalse;
  if (!known || isTrue(known))
    whenTrue = node.importBody(*thenBranch, {});
  if (!known || !isTrue(known))
    whenFalse = node.importBody(*elseBranch, {});
  if (node.hasFailed())
    return;
  if (known)
    return setOutputs(node, isTrue(known) ? *whenTrue : *whenFalse);
  selectBranch(node, *whenTrue, *whenFalse);
}

//===----------------------------------------------------------------------===//
// Stacks of what iterations give
//===----------------------------------------------------------------------===//

/// Joins values of one shape along a new dimension.
static Value stack(OnnxNode &node, ArrayRef<Value> values, int64_t axis,
                   bool reverse = false) {
  Values parts;
  for (Value value : values) {
    if (node.findRealSize(value)) {
      node.emitError() << "iterations give values whose size depends on data";
      return nullptr;
    }
    if (value.getType() != values.front().getType()) {
      node.emitError() << "iterations give both " << values.front().getType()
                       << " and " << value.getType();
      return nullptr;
    }
    SmallVector<int64_t> shape(getShape(value));
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(node.reshape(value, shape));
  }
  if (reverse)
    std::reverse(parts.begin(), parts.end());
  return node.concat(parts, axis);
}

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

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

namespace {

/// Unrolls one Loop.
class LoopUnroller {
public:
  explicit LoopUnroller(OnnxNode &node) : node(node) {}

  void unroll();

private:
  enum Input { TripCount, Condition, FirstCarried };

  bool readBounds();
  bool runBody(int64_t iteration);
  void setResults();

  OnnxNode &node;
  const onnx::GraphProto *body = nullptr;
  int64_t tripCount = std::numeric_limits<int64_t>::max();
  bool goesOn = true;
  /// The condition as the body sees it; only true lets it run.
  Value condition;
  Values carried;
  /// For each further output of the body, the values of all iterations.
  std::vector<Values> stacks;
};

} // namespace

bool LoopUnroller::readBounds() {
  if (node.hasInput(TripCount)) {
    std::optional<double> count =
        node.getConstantNumber(TripCount, "the trip count");
    // Every loop of so many iterations is too long.
    constexpr double most = 1e15;
    tripCount = static_cast<int64_t>(std::clamp(count.value_or(0), 0.0, most));
  }
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

void LoopUnroller::setResults() {
  Values results = carried;
  for (auto [index, values] : llvm::enumerate(stacks)) {
    size_t output = carried.size() + index;
    Value result;
    if (node.isOutputUsed(output))
      result = values.empty() ? createEmptyStack(node, body->output(1 + output))
                              : stack(node, values, 0);
    results.push_back(result);
  }
  setOutputs(node, results);
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
  for (int64_t i = 0; i < tripCount && goesOn; ++i)
    if (!runBody(i))
      return;
  setResults();
}

void importLoop(OnnxNode &node) { LoopUnroller(node).unroll(); }

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {

/// Unrolls one Scan.
class ScanUnroller {
public:
  explicit ScanUnroller(OnnxNode &node) : node(node) {}

  void unroll();

private:
  /// An input or output that is scanned.
  struct Scanned {
    int64_t axis;
    bool reverse;
  };

  bool readInputs();
  bool readAxes(StringRef axes, StringRef directions, size_t count,
                std::vector<Scanned> &scans);
  bool checkLengths();
  std::optional<Values> run(Values states, ArrayRef<Value> sources);
  Value take(Value source, const Scanned &scan, int64_t index);

  OnnxNode &node;
  const onnx::GraphProto *body = nullptr;
  /// Opset 8 has a batch in front of all dimensions, each item of which is
  /// scanned on its own.
  bool isBatched = false;
  Values initial, scanned;
  std::vector<Scanned> inputs, outputs;
  int64_t length = 0;
};

} // namespace

/// Reads one axis and one direction for each of `count` values; both lists may
/// be left out.
bool ScanUnroller::readAxes(StringRef axes, StringRef directions, size_t count,
                            std::vector<Scanned> &scans) {
  SmallVector<int64_t> axisList(count, 0), directionList(count, 0);
  auto read = [&](StringRef name, SmallVector<int64_t> &list) {
    if (name.empty() || !node.hasAttribute(name))
      return;
    list = node.getInts(name);
    if (list.size() != count) {
      node.emitError() << "attribute '" << name << "' has " << list.size()
                       << " entries, expected " << count;
      list.assign(count, 0);
    }
  };
  read(axes, axisList);
  read(directions, directionList);
  for (auto [axis, direction] : llvm::zip_equal(axisList, directionList)) {
    if (direction != 0 && direction != 1)
      node.emitError() << "a direction is " << direction << ", expected 0 or 1";
    scans.push_back({axis, direction == 1});
  }
  return !node.hasFailed();
}

bool ScanUnroller::readInputs() {
  isBatched = node.getOpset() < 9;
  // Opset 8 puts the lengths of the sequences in front of the other inputs.
  unsigned first = isBatched ? 1 : 0;
  if (isBatched && node.hasInput(0))
    node.emitError() << "sequences of several lengths are not supported";
  Values all;
  for (unsigned i = first; i < node.getNumInputs(); ++i) {
    all.push_back(node.getInput(i));
    if (!all.back())
      node.emitError() << "input " << i << " is missing";
  }
  int64_t count = node.getInt("num_scan_inputs", 0);
  if (count < 1 || count > static_cast<int64_t>(all.size()))
    node.emitError() << "attribute 'num_scan_inputs' is " << count
                     << ", but there are " << all.size() << " inputs";
  if (node.hasFailed())
    return false;
  initial.assign(ArrayRef(all).drop_back(count));
  scanned.assign(ArrayRef(all).take_back(count));
  int64_t numStacks = body->output_size() - int64_t(initial.size());
  if (numStacks < 0)
    node.emitError() << "the body has " << body->output_size()
                     << " outputs for " << initial.size() << " states";
  if (node.hasFailed())
    return false;
  return isBatched ? readAxes("", "directions", count, inputs) &&
                         readAxes("", "", numStacks, outputs)
                   : readAxes("scan_input_axes", "scan_input_directions", count,
                              inputs) &&
                         readAxes("scan_output_axes", "scan_output_directions",
                                  numStacks, outputs);
}

/// Counts the axes from the start, and finds the number of iterations.
bool ScanUnroller::checkLengths() {
  for (auto [index, source] : llvm::enumerate(scanned)) {
    ArrayRef<int64_t> shape = getShape(source).drop_front(isBatched ? 1 : 0);
    int64_t axis = node.normalizeAxis(inputs[index].axis, shape.size());
    if (node.hasFailed())
      return false;
    inputs[index].axis = axis;
    if (index == 0)
      length = shape[axis];
    if (shape[axis] != length || length == 0) {
      node.emitError() << "the scanned inputs have the lengths " << length
                       << " and " << shape[axis]
                       << ", expected one length above 0";
      return false;
    }
  }
  return true;
}

Value ScanUnroller::take(Value source, const Scanned &scan, int64_t index) {
  if (scan.reverse)
    index = length - 1 - index;
  SmallVector<int64_t> shape(getShape(source));
  shape.erase(shape.begin() + scan.axis);
  return node.reshape(node.slice(source, scan.axis, index, 1), shape);
}

/// Scans the sources; returns the last states and the stacks.
std::optional<Values> ScanUnroller::run(Values states,
                                        ArrayRef<Value> sources) {
  std::vector<Values> stacks(outputs.size());
  for (int64_t i = 0; i < length; ++i) {
    Values arguments = states;
    for (auto [source, scan] : llvm::zip_equal(sources, inputs))
      arguments.push_back(take(source, scan, i));
    if (llvm::is_contained(arguments, Value()))
      return std::nullopt;
    std::optional<Values> results = node.importBody(*body, arguments);
    if (!results)
      return std::nullopt;
    ArrayRef<Value> all = *results;
    for (auto [stack, value] :
         llvm::zip_equal(stacks, all.drop_front(states.size())))
      stack.push_back(value);
    states.assign(all.take_front(states.size()));
  }
  for (auto [scan, values] : llvm::zip_equal(outputs, stacks)) {
    int64_t rank = static_cast<int64_t>(getShape(values.front()).size());
    int64_t axis = node.normalizeAxis(scan.axis, rank + 1);
    if (node.hasFailed())
      return std::nullopt;
    states.push_back(stack(node, values, axis, scan.reverse));
  }
  return node.hasFailed() ? std::nullopt : std::optional(states);
}

void ScanUnroller::unroll() {
  body = node.getGraph("body");
  if (!body || !readInputs())
    return;
  for (Value value : llvm::concat<Value>(initial, scanned))
    if (isBatched && (getShape(value).empty() ||
                      getShape(value)[0] != getShape(scanned[0])[0]))
      node.emitError() << "an input is " << value.getType()
                       << ", whose batch is not that of the others";
  if (node.hasFailed() || !checkLengths())
    return;
  if (!isBatched) {
    if (std::optional<Values> results = run(initial, scanned))
      setOutputs(node, *results);
    return;
  }
  std::vector<Values> items(body->output_size());
  for (int64_t item : llvm::seq<int64_t>(0, getShape(scanned[0])[0])) {
    auto takeItem = [&](Value value) {
      return node.reshape(node.slice(value, 0, item, 1),
                          getShape(value).drop_front());
    };
    std::optional<Values> results = run(llvm::map_to_vector(initial, takeItem),
                                        llvm::map_to_vector(scanned, takeItem));
    if (!results)
      return;
    for (auto [values, result] : llvm::zip_equal(items, *results))
      values.push_back(result);
  }
  Values results;
  for (ArrayRef<Value> values : items)
    results.push_back(values.empty() ? Value() : stack(node, values, 0));
  setOutputs(node, results);
}

void importScan(OnnxNode &node) { ScanUnroller(node).unroll(); }

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

/// A value that is there is its own optional; one that is not has no value.
void importOptional(OnnxNode &node) { node.setOutput(0, node.getInput(0)); }

void importOptionalHasElement(OnnxNode &node) {
  Value result = node.createNumber(node.getInput(0) ? 1 : 0,
                                   node.getBuilder().getI1Type());
  node.setOutput(0, result);
}

void importOptionalGetElement(OnnxNode &node) {
  node.setOutput(0, node.getInput(0));
}

} // namespace tarpon
