//===- LoopOp.cpp - Import of Loop ----------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyResults.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"

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
                              : stackValues(node, values, 0);
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

} // namespace tarpon
