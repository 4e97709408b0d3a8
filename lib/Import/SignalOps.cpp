//===- SignalOps.cpp - Import of Fourier transforms -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Fourier transform of a known length is a product with a constant matrix; a
// short-time one is a convolution, whose filters are the rows of that matrix.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {

/// A discrete Fourier transform of `length` points, of real or complex inputs
/// and outputs.
struct Transform {
  int64_t length;
  bool inverse = false;
  /// The inverse of a transform of a real signal: frequencies above the half
  /// are not there, and the result is real.
  bool realInverse = false;
  int64_t numInputs = 0, numOutputs = 0;
  int64_t inputParts = 1, outputParts = 2;

  int64_t numElements() const {
    return numInputs * inputParts * numOutputs * outputParts;
  }
  double getFactor(int64_t input, int64_t inputPart, int64_t output,
                   int64_t outputPart) const;
};

} // namespace

/// The factor of one part (real or imaginary) of an input in one of an output.
double Transform::getFactor(int64_t input, int64_t inputPart, int64_t output,
                            int64_t outputPart) const {
  // Reduced first, the angle is as exact for the last point as for the first.
  auto turns = static_cast<double>(input * output % length);
  double angle = 2 * M_PI * turns / static_cast<double>(length);
  double sine = inverse ? std::sin(angle) : -std::sin(angle);
  double factor = inputPart == outputPart  ? std::cos(angle)
                  : inputPart < outputPart ? sine
                                           : -sine;
  if (realInverse && input > 0 && 2 * input < length)
    factor *= 2;
  // These are real in the transform of a real signal.
  if (realInverse && inputPart == 1 && (input == 0 || 2 * input == length))
    factor = 0;
  return inverse ? factor / static_cast<double>(length) : factor;
}

/// The largest matrix, which has 256 MiB in f32.
static constexpr int64_t maxMatrix = int64_t(1) << 26;

static bool checkMatrix(OnnxNode &node, const Transform &transform) {
  if (transform.numInputs < 1 || transform.numOutputs < 1) {
    node.emitError() << "the transform has no points";
    return false;
  }
  // The sizes are below 2^38, so that this does not overflow.
  if (transform.numInputs > maxMatrix / transform.numOutputs ||
      transform.numElements() > maxMatrix) {
    node.emitError() << "the transform of " << transform.length
                     << " points needs a matrix of more than " << maxMatrix
                     << " elements";
    return false;
  }
  return true;
}

/// Creates a constant of f32 or f64.
static Value createReals(OnnxNode &node, ArrayRef<int64_t> shape,
                         Type elementType, ArrayRef<double> values) {
  auto create = [&](Type type, const char *data, size_t bytes) {
    return node.createConstant(RankedTensorType::get(shape, type),
                               std::vector<char>(data, data + bytes));
  };
  if (elementType.isF64())
    return create(elementType, reinterpret_cast<const char *>(values.data()),
                  values.size() * sizeof(double));
  std::vector<float> narrow(values.begin(), values.end());
  return create(node.getBuilder().getF32Type(),
                reinterpret_cast<const char *>(narrow.data()),
                narrow.size() * sizeof(float));
}

/// The type in which transforms of elements of that type are computed.
static Type getComputeType(OnnxNode &node, Type elementType) {
  return elementType.isF64() ? elementType
                             : Type(node.getBuilder().getF32Type());
}

/// The signal of `length` points along `axis`: cut off, or padded with zeros.
static Value resizeSignal(OnnxNode &node, Value signal, int64_t axis,
                          int64_t length) {
  ArrayRef<int64_t> shape = getShape(signal);
  if (shape[axis] == length)
    return signal;
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  pads[shape.size() + axis] = length - shape[axis];
  OpBuilder &builder = node.getBuilder();
  return node.create<PadOp>(
      signal, builder.getDenseI64ArrayAttr(pads), builder.getF64FloatAttr(0.0),
      PadModeAttr::get(builder.getContext(), PadMode::Constant));
}

