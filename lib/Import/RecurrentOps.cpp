//===- RecurrentOps.cpp - Import of LSTM, GRU and RNN -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The products with the input become one matmul of all time steps and
// directions, followed by the biases; the recurrence becomes one op, and the
// outputs are slices of its result.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Operators.h"
#include "Quantization.h"
#include "tarpon/Problem/Recurrent.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tarpon {

using Act = RecurrentActivation;

namespace {
/// The sequences, and the weights as ONNX's operators have them.
struct Operands {
  Value input, weights, recurrent;
};

/// A recurrent node; the sizes are named as in the description of tarpon.lstm.
struct Layer {
  RecurrentCell cell{};
  Operands operands;
  int64_t steps = 0, batch = 0, input = 0, directions = 1, hidden = 0;
  bool batchFirst = false;
  SmallVector<int64_t> reversed;
  SmallVector<int64_t> activations;
  SmallVector<float> alphas, betas;
  Type element; ///< that is computed in
};
} // namespace

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::optional<Act> findActivation(StringRef name) {
  return llvm::StringSwitch<std::optional<Act>>(name.lower())
      .Case("sigmoid", Act::Sigmoid)
      .Case("tanh", Act::Tanh)
      .Case("relu", Act::Relu)
      .Case("affine", Act::Affine)
      .Case("leakyrelu", Act::LeakyRelu)
      .Case("thresholdedrelu", Act::ThresholdedRelu)
      .Case("scaledtanh", Act::ScaledTanh)
      .Case("hardsigmoid", Act::HardSigmoid)
      .Case("elu", Act::Elu)
      .Case("softsign", Act::Softsign)
      .Case("softplus", Act::Softplus)
      .Default(std::nullopt);
}

/// The default of alpha, if the activation takes one.
static std::optional<float> defaultAlpha(Act activation) {
  switch (activation) {
  case Act::Affine:
  case Act::ThresholdedRelu:
  case Act::ScaledTanh:
  case Act::Elu:
    return 1.0f;
  case Act::LeakyRelu:
    return 0.01f;
  case Act::HardSigmoid:
    return 0.2f;
  case Act::Sigmoid:
  case Act::Tanh:
  case Act::Relu:
  case Act::Softsign:
  case Act::Softplus:
    return std::nullopt;
  }
  llvm_unreachable("unknown activation");
}

static std::optional<float> defaultBeta(Act activation) {
  switch (activation) {
  case Act::Affine:
    return 0.0f;
  case Act::ScaledTanh:
    return 1.0f;
  case Act::HardSigmoid:
    return 0.5f;
  case Act::Sigmoid:
  case Act::Tanh:
  case Act::Relu:
  case Act::LeakyRelu:
  case Act::ThresholdedRelu:
  case Act::Elu:
  case Act::Softsign:
  case Act::Softplus:
    return std::nullopt;
  }
  llvm_unreachable("unknown activation");
}

/// The activations of all directions. Parameters are listed for those that take
/// them, in order; missing ones have their defaults.
static void readActivations(OnnxNode &node, Layer &layer,
                            ArrayRef<Act> defaults) {
  SmallVector<std::string> names = node.getStrings("activations");
  size_t count = layer.cell.activations * layer.directions;
  if (!names.empty() && names.size() != count)
    node.emitError() << "there are " << names.size()
                     << " activations, expected " << count;
  SmallVector<float> alphas = node.getFloats("activation_alpha"),
                     betas = node.getFloats("activation_beta");
  auto take = [](SmallVector<float> &list, std::optional<float> otherwise) {
    if (!otherwise || list.empty())
      return otherwise.value_or(0);
    float first = list.front();
    list.erase(list.begin());
    return first;
  };
  for (size_t i = 0; i < count && !node.hasFailed(); ++i) {
    std::optional<Act> activation = names.empty()
                                        ? defaults[i % layer.cell.activations]
                                        : findActivation(names[i]);
    if (!activation) {
      node.emitError() << "the activation '" << names[i]
                       << "' is not supported";
      return;
    }
    layer.activations.push_back(static_cast<int64_t>(*activation));
    layer.alphas.push_back(take(alphas, defaultAlpha(*activation)));
    layer.betas.push_back(take(betas, defaultBeta(*activation)));
  }
}

