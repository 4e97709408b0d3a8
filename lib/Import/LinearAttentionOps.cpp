//===- LinearAttentionOps.cpp - Import of attention with a state ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LinearAttention, whose positions are computed one after the other, and the
// causal convolution that comes before it.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// LinearAttention
//===----------------------------------------------------------------------===//

namespace {

/// Builds one node. Everything is computed in f32.
class LinearAttentionBuilder {
public:
  explicit LinearAttentionBuilder(OnnxNode &node) : node(node) {}

  void build();

private:
  enum Input { Query, Key, Val, PastState, Decay, Beta };
  enum Output { Result, PresentState };

  bool checkShapes();
  bool readRule();
  bool checkGates();
  Value readState();
  Value getPosition(Value value, int64_t position, ArrayRef<int64_t> shape);
  Value attend(int64_t position);

  Value multiplyMatrices(Value lhs, Value rhs) {
    OpBuilder &builder = node.getBuilder();
    return node.create<MatMulOp>(lhs, rhs, builder.getBoolAttr(false),
                                 builder.getBoolAttr(false));
  }
  Value real(Value value) {
    return node.convert(value, node.getBuilder().getF32Type());
  }

  OnnxNode &node;
  bool isGated = false, isDelta = false;
  int64_t batch = 0, positions = 0;
  /// The heads of queries, and of keys and values.
  int64_t heads = 0, stateHeads = 0;
  /// The channels of a key and of a value.
  int64_t depth = 0, width = 0;
  /// Batch x heads x depth x width.
  Value state;
  /// The factors of the state and the rates of its updates, of all positions.
  Value gates, rates;
  /// The inputs in f32.
  Value query, key, value;
};

} // namespace

bool LinearAttentionBuilder::readRule() {
  std::string rule = node.getString("update_rule", "gated_delta");
  struct Rule {
    bool isGated, isDelta;
  };
  auto found = llvm::StringSwitch<std::optional<Rule>>(rule)
                   .Case("linear", Rule{false, false})
                   .Case("gated", Rule{true, false})
                   .Case("delta", Rule{false, true})
                   .Case("gated_delta", Rule{true, true})
                   .Default(std::nullopt);
  if (!found) {
    node.emitError() << "attribute 'update_rule' is '" << rule
                     << "', expected linear, gated, delta or gated_delta";
    return false;
  }
  isGated = found->isGated;
  isDelta = found->isDelta;
  if (isGated != node.hasInput(Decay) || isDelta != node.hasInput(Beta))
    node.emitError() << "the inputs decay and beta do not fit the update_rule '"
                     << rule << "'";
  return !node.hasFailed();
}

bool LinearAttentionBuilder::checkShapes() {
  for (Input input : {Query, Key, Val})
    if (getShape(node.getInput(input)).size() != 3)
      node.emitError() << "input " << static_cast<int>(input) << " is "
                       << node.getInput(input).getType()
                       << ", expected the rank 3";
  heads = node.getInt("q_num_heads", 0);
  stateHeads = node.getInt("kv_num_heads", 0);
  if (heads < 1 || stateHeads < 1 || heads % stateHeads != 0)
    node.emitError() << "the " << stateHeads
                     << " heads of keys do not divide the " << heads
                     << " of queries";
  if (node.hasFailed())
    return false;
  ArrayRef<int64_t> queries = getShape(node.getInput(Query)),
                    keys = getShape(node.getInput(Key)),
                    values = getShape(node.getInput(Val));
  batch = queries[0];
  positions = queries[1];
  depth = queries[2] / heads;
  width = values[2] / stateHeads;
  SmallVector<int64_t> wantedKeys = {batch, positions, stateHeads * depth},
                       wantedValues = {batch, positions, stateHeads * width};
  if (queries[2] != heads * depth || keys != ArrayRef(wantedKeys) ||
      values != ArrayRef(wantedValues))
    node.emitError() << "the inputs " << node.getInput(Query).getType() << ", "
                     << node.getInput(Key).getType() << " and "
                     << node.getInput(Val).getType()
                     << " do not fit each other and the numbers of heads";
  // Each position takes some ten operations.
  constexpr int64_t maxPositions = 1024;
  if (positions > maxPositions)
    node.emitError() << "there are " << positions
                     << " positions, which are computed one by one; at most "
                     << maxPositions << " are supported";
  return !node.hasFailed();
}

/// Reads the decay and beta of all positions, if the rule has them.
bool LinearAttentionBuilder::checkGates() {
  auto check = [&](Input input, int64_t one, int64_t other) {
    ArrayRef<int64_t> shape = getShape(node.getInput(input));
    if (shape.size() != 3 || shape[0] != batch || shape[1] != positions ||
        (shape[2] != one && shape[2] != other))
      node.emitError() << "input " << static_cast<int>(input) << " is "
                       << node.getInput(input).getType() << ", expected "
                       << batch << " x " << positions << " x " << one << " or "
                       << other << " elements";
    return !node.hasFailed();
  };
  if (isGated && check(Decay, stateHeads, stateHeads * depth))
    gates = node.create<ExpOp>(real(node.getInput(Decay)));
  if (isDelta && check(Beta, stateHeads, 1))
    rates = real(node.getInput(Beta));
  return !node.hasFailed();
}