/// Returns the input if it holds floats and its last dimension has one part or
/// two, or else null after an error.
static Value getSignal(OnnxNode &node, size_t leastRank) {
  Value signal = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(signal);
  if (isa<FloatType>(getTensorType(signal).getElementType()) &&
      shape.size() >= leastRank && (shape.back() == 1 || shape.back() == 2))
    return signal;
  node.emitError() << "the signal is " << getTensorType(signal)
                   << ", expected floats and a last dimension of 1 or 2";
  return nullptr;
}

/// Reads a positive number that may be left out; 0 after an error.
static int64_t readLength(OnnxNode &node, unsigned input, StringRef what,
                          int64_t absent) {
  if (!node.hasInput(input))
    return absent;
  std::optional<double> number = node.getConstantNumber(input, what);
  if (!number)
    return 0;
  if (*number >= 1 && *number <= static_cast<double>(maxMatrix))
    return static_cast<int64_t>(*number);
  node.emitError() << what << " is " << *number << ", which is out of range";
  return 0;
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

/// Reads the axis, an attribute before opset 20; -1 after an error.
static int64_t readAxis(OnnxNode &node, int64_t rank) {
  int64_t axis = node.getInt("axis", node.getOpset() < 20 ? 1 : -2);
  if (node.hasInput(2))
    axis =
        static_cast<int64_t>(node.getConstantNumber(2, "the axis").value_or(0));
  axis = node.normalizeAxis(axis, rank);
  if (axis == rank - 1)
    node.emitError() << "axis " << axis
                     << " is that of real and imaginary parts";
  return node.hasFailed() ? -1 : axis;
}

/// Returns the transform that the attributes describe; none after an error.
static std::optional<Transform> readTransform(OnnxNode &node, int64_t size,
                                              int64_t parts) {
  bool inverse = node.getBool("inverse", false),
       onesided = node.getBool("onesided", false);
  bool realInverse = inverse && onesided;
  int64_t length = readLength(node, 1, "the length of the transform",
                              realInverse ? 2 * (size - 1) : size);
  if (onesided && !inverse && parts == 2)
    node.emitError() << "the transform of a complex signal is not one-sided";
  if (node.hasFailed())
    return std::nullopt;
  int64_t half = length / 2 + 1;
  Transform transform{.length = length,
                      .inverse = inverse,
                      .realInverse = realInverse,
                      .numInputs = realInverse ? half : length,
                      .numOutputs = onesided && !inverse ? half : length,
                      .inputParts = parts,
                      .outputParts = realInverse ? 1 : 2};
  if (!checkMatrix(node, transform))
    return std::nullopt;
  return transform;
}

void importDFT(OnnxNode &node) {
  Value signal = getSignal(node, 2);
  if (!signal)
    return;
  auto rank = static_cast<int64_t>(getShape(signal).size());
  int64_t axis = readAxis(node, rank), parts = getShape(signal).back();
  if (axis < 0)
    return;
  std::optional<Transform> transform =
      readTransform(node, getShape(signal)[axis], parts);
  if (!transform)
    return;
  Type elementType = getTensorType(signal).getElementType(),
       computeType = getComputeType(node, elementType);
  std::vector<double> factors;
  factors.reserve(transform->numElements());
  for (int64_t input = 0; input < transform->numInputs; ++input)
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t output = 0; output < transform->numOutputs; ++output)
        for (int64_t to = 0; to < transform->outputParts; ++to)
          factors.push_back(transform->getFactor(input, part, output, to));
  int64_t depth = transform->numInputs * parts,
          columns = transform->numOutputs * transform->outputParts;
  Value matrix = createReals(node, {depth, columns}, computeType, factors);
  // The points and their parts become the columns of a matrix.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + axis);
  order.insert(order.end() - 1, axis);
  signal = node.transpose(
      resizeSignal(node, signal, axis, transform->numInputs), order);
  if (!signal)
    return;
  SmallVector<int64_t> shape(getShape(signal).drop_back(2));
  int64_t rows = multiply(shape);
  OpBuilder &builder = node.getBuilder();
  Value product = node.create<MatMulOp>(
      node.convert(node.reshape(signal, {rows, depth}), computeType), matrix,
      builder.getBoolAttr(false), builder.getBoolAttr(false));
  shape.append({transform->numOutputs, transform->outputParts});
  SmallVector<int64_t> back = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  back.insert(back.begin() + axis, rank - 2);
  back.push_back(rank - 1);
  node.setOutput(
      0, node.convert(node.transpose(node.reshape(product, shape), back),
                      elementType));
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

namespace {
/// The parameters of a short-time Fourier transform.
struct Frames {
  int64_t step, length;
};
} // namespace

/// Returns none after an error.
static std::optional<Frames> readFrames(OnnxNode &node, int64_t signalLength) {
  int64_t step = readLength(node, 1, "the step", 0);
  Value window = node.getInput(2);
  if (window && getShape(window).size() != 1)
    node.emitError() << "the window is " << getTensorType(window)
                     << ", expected one dimension";
  if (node.hasFailed())
    return std::nullopt;
  int64_t length = readLength(node, 3, "the length of a frame",
                              window ? getShape(window).front() : signalLength);
  if (node.hasFailed())
    return std::nullopt;
  if (window && getShape(window).front() != length)
    node.emitError() << "the window has " << getShape(window).front()
                     << " elements, but a frame " << length;
  if (length > signalLength)
    node.emitError() << "a frame of " << length
                     << " elements is longer than the signal of "
                     << signalLength;
  if (node.hasFailed())
    return std::nullopt;
  return Frames{step, length};
}

void importSTFT(OnnxNode &node) {
  Value signal = getSignal(node, 3);
  if (!signal)
    return;
  SmallVector<int64_t> shape(getShape(signal));
  if (shape.size() != 3) {
    node.emitError() << "the signal has the rank " << shape.size()
                     << ", expected 3";
    return;
  }
  std::optional<Frames> frames = readFrames(node, shape[1]);
  bool onesided = node.getBool("onesided", true);
  int64_t parts = shape[2];
  if (onesided && parts == 2)
    node.emitError() << "the transform of a complex signal is not one-sided";
  if (!frames || node.hasFailed())
    return;
  Transform transform{.length = frames->length,
                      .numInputs = frames->length,
                      .numOutputs =
                          onesided ? frames->length / 2 + 1 : frames->length,
                      .inputParts = parts};
  if (!checkMatrix(node, transform))
    return;
  std::vector<double> factors;
  factors.reserve(transform.numElements());
  for (int64_t output = 0; output < transform.numOutputs; ++output)
    for (int64_t to = 0; to < transform.outputParts; ++to)
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t input = 0; input < transform.numInputs; ++input)
          factors.push_back(transform.getFactor(input, part, output, to));
  Type elementType = getTensorType(signal).getElementType(),
       computeType = getComputeType(node, elementType);
  int64_t channels = transform.numOutputs * transform.outputParts;
  Value filter = createReals(node, {channels, parts, frames->length},
                             computeType, factors);
  if (Value window = node.getInput(2))
    filter = node.create<MulOp>(filter, node.convert(window, computeType));
  OpBuilder &builder = node.getBuilder();
  Value result = node.create<ConvOp>(
      node.convert(node.transpose(signal, {0, 2, 1}), computeType), filter,
      builder.getDenseI64ArrayAttr({frames->step}),
      builder.getDenseI64ArrayAttr({0, 0}), builder.getDenseI64ArrayAttr({1}),
      builder.getI64IntegerAttr(1));
  if (!result)
    return;
  Value split =
      node.reshape(result, {shape[0], transform.numOutputs,
                            transform.outputParts, getShape(result)[2]});
  node.setOutput(
      0, node.convert(node.transpose(split, {0, 3, 1, 2}), elementType));
}