static void readDirection(OnnxNode &node, Layer &layer) {
  std::string direction = node.getString("direction", "forward");
  if (direction == "forward")
    layer.reversed = {0};
  else if (direction == "reverse")
    layer.reversed = {1};
  else if (direction == "bidirectional")
    layer.reversed = {0, 1};
  else
    node.emitError() << "the direction '" << direction
                     << "' is neither forward, reverse nor bidirectional";
  layer.directions = static_cast<int64_t>(layer.reversed.size());
}

/// Returns true if input `index`, of which `value` is made, is left out or has
/// that shape.
static bool checkInput(OnnxNode &node, unsigned index, Value value,
                       ArrayRef<int64_t> shape) {
  if (!value || getShape(value) == shape)
    return true;
  node.emitError() << "'" << node.getInputName(index) << "' is "
                   << value.getType() << ", expected the shape ["
                   << llvm::join(llvm::map_range(shape,
                                                 [](int64_t size) {
                                                   return std::to_string(size);
                                                 }),
                                 ", ")
                   << "]";
  return false;
}

static bool checkInput(OnnxNode &node, unsigned index,
                       ArrayRef<int64_t> shape) {
  return checkInput(node, index, node.getInput(index), shape);
}

/// Reads the common parts of the operators; emits an error and returns none if
/// they do not fit.
static std::optional<Layer> readLayer(OnnxNode &node, OpKind op,
                                      ArrayRef<Act> defaults,
                                      const Operands &operands) {
  Layer layer;
  layer.cell = *getRecurrentCell(op);
  layer.operands = operands;
  auto [input, weights, recurrent] = operands;
  if (getShape(input).size() != 3 || getShape(recurrent).size() != 3) {
    node.emitError() << "expects an input and weights of rank 3, got "
                     << input.getType() << " and " << recurrent.getType();
    return std::nullopt;
  }
  layer.batchFirst = node.getBool("layout", false);
  layer.steps = getShape(input)[layer.batchFirst ? 1 : 0];
  layer.batch = getShape(input)[layer.batchFirst ? 0 : 1];
  layer.input = getShape(input)[2];
  layer.hidden = getShape(recurrent)[2];
  layer.element = getTensorType(input).getElementType();
  if (!layer.element.isF64())
    layer.element = node.getBuilder().getF32Type();
  if (int64_t size = node.getInt("hidden_size", layer.hidden);
      size != layer.hidden)
    node.emitError() << "attribute 'hidden_size' is " << size
                     << ", but the weights have " << layer.hidden;
  readDirection(node, layer);
  if (node.hasFailed())
    return std::nullopt;
  readActivations(node, layer, defaults);
  int64_t d = layer.directions, rows = layer.cell.gates * layer.hidden;
  SmallVector<int64_t> state = {d, layer.batch, layer.hidden};
  if (layer.batchFirst)
    std::swap(state[0], state[1]);
  if (node.hasFailed() ||
      !checkInput(node, 1, weights, {d, rows, layer.input}) ||
      !checkInput(node, 2, recurrent, {d, rows, layer.hidden}) ||
      !checkInput(node, 3, {d, 2 * rows}) ||
      !checkInput(node, 4, {layer.batch}) || !checkInput(node, 5, state) ||
      !checkInput(node, 6, state) ||
      !checkInput(node, 7, {d, 3 * layer.hidden}))
    return std::nullopt;
  return layer;
}

