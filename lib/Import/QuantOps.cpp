//===- QuantOps.cpp - Import of QuantizeLinear and its inverse --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activations of 8 bits become tensors of quantised types, and so do weights
// that integer kernels could read, which the passes turn into f32 constants
// wherever none does. Other constants are computed here: in f32, which the
// passes may quantise again. Other element types, blocks, scales that
// are computed, and integers of unknown origin (an input of the model) are
// arithmetic in f32.
//
//===----------------------------------------------------------------------===//

#include "Cast.h"
#include "OpTable.h"
#include "Operators.h"
#include "Quantization.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using tarpon::runtime::DType;

namespace tarpon {

namespace {
/// Which scale an element has: the same as all, that of its index in a
/// dimension, or that of a block of neighbours in the dimension.
struct QuantGrid {
  /// The dimension, or none.
  std::optional<int64_t> axis;
  /// The elements of a block; 0 if there are no blocks.
  int64_t blockSize = 0;

  int64_t countAlong(ArrayRef<int64_t> shape) const {
    return blockSize ? llvm::divideCeil(shape[*axis], blockSize) : shape[*axis];
  }

  /// The index of the parameters of row-major element `index` of a tensor.
  size_t find(ArrayRef<int64_t> shape, int64_t index) const {
    if (!axis)
      return 0;
    int64_t inner = multiply(shape.drop_front(*axis + 1));
    int64_t along = index / inner % shape[*axis];
    if (!blockSize)
      return along;
    int64_t outer = index / inner / shape[*axis];
    return (outer * countAlong(shape) + along / blockSize) * inner +
           index % inner;
  }
};

/// Scales and zero points that are constant.
struct QuantParams {
  SmallVector<float> scales;
  SmallVector<int64_t> zeroPoints;
  QuantGrid grid;
  DType storage = DType::U8;
};
} // namespace

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

/// Checks the scales' shape against the tensor's.
static void checkGrid(OnnxNode &node, const QuantInputs &inputs,
                      const QuantGrid &grid) {
  ArrayRef<int64_t> shape = getShape(node.getInput(inputs.value)),
                    scaleShape = getShape(node.getInput(inputs.scale));
  int64_t axis = *grid.axis;
  if (!grid.blockSize) {
    if (scaleShape.size() != 1)
      node.emitError() << "the scale has " << scaleShape.size()
                       << " dimensions, expected 1 where there is no "
                          "'block_size'";
    else if (scaleShape[0] != shape[axis])
      node.emitError() << "there are " << scaleShape[0]
                       << " scales for the dimension " << axis << " of size "
                       << shape[axis];
    return;
  }
  SmallVector<int64_t> expected(shape);
  expected[axis] = grid.countAlong(shape);
  if (scaleShape != ArrayRef(expected))
    node.emitError() << "the scale has the shape [" << scaleShape
                     << "], expected [" << expected << "] for blocks of "
                     << grid.blockSize << " along the dimension " << axis;
}

static QuantGrid readGrid(OnnxNode &node, const QuantInputs &inputs) {
  QuantGrid grid;
  ArrayRef<int64_t> shape = getShape(node.getInput(inputs.value));
  grid.blockSize = node.getInt("block_size", 0);
  if (grid.blockSize < 0)
    node.emitError() << "attribute 'block_size' is " << grid.blockSize
                     << ", expected 0 or more";
  if (multiply(getShape(node.getInput(inputs.scale))) == 1)
    return {};
  grid.axis = inputs.axis ? node.normalizeAxis(*inputs.axis, shape.size())
                          : node.getAxis("axis", 1, shape.size());
  if (!node.hasFailed())
    checkGrid(node, inputs, grid);
  return grid;
}

static bool checkZeroPoint(OnnxNode &node, const QuantInputs &inputs) {
  if (!node.hasInput(inputs.zeroPoint))
    return true;
  Value scale = node.getInput(inputs.scale),
        zeroPoint = node.getInput(inputs.zeroPoint);
  Type elementType = getTensorType(zeroPoint).getElementType();
  std::optional<DType> dtype = getDType(elementType);
  bool isKnown = isa<IntegerType>(elementType) ||
                 (dtype && runtime::isStorageOnly(*dtype));
  if (multiply(getShape(scale)) != multiply(getShape(zeroPoint)) || !isKnown) {
    node.emitError() << "the zero point " << zeroPoint.getType()
                     << " does not fit the scale " << scale.getType();
    return false;
  }
  ElementsAttr attr = isa<FloatType>(elementType)
                          ? node.findConstantInput(inputs.zeroPoint)
                          : ElementsAttr();
  if (attr && llvm::any_of(getConstantFloats(attr),
                           [](float value) { return value != 0; })) {
    node.emitError() << "the zero point of floats is not 0";
    return false;
  }
  return true;
}

/// Returns true if the values of scale and zero point are known.
static bool hasConstantParams(OnnxNode &node, const QuantInputs &inputs) {
  return node.findConstantInput(inputs.scale) &&
         (!node.hasInput(inputs.zeroPoint) ||
          node.findConstantInput(inputs.zeroPoint));
}

/// Reads constant parameters for elements of `storage`.
static std::optional<QuantParams> readParams(OnnxNode &node, DType storage,
                                             const QuantInputs &inputs = {}) {
  QuantParams params;
  params.storage = storage;
  params.grid = readGrid(node, inputs);
  ElementsAttr scales = node.getConstantInput(inputs.scale, "the scale");
  if (!scales || node.hasFailed() || !checkZeroPoint(node, inputs))
    return std::nullopt;
  params.scales = llvm::to_vector(getConstantFloats(scales));
  for (float scale : params.scales)
    if (!std::isnormal(scale) || scale < 0)
      node.emitError() << "the scale " << scale << " is not positive";
  params.zeroPoints.assign(params.scales.size(), 0);
  if (node.hasInput(inputs.zeroPoint) && !runtime::isFloat(storage) &&
      !node.hasFailed())
    if (ElementsAttr attr =
            node.getConstantInput(inputs.zeroPoint, "the zero point"))
      params.zeroPoints = readInts(attr);
  if (node.hasFailed())
    return std::nullopt;
  return params;
}

/// Repeats scales or zero points, so that they broadcast to `shape`.
static Value spread(OnnxNode &node, Value params, const QuantGrid &grid,
                    ArrayRef<int64_t> shape) {
  if (!params || !grid.axis)
    return node.reshape(params, {});
  int64_t axis = *grid.axis, count = grid.countAlong(shape);
  if (!grid.blockSize) {
    SmallVector<int64_t> one(shape.size(), 1);
    one[axis] = count;
    return node.reshape(params, one);
  }
  SmallVector<int64_t> split(getShape(params));
  split.insert(split.begin() + axis + 1, 1);
  params = node.reshape(params, split);
  // The last block may reach far beyond the tensor.
  int64_t block = std::min(grid.blockSize, shape[axis]);
  split[axis + 1] = block;
  params = node.broadcast(params, split);
  split.erase(split.begin() + axis + 1);
  split[axis] = count * block;
  return node.slice(node.reshape(params, split), axis, 0, shape[axis]);
}

/// The element type with these parameters; null after an error.
static Type getQuantizedType(OnnxNode &node, const QuantParams &params) {
  OpBuilder &builder = node.getBuilder();
  bool isSigned = params.storage == DType::I8;
  if (!isSigned && params.storage != DType::U8) {
    node.emitError() << "quantisation to "
                     << std::string(runtime::dtypeName(params.storage))
                     << " is not supported, only to i8 and u8";
    return nullptr;
  }
  unsigned flags = isSigned ? quant::QuantizationFlags::Signed : 0;
  int64_t min = isSigned ? -128 : 0, max = isSigned ? 127 : 255;
  Type storage = builder.getI8Type(), expressed = builder.getF32Type();
  SmallVector<double> scales(params.scales.begin(), params.scales.end());
  if (!params.grid.axis)
    return quant::UniformQuantizedType::get(
        flags, storage, expressed, scales.front(), params.zeroPoints.front(),
        min, max);
  return quant::UniformQuantizedPerAxisType::get(flags, storage, expressed,
                                                 scales, params.zeroPoints,
                                                 *params.grid.axis, min, max);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear
//===----------------------------------------------------------------------===//

/// Integers of 16 bits and less, and floats of 8 and 4 bits.
static bool isStorage(DType dtype) {
  if (runtime::isFloat(dtype))
    return runtime::isStorageOnly(dtype) && dtype != DType::F8E8M0FNU;
  return runtime::dtypeBits(dtype) <= 16 && dtype != DType::Bool;
}

/// Returns the type that a tensor is quantised to; none after an error.
static std::optional<DType> readStorage(OnnxNode &node) {
  std::optional<DType> wanted = readDType(node, "output_dtype"), storage;
  if (node.hasInput(2))
    storage = getDType(getTensorType(node.getInput(2)).getElementType());
  if (storage && wanted && storage != wanted)
    node.emitError() << "attribute 'output_dtype' is "
                     << std::string(runtime::dtypeName(*wanted))
                     << ", but the zero point is "
                     << std::string(runtime::dtypeName(*storage));
  if (!storage)
    storage = wanted.value_or(DType::U8);
  if (!isStorage(*storage))
    node.emitError() << "quantisation to "
                     << std::string(runtime::dtypeName(*storage))
                     << " is not supported";
  return node.hasFailed() ? std::nullopt : storage;
}

static Value quantizeConstant(OnnxNode &node, ElementsAttr attr,
                              const QuantParams &params) {
  if (!getQuantizedType(node, params))
    return nullptr;
  ArrayRef<int64_t> shape = attr.getShapedType().getShape();
  bool isSigned = params.storage == DType::I8;
  float min = isSigned ? -128 : 0, max = isSigned ? 127 : 255;
  std::vector<float> floats = getConstantFloats(attr);
  std::vector<char> bytes(floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    size_t param = params.grid.find(shape, i);
    float steps = std::nearbyint(floats[i] / params.scales[param]) +
                  static_cast<float>(params.zeroPoints[param]);
    bytes[i] = static_cast<char>(static_cast<int>(std::clamp(steps, min, max)));
  }
  Type elementType =
      getElementType(node.getBuilder().getContext(), params.storage);
  return node.createConstant(RankedTensorType::get(shape, elementType),
                             std::move(bytes));
}

/// Returns x / scale in f32, rounded as the standard divides: in the type that
/// the attribute 'precision' names, or else in that of both if it is the same.
static Value divideByScale(OnnxNode &node, Value x, Value scale) {
  Type type = getTensorType(x).getElementType(),
       scaleType = getTensorType(scale).getElementType(),
       f32 = node.getBuilder().getF32Type();
  std::optional<DType> dtype = readDType(node, "precision");
  if (dtype && !runtime::fitsF32(*dtype))
    node.emitError() << "attribute 'precision' is "
                     << std::string(runtime::dtypeName(*dtype)) << ", expected "
                     << runtime::listDTypes(runtime::fitsF32, " or ");
  if (!isa<FloatType>(type) && !dtype) {
    // f32 does not hold all of i32.
    Type f64 = node.getBuilder().getF64Type();
    return node.create<DivOp>(node.convert(x, f64), node.convert(scale, f64));
  }
  Type precise = type == scaleType ? type : f32;
  if (dtype)
    precise = getElementType(type.getContext(), *dtype);
  // A quotient of f16 or bf16, rounded to f32 first, is rounded right.
  auto widen = [&](Value value) {
    return node.convert(node.convert(value, precise), f32);
  };
  return widen(node.create<DivOp>(widen(x), widen(scale)));
}

/// Computes round(x / scale) + zeroPoint, or x / scale if the result holds
/// floats, within the range of `storage`.
static Value quantizeByArithmetic(OnnxNode &node, DType storage,
                                  const QuantGrid &grid) {
  if (!checkZeroPoint(node, {}))
    return nullptr;
  Value x = node.getInput(0);
  SmallVector<int64_t> shape(getShape(x));
  OpBuilder &builder = node.getBuilder();
  Type to = getElementType(builder.getContext(), storage);
  bool saturates = node.getBool("saturate", true);
  Value steps =
      divideByScale(node, x, spread(node, node.getInput(1), grid, shape));
  if (!steps)
    return nullptr;
  if (auto real = dyn_cast<FloatType>(to))
    return saturates ? saturateTo(node, steps, real)
                     : node.convert(steps, real);
  steps = node.create<RoundOp>(steps);
  if (Value zeroPoint = spread(node, node.getInput(2), grid, shape))
    steps = node.create<AddOp>(
        steps, node.convert(zeroPoint, getTensorType(steps).getElementType()));
  int64_t bits = runtime::dtypeBits(storage);
  bool isSigned = runtime::isSignedInteger(storage);
  double low = isSigned ? -std::ldexp(1, bits - 1) : 0;
  double high = std::ldexp(1, isSigned ? bits - 1 : bits) - 1;
  steps = node.create<ClipOp>(steps, builder.getF64FloatAttr(low),
                              builder.getF64FloatAttr(high));
  return node.convert(steps, to);
}

/// Returns true if the result has a quantised type of the dialect, which
/// integer kernels read, or is a constant of 8 bits.
static bool hasQuantizedType(OnnxNode &node, DType storage,
                             const QuantGrid &grid) {
  bool isByte = storage == DType::I8 || storage == DType::U8;
  return isByte && !grid.blockSize && !node.hasAttribute("precision") &&
         (!grid.axis || OnnxNode::getConstant(node.getInput(0))) &&
         hasConstantParams(node, {});
}

void importQuantizeLinear(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<DType> storage = readStorage(node);
  QuantGrid grid = readGrid(node, {});
  if (!storage || node.hasFailed())
    return;
  if (!hasQuantizedType(node, *storage, grid))
    return node.setOutput(0, quantizeByArithmetic(node, *storage, grid));
  std::optional<QuantParams> params = readParams(node, *storage);
  if (!params)
    return;
  if (ElementsAttr constant = OnnxNode::getConstant(input))
    return node.setOutput(0, quantizeConstant(node, constant, *params));
  Type type = getQuantizedType(node, *params);
  if (!type)
    return;
  input = node.convert(input, node.getBuilder().getF32Type());
  node.setOutput(0, node.convert(input, type));
}

//===----------------------------------------------------------------------===//
// DequantizeLinear
//===----------------------------------------------------------------------===//

static Value dequantizeConstant(OnnxNode &node, ElementsAttr attr,
                                const QuantParams &params) {
  ArrayRef<int64_t> shape = attr.getShapedType().getShape();
  std::vector<float> floats;
  if (isa<FloatType>(attr.getElementType())) {
    floats = getConstantFloats(attr);
    for (size_t i = 0; i < floats.size(); ++i)
      floats[i] *= params.scales[params.grid.find(shape, i)];
  } else {
    SmallVector<int64_t> ints = readInts(attr);
    floats.resize(ints.size());
    for (size_t i = 0; i < ints.size(); ++i) {
      size_t param = params.grid.find(shape, i);
      floats[i] = static_cast<float>(ints[i] - params.zeroPoints[param]) *
                  params.scales[param];
    }
  }
  std::vector<char> bytes(floats.size() * sizeof(float));
  if (!bytes.empty())
    std::memcpy(bytes.data(), floats.data(), bytes.size());
  auto type = RankedTensorType::get(shape, node.getBuilder().getF32Type());
  return node.createConstant(type, std::move(bytes));
}

/// Returns the parameters with which i8 stores the same numbers around 0, as
/// integer kernels read weights; none if there are no such parameters.
static std::optional<QuantParams> centre(const QuantParams &params) {
  int64_t middle = params.storage == DType::U8 ? 128 : 0;
  bool isByte = params.storage == DType::U8 || params.storage == DType::I8;
  if (!isByte || params.grid.blockSize || !llvm::all_equal(params.zeroPoints) ||
      params.zeroPoints[0] != middle)
    return std::nullopt;
  QuantParams centred = params;
  centred.storage = DType::I8;
  llvm::fill(centred.zeroPoints, 0);
  return centred;
}

/// Returns a convert of the constant, for the passes to find the integers. As
/// all that is known here would be folded, it is created as it is. Vectors are
/// no weights of products; null for them and for others that none reads.
static Value keepIntegers(OnnxNode &node, ElementsAttr attr,
                          const QuantParams &params) {
  ArrayRef<int64_t> shape = attr.getShapedType().getShape();
  std::optional<QuantParams> centred = centre(params);
  if (!centred || shape.size() < 2 || multiply(shape) == 0)
    return nullptr;
  std::vector<char> bytes = getConstantBytes(attr);
  if (params.storage == DType::U8)
    for (char &byte : bytes)
      byte = static_cast<char>(byte ^ 0x80);
  Value integers = node.createConstant(
      RankedTensorType::get(shape, getQuantizedType(node, *centred)),
      std::move(bytes));
  OpBuilder &builder = node.getBuilder();
  return ConvertOp::create(builder, node.getLoc(),
                           RankedTensorType::get(shape, builder.getF32Type()),
                           integers);
}

/// Returns the value in front of the QuantizeLinear that made it.
static Value dequantizeValue(OnnxNode &node, Value input,
                             const QuantInputs &inputs) {
  Type elementType = getTensorType(input).getElementType();
  std::optional<QuantParams> params =
      readParams(node, getDType(elementType).value_or(DType::U8), inputs);
  if (!params)
    return nullptr;
  Type expected = getQuantizedType(node, *params);
  if (expected && expected != elementType) {
    node.emitError() << "'" << node.getInputName(inputs.value)
                     << "' was quantised as " << elementType
                     << ", but is dequantised as " << expected;
    return nullptr;
  }
  return node.convert(input, node.getBuilder().getF32Type());
}

/// Computes (input - zeroPoint) * scale in f32, for any types.
static Value dequantizeByArithmetic(OnnxNode &node, Value input,
                                    const QuantInputs &inputs) {
  QuantGrid grid = readGrid(node, inputs);
  if (node.hasFailed() || !checkZeroPoint(node, inputs))
    return nullptr;
  SmallVector<int64_t> shape(getShape(input));
  bool isReal = isa<FloatType>(getTensorType(input).getElementType());
  Type f32 = node.getBuilder().getF32Type();
  Value result = node.convert(input, f32);
  // The zero point of floats is 0.
  if (Value zeroPoint = isReal ? Value() : node.getInput(inputs.zeroPoint))
    result = node.create<SubOp>(
        result, node.convert(spread(node, zeroPoint, grid, shape), f32));
  Value scale = spread(node, node.getInput(inputs.scale), grid, shape);
  return node.create<MulOp>(result, node.convert(scale, f32));
}

/// Records what a product needs to read the constant as it is stored.
static void recordBlocks(OnnxNode &node, Value result, ElementsAttr integers,
                         const QuantParams &params) {
  bool isNarrow =
      !runtime::isFloat(params.storage) &&
      llvm::is_contained({4, 8}, runtime::dtypeBits(params.storage));
  if (result && isNarrow && params.grid.blockSize)
    node.setBlockWeights(result, {integers, params.storage, *params.grid.axis,
                                  params.grid.blockSize, params.scales,
                                  params.zeroPoints});
}

Value dequantize(OnnxNode &node, const QuantInputs &inputs) {
  Value input = node.getInput(inputs.value);
  Type elementType = getTensorType(input).getElementType();
  if (isa<quant::QuantizedType>(elementType))
    return dequantizeValue(node, input, inputs);
  DType storage = getDType(elementType).value_or(DType::U8);
  if (runtime::isFloat(storage) && !isStorage(storage)) {
    node.emitError() << "'" << node.getInputName(inputs.value)
                     << "' holds no quantised numbers, but " << elementType;
    return nullptr;
  }
  ElementsAttr constant = OnnxNode::getConstant(input);
  if (!constant || !hasConstantParams(node, inputs))
    return dequantizeByArithmetic(node, input, inputs);
  std::optional<QuantParams> params = readParams(node, storage, inputs);
  if (!params)
    return nullptr;
  if (Value result = keepIntegers(node, constant, *params))
    return result;
  Value result = dequantizeConstant(node, constant, *params);
  recordBlocks(node, result, constant, *params);
  return result;
}

void importDequantizeLinear(OnnxNode &node) {
  Type type = getTensorType(node.getInput(1)).getElementType();
  if (std::optional<DType> dtype = readDType(node, "output_dtype"))
    type = getElementType(type.getContext(), *dtype);
  std::optional<DType> dtype = getDType(type);
  if (!dtype || !runtime::fitsF32(*dtype)) {
    node.emitError() << "the result is of " << type << ", expected "
                     << runtime::listDTypes(runtime::fitsF32, " or ");
    return;
  }
  Value result = dequantize(node, {}), converted = node.convert(result, type);
  // A product by the integers spares the rounding to f16.
  if (converted && converted != result)
    if (const BlockWeights *weights = node.findBlockWeights(result))
      node.setBlockWeights(converted, BlockWeights(*weights));
  node.setOutput(0, converted);
}

Value dequantizeWhole(OnnxNode &node, unsigned value, unsigned scale,
                      unsigned zeroPoint) {
  if (!requireInputs(node, {scale}))
    return nullptr;
  if (multiply(getShape(node.getInput(scale))) != 1) {
    node.emitError() << "the scale '" << node.getInputName(scale) << "' is "
                     << node.getInput(scale).getType()
                     << ", expected one number";
    return nullptr;
  }
  return dequantize(node, {value, scale, zeroPoint, std::nullopt});
}

//===----------------------------------------------------------------------===//
// Quantised results
//===----------------------------------------------------------------------===//

/// The type that the elements of an input are stored in.
static DType getStorage(Value value) {
  Type type = getTensorType(value).getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return quantized.isSigned() ? DType::I8 : DType::U8;
  return getDType(type).value_or(DType::U8);
}

void setQuantized(OnnxNode &node, Value result, unsigned scale,
                  unsigned zeroPoint, unsigned like) {
  DType storage =
      getStorage(node.getInput(node.hasInput(zeroPoint) ? zeroPoint : like));
  // The scale of the result is one number.
  if (multiply(getShape(node.getInput(scale))) != 1) {
    node.emitError() << "the scale of the result is "
                     << node.getInput(scale).getType()
                     << ", expected one number";
    return;
  }
  std::optional<QuantParams> params =
      readParams(node, storage, {0, scale, zeroPoint, std::nullopt});
  Type type = params ? getQuantizedType(node, *params) : nullptr;
  if (type)
    node.setOutput(0, node.convert(result, type));
}

} // namespace tarpon
