//===- ControlFlowOps.cpp - Import of If, Scan and optionals --------------===//
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

#include "BodyResults.h"
#include "OpTable.h"
#include "Selection.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

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
    SizedValue lhs = getSized(node, whenTrue[i]),
               rhs = getSized(node, whenFalse[i]);
    SizedValue result = selectValue(node, condition, lhs, rhs);
    if (!result.value)
      node.emitError() << "the branches give " << lhs.value.getType() << " and "
                       << rhs.value.getType() << ", and the condition '"
                       << node.getInputName(0) << "' is not a constant";
    node.setOutput(i, result.value, result.sizes);
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
    states.push_back(stackValues(node, values, axis, scan.reverse));
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
    results.push_back(values.empty() ? Value() : stackValues(node, values, 0));
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