//===----------------------------------------------------------------------===//
// MelWeightMatrix
//===----------------------------------------------------------------------===//

static double toMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

static double toHertz(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

namespace {

/// The parameters of a matrix from the bins of a spectrum to mel bins.
struct MelFilters {
  int64_t numFilters, dftLength;
  double sampleRate, low, high;

  int64_t numBins() const { return dftLength / 2 + 1; }
  /// The bins at which the triangles begin, have their peaks and end.
  std::vector<int64_t> listEdges() const;
};

} // namespace

std::vector<int64_t> MelFilters::listEdges() const {
  std::vector<int64_t> edges;
  double first = toMel(low);
  double step = (toMel(high) - first) / static_cast<double>(numFilters + 2);
  for (int64_t i = 0; i < numFilters + 2; ++i) {
    double hertz = toHertz(first + static_cast<double>(i) * step);
    edges.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(dftLength + 1) * hertz / sampleRate)));
  }
  return edges;
}

/// Returns none after an error.
static std::optional<MelFilters> readMelFilters(OnnxNode &node) {
  std::array<std::optional<double>, 5> numbers;
  static constexpr StringLiteral names[] = {
      "the number of mel bins", "the length of the transform",
      "the sample rate", "the lower edge", "the upper edge"};
  for (unsigned i = 0; i < numbers.size(); ++i) {
    numbers[i] = node.getConstantNumber(i, names[i]);
    if (!numbers[i])
      return std::nullopt;
  }
  constexpr double most = 1 << 20;
  if (!(*numbers[0] >= 1 && *numbers[0] <= most) ||
      !(*numbers[1] >= 1 && *numbers[1] <= most) || !(*numbers[2] > 0) ||
      *numbers[0] * *numbers[1] > static_cast<double>(maxMatrix)) {
    node.emitError() << *numbers[0] << " mel bins of a transform of "
                     << *numbers[1] << " points at " << *numbers[2]
                     << " Hz are not supported";
    return std::nullopt;
  }
  MelFilters filters{static_cast<int64_t>(*numbers[0]),
                     static_cast<int64_t>(*numbers[1]), *numbers[2],
                     *numbers[3], *numbers[4]};
  std::vector<int64_t> edges = filters.listEdges();
  if (!(filters.low >= 0) || !(filters.high > filters.low) ||
      edges.back() >= filters.numBins()) {
    node.emitError() << "the edges " << filters.low << " and " << filters.high
                     << " Hz are not in the spectrum";
    return std::nullopt;
  }
  return filters;
}