/// The operands of ONNX's operators.
static Operands getOperands(OnnxNode &node) {
  return {node.getInput(0), node.getInput(1), node.getInput(2)};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns input `index` in the compute type, or zeros of that shape.
static Value getOrZeros(OnnxNode &node, const Layer &layer, unsigned index,
                        ArrayRef<int64_t> shape) {
  if (Value value = node.getInput(index))
    return node.convert(value, layer.element);
  return node.createZeros(shape, layer.element);
}

/// An initial state as [directions, batch, hidden].
static Value getState(OnnxNode &node, const Layer &layer, unsigned index) {
  Value state = getOrZeros(node, layer, index,
                           {layer.directions, layer.batch, layer.hidden});
  if (layer.batchFirst && node.hasInput(index))
    return node.transpose(state, {1, 0, 2});
  return state;
}

static Value getLengths(OnnxNode &node, const Layer &layer) {
  if (Value lengths = node.getInput(4))
    return lengths;
  return node.createInts(SmallVector<int64_t>(layer.batch, layer.steps));
}

namespace {
/// The biases: those added to the gates, and for GRU the recurrent bias of gate
/// h, which is separate.
struct Biases {
  Value gates, hidden;
};
} // namespace

static Biases getBiases(OnnxNode &node, const Layer &layer, bool splitLast) {
  int64_t rows = layer.cell.gates * layer.hidden, d = layer.directions;
  Value biases = getOrZeros(node, layer, 3, {d, 2 * rows});
  Value input = node.slice(biases, 1, 0, rows);
  Value recurrent = node.slice(biases, 1, rows, rows);
  if (!splitLast)
    return {node.create<AddOp>(input, recurrent), nullptr};
  int64_t summed = rows - layer.hidden;
  Value sum = node.create<AddOp>(node.slice(input, 1, 0, summed),
                                 node.slice(recurrent, 1, 0, summed));
  Value last = node.slice(input, 1, summed, layer.hidden);
  if (!sum || !last)
    return {};
  SmallVector<Value> parts = {sum, last};
  return {node.create<ConcatOp>(ValueRange(parts),
                                node.getBuilder().getI64IntegerAttr(1)),
          node.slice(recurrent, 1, summed, layer.hidden)};
}

/// X * W^T + biases for all steps and directions.
static Value createGates(OnnxNode &node, const Layer &layer, Value biases) {
  OpBuilder &builder = node.getBuilder();
  Value input = layer.operands.input;
  if (layer.batchFirst)
    input = node.transpose(input, {1, 0, 2});
  if (!input || !biases)
    return nullptr;
  int64_t columns = layer.directions * layer.cell.gates * layer.hidden;
  Value rows = node.reshape(input, {layer.steps * layer.batch, layer.input});
  Value weights = node.reshape(layer.operands.weights, {columns, layer.input});
  Value product = node.create<MatMulOp>(
      rows, weights, builder.getBoolAttr(false), builder.getBoolAttr(true));
  product = node.convert(product, layer.element);
  if (!product)
    return nullptr;
  Value sum = node.create<AddOp>(product, node.reshape(biases, {1, columns}));
  return sum ? node.reshape(sum, {layer.steps, layer.batch, columns}) : sum;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The outputs are all steps and the final states; only those that are used are
/// sliced.
static void setOutputs(OnnxNode &node, const Layer &layer, Value result) {
  if (!result)
    return;
  Type element = getTensorType(node.getInput(0)).getElementType();
  if (node.isOutputUsed(0)) {
    Value all = node.slice(result, 0, 0, layer.steps);
    if (layer.batchFirst && all)
      all = node.transpose(all, {2, 0, 1, 3});
    node.setOutput(0, node.convert(all, element));
  }
  for (int64_t state = 0; state < layer.cell.states; ++state) {
    if (!node.isOutputUsed(1 + state))
      continue;
    Value last = node.slice(result, 0, layer.steps + state, 1);
    if (last)
      last = node.reshape(last, {layer.directions, layer.batch, layer.hidden});
    if (layer.batchFirst && last)
      last = node.transpose(last, {1, 0, 2});
    node.setOutput(1 + state, node.convert(last, element));
  }
}

namespace {
/// The attributes that the three ops share.
struct SharedAttrs {
  DenseI64ArrayAttr reversed, activations;
  DenseF32ArrayAttr alphas, betas;
  FloatAttr clip;
};
} // namespace

static SharedAttrs makeAttrs(OnnxNode &node, const Layer &layer) {
  OpBuilder &builder = node.getBuilder();
  return {builder.getDenseI64ArrayAttr(layer.reversed),
          builder.getDenseI64ArrayAttr(layer.activations),
          builder.getDenseF32ArrayAttr(layer.alphas),
          builder.getDenseF32ArrayAttr(layer.betas),
          builder.getF32FloatAttr(node.getFloat("clip", 0.0f))};
}

static void importLstmOf(OnnxNode &node, const Operands &operands) {
  std::optional<Layer> layer = readLayer(
      node, OpKind::Lstm, {Act::Sigmoid, Act::Tanh, Act::Tanh}, operands);
  if (!layer)
    return;
  SharedAttrs attrs = makeAttrs(node, *layer);
  bool couples = node.getBool("input_forget", false);
  Biases biases = getBiases(node, *layer, /*splitLast=*/false);
  setOutputs(
      node, *layer,
      node.create<LstmOp>(
          createGates(node, *layer, biases.gates),
          node.convert(layer->operands.recurrent, layer->element),
          getLengths(node, *layer), getState(node, *layer, 5),
          getState(node, *layer, 6),
          getOrZeros(node, *layer, 7, {layer->directions, 3 * layer->hidden}),
          attrs.reversed, attrs.activations, attrs.alphas, attrs.betas,
          attrs.clip, node.getBuilder().getI64IntegerAttr(couples)));
}

void importLSTM(OnnxNode &node) { importLstmOf(node, getOperands(node)); }

/// Returns weights of directions x channels x gates as the LSTM has them, in
/// f32. Each direction has a scale and a zero point, or each gate has.
static Value dequantizeGates(OnnxNode &node, unsigned index, unsigned scale,
                             unsigned zeroPoint) {
  Type f32 = node.getBuilder().getF32Type();
  SmallVector<int64_t> shape(getShape(node.getInput(index)));
  auto spread = [&](unsigned parameter) -> Value {
    Value value = node.convert(node.getInput(parameter), f32);
    if (!value)
      return nullptr;
    int64_t count = multiply(getShape(value));
    if (shape.size() == 3 && count == shape[0])
      return node.reshape(value, {shape[0], 1, 1});
    if (shape.size() == 3 && count == shape[0] * shape[2])
      return node.reshape(value, {shape[0], 1, shape[2]});
    node.emitError() << "'" << node.getInputName(parameter) << "' of type "
                     << node.getInput(parameter).getType()
                     << " does not fit the weights "
                     << node.getInput(index).getType();
    return nullptr;
  };
  Value steps = node.create<SubOp>(node.convert(node.getInput(index), f32),
                                   spread(zeroPoint));
  return node.transpose(node.create<MulOp>(steps, spread(scale)), {0, 2, 1});
}

/// The input is quantised by its own range. ONNX Runtime quantises the hidden
/// state in each step, too, where this computes with what it is.
void importDynamicQuantizeLSTM(OnnxNode &node) {
  if (!requireInputs(node, {8, 9, 10, 11}))
    return;
  Operands operands = {roundDynamically(node, node.getInput(0)),
                       dequantizeGates(node, 1, 8, 9),
                       dequantizeGates(node, 2, 10, 11)};
  if (operands.input && operands.weights && operands.recurrent)
    importLstmOf(node, operands);
}

void importGRU(OnnxNode &node) {
  std::optional<Layer> layer = readLayer(
      node, OpKind::Gru, {Act::Sigmoid, Act::Tanh}, getOperands(node));
  if (!layer)
    return;
  SharedAttrs attrs = makeAttrs(node, *layer);
  bool linear = node.getBool("linear_before_reset", false);
  Biases biases = getBiases(node, *layer, /*splitLast=*/true);
  setOutputs(node, *layer,
             node.create<GruOp>(
                 createGates(node, *layer, biases.gates),
                 node.convert(layer->operands.recurrent, layer->element),
                 getLengths(node, *layer), getState(node, *layer, 5),
                 biases.hidden, attrs.reversed, attrs.activations, attrs.alphas,
                 attrs.betas, attrs.clip,
                 node.getBuilder().getI64IntegerAttr(linear)));
}

void importRNN(OnnxNode &node) {
  std::optional<Layer> layer =
      readLayer(node, OpKind::Rnn, {Act::Tanh}, getOperands(node));
  if (!layer)
    return;
  SharedAttrs attrs = makeAttrs(node, *layer);
  Biases biases = getBiases(node, *layer, /*splitLast=*/false);
  setOutputs(node, *layer,
             node.create<RnnOp>(
                 createGates(node, *layer, biases.gates),
                 node.convert(layer->operands.recurrent, layer->element),
                 getLengths(node, *layer), getState(node, *layer, 5),
                 attrs.reversed, attrs.activations, attrs.alphas, attrs.betas,
                 attrs.clip));
}

} // namespace tarpon