Value LinearAttentionBuilder::readState() {
  SmallVector<int64_t> shape = {batch, stateHeads, depth, width};
  if (!node.hasInput(PastState))
    return node.createZeros(shape, node.getBuilder().getF32Type());
  Value past = node.getInput(PastState);
  if (getShape(past) == ArrayRef(shape))
    return real(past);
  node.emitError() << "the state is " << past.getType() << ", expected "
                   << RankedTensorType::get(
                          shape, getTensorType(past).getElementType());
  return nullptr;
}

/// One position of batch x positions x channels, in that shape.
Value LinearAttentionBuilder::getPosition(Value value, int64_t position,
                                          ArrayRef<int64_t> shape) {
  return node.reshape(node.slice(value, 1, position, 1), shape);
}

/// Updates the state, and returns what the queries read from it.
Value LinearAttentionBuilder::attend(int64_t position) {
  if (isGated) {
    int64_t count = getShape(gates)[2] / stateHeads;
    state = node.create<MulOp>(
        state, getPosition(gates, position, {batch, stateHeads, count, 1}));
  }
  Value added = getPosition(value, position, {batch, stateHeads, 1, width});
  if (isDelta) {
    Value read = multiplyMatrices(
        getPosition(key, position, {batch, stateHeads, 1, depth}), state);
    Value rate =
        getPosition(rates, position, {batch, getShape(rates)[2], 1, 1});
    added = node.create<MulOp>(rate, node.create<SubOp>(added, read));
  }
  Value column = getPosition(key, position, {batch, stateHeads, depth, 1});
  state = node.create<AddOp>(state, node.create<MulOp>(column, added));
  Value result = multiplyMatrices(
      getPosition(query, position,
                  {batch, stateHeads, heads / stateHeads, depth}),
      state);
  return node.reshape(result, {batch, 1, heads * width});
}

void LinearAttentionBuilder::build() {
  if (!readRule() || !checkShapes() || !checkGates())
    return;
  state = readState();
  query = real(node.getInput(Query));
  key = real(node.getInput(Key));
  value = real(node.getInput(Val));
  SmallVector<Value> results;
  for (int64_t position = 0; position < positions && state; ++position)
    results.push_back(attend(position));
  double scale = node.getFloat("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<double>(depth));
  Type elementType = getTensorType(node.getInput(Query)).getElementType();
  Value factor = node.createFloat(scale, node.getBuilder().getF32Type());
  node.setOutput(
      Result, node.convert(node.create<MulOp>(node.concat(results, 1), factor),
                           elementType));
  if (node.hasInput(PastState))
    elementType = getTensorType(node.getInput(PastState)).getElementType();
  node.setOutput(PresentState, node.convert(state, elementType));
}

void importLinearAttention(OnnxNode &node) {
  LinearAttentionBuilder(node).build();
}

//===----------------------------------------------------------------------===//
// CausalConvWithState
//===----------------------------------------------------------------------===//

/// Checks the shapes of input, filter, bias and state.
static bool checkCausalConv(OnnxNode &node) {
  ArrayRef<int64_t> input = getShape(node.getInput(0)),
                    filter = getShape(node.getInput(1));
  bool fits = input.size() == 3 && filter.size() == 3 && filter[1] == 1 &&
              filter[0] == input[1];
  if (fits && node.hasInput(2))
    fits = getShape(node.getInput(2)) == input.slice(1, 1);
  if (fits && node.hasInput(3)) {
    SmallVector<int64_t> state = {input[0], input[1], filter[2] - 1};
    fits = getShape(node.getInput(3)) == ArrayRef(state);
  }
  if (!fits)
    node.emitError() << "the input " << node.getInput(0).getType()
                     << ", the filter " << node.getInput(1).getType()
                     << ", the bias and the state do not fit each other";
  return fits;
}

void importCausalConvWithState(OnnxNode &node) {
  std::string activation = node.getString("activation", "none");
  bool isSwish = activation == "silu" || activation == "swish";
  if (!isSwish && activation != "none")
    node.emitError() << "attribute 'activation' is '" << activation
                     << "', expected none, silu or swish";
  if (node.hasFailed() || !checkCausalConv(node))
    return;
  Value input = node.getInput(0), filter = node.getInput(1);
  Type elementType = getTensorType(input).getElementType();
  SmallVector<int64_t> shape(getShape(input));
  int64_t channels = shape[1], before = getShape(filter)[2] - 1;
  shape[2] = before;
  Value past = node.hasInput(3) ? node.getInput(3)
                                : node.createZeros(shape, elementType);
  Value whole = node.concat({past, input}, 2);
  OpBuilder &builder = node.getBuilder();
  Value result = node.create<ConvOp>(
      whole, filter, builder.getDenseI64ArrayAttr({1}),
      builder.getDenseI64ArrayAttr({0, 0}), builder.getDenseI64ArrayAttr({1}),
      builder.getI64IntegerAttr(channels));
  if (!result)
    return;
  Type computeType = getTensorType(result).getElementType();
  if (node.hasInput(2))
    result = node.create<AddOp>(
        result, node.convert(node.reshape(node.getInput(2), {1, channels, 1}),
                             computeType));
  if (isSwish)
    result = node.create<SwishOp>(result, builder.getF32FloatAttr(1));
  node.setOutput(0, node.convert(result, elementType));
  node.setOutput(
      1, before == 0
             ? past
             : node.slice(whole, 2, getShape(whole)[2] - before, before));
}

} // namespace tarpon