/// The type of the attribute output_datatype; null after an error.
static Type readOutputType(OnnxNode &node) {
  int64_t number = node.getInt("output_datatype", onnx::TensorProto::FLOAT);
  std::optional<runtime::DType> dtype;
  if (llvm::isInt<32>(number))
    dtype = getDType(static_cast<int32_t>(number));
  if (dtype)
    return getElementType(node.getBuilder().getContext(), *dtype);
  node.emitError() << "the data type " << describeOnnxType(number)
                   << " is not supported";
  return nullptr;
}

void importMelWeightMatrix(OnnxNode &node) {
  std::optional<MelFilters> filters = readMelFilters(node);
  Type elementType = readOutputType(node);
  if (!filters || !elementType)
    return;
  int64_t columns = filters->numFilters;
  std::vector<double> values(filters->numBins() * columns, 0.0);
  std::vector<int64_t> edges = filters->listEdges();
  for (int64_t column = 0; column < columns; ++column) {
    int64_t low = edges[column], peak = edges[column + 1],
            high = edges[column + 2];
    auto set = [&](int64_t row, int64_t part, int64_t whole) {
      values[row * columns + column] =
          whole == 0 ? 1 : static_cast<double>(part) / double(whole);
    };
    for (int64_t row = low; row <= peak; ++row)
      set(row, row - low, peak - low);
    for (int64_t row = peak; row < high; ++row)
      set(row, high - row, high - peak);
  }
  Type computeType = getComputeType(node, elementType);
  Value matrix =
      createReals(node, {filters->numBins(), columns}, computeType, values);
  node.setOutput(0, node.convert(matrix, elementType));
}

} // namespace tarpon
