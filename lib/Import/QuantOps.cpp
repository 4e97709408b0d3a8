//===- QuantOps.cpp - Import of QuantizeLinear and its inverse --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activations become tensors of quantised types. Constants are computed here:
// weights that were exported quantised become f32 constants, which the passes
// may quantise again. Integers of unknown origin (an input of the model) are
// dequantised by arithmetic in f32.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using tarpon::runtime::DType;

namespace tarpon {

namespace {
/// The indices of the inputs that are a tensor, its scale and its zero point.
struct QuantInputs {
  unsigned value = 0, scale = 1, zeroPoint = 2;
  /// The dimension that several scales run along; none if an attribute gives
  /// it.
  std::optional<int64_t> axis;
};

/// One scale and zero point, or one per element of a dimension.
struct QuantParams {
  SmallVector<float> scales;
  SmallVector<int64_t> zeroPoints;
  /// The dimension, or none.
  std::optional<int64_t> axis;
  DType storage = DType::U8;

  /// The index of the parameters of row-major element `index` of a tensor.
  size_t find(ArrayRef<int64_t> shape, int64_t index) const {
    if (!axis)
      return 0;
    return index / multiply(shape.drop_front(*axis + 1)) % shape[*axis];
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

/// The dimension that scales of this type run along; none for one scale.
static std::optional<int64_t> readAxis(OnnxNode &node,
                                       const QuantInputs &inputs) {
  ArrayRef<int64_t> shape = getShape(node.getInput(inputs.value));
  ArrayRef<int64_t> scaleShape = getShape(node.getInput(inputs.scale));
  if (node.getInt("block_size", 0) != 0 || scaleShape.size() > 1) {
    node.emitError() << "blocked quantisation is not supported";
    return std::nullopt;
  }
  if (multiply(scaleShape) == 1)
    return std::nullopt;
  int64_t axis = inputs.axis ? node.normalizeAxis(*inputs.axis, shape.size())
                             : node.getAxis("axis", 1, shape.size());
  if (node.hasFailed())
    return std::nullopt;
  if (scaleShape[0] != shape[axis])
    node.emitError() << "there are " << scaleShape[0]
                     << " scales for the dimension " << axis << " of size "
                     << shape[axis];
  return axis;
}

static bool checkZeroPointShape(OnnxNode &node, const QuantInputs &inputs) {
  if (!node.hasInput(inputs.zeroPoint))
    return true;
  Value scale = node.getInput(inputs.scale),
        zeroPoint = node.getInput(inputs.zeroPoint);
  if (multiply(getShape(scale)) == multiply(getShape(zeroPoint)) &&
      getShape(zeroPoint).size() <= 1 &&
      !isa<FloatType>(getTensorType(zeroPoint).getElementType()))
    return true;
  node.emitError() << "the zero point " << zeroPoint.getType()
                   << " does not fit the scale " << scale.getType();
  return false;
}

/// Reads constant parameters for elements of `storage`.
static std::optional<QuantParams> readParams(OnnxNode &node, DType storage,
                                             const QuantInputs &inputs = {}) {
  QuantParams params;
  params.storage = storage;
  params.axis = readAxis(node, inputs);
  ElementsAttr scales = node.getConstantInput(inputs.scale, "the scale");
  if (!scales || node.hasFailed() || !checkZeroPointShape(node, inputs))
    return std::nullopt;
  params.scales = llvm::to_vector(getConstantFloats(scales));
  for (float scale : params.scales)
    if (!std::isnormal(scale) || scale < 0)
      node.emitError() << "the scale " << scale << " is not positive";
  params.zeroPoints.assign(params.scales.size(), 0);
  if (node.hasInput(inputs.zeroPoint) && !node.hasFailed())
    if (ElementsAttr attr =
            node.getConstantInput(inputs.zeroPoint, "the zero point"))
      params.zeroPoints = readInts(attr);
  if (node.hasFailed())
    return std::nullopt;
  return params;
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
  if (!params.axis)
    return quant::UniformQuantizedType::get(
        flags, storage, expressed, scales.front(), params.zeroPoints.front(),
        min, max);
  return quant::UniformQuantizedPerAxisType::get(flags, storage, expressed,
                                                 scales, params.zeroPoints,
                                                 *params.axis, min, max);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear
//===----------------------------------------------------------------------===//

static DType readStorage(OnnxNode &node) {
  int64_t outputType = node.getInt("output_dtype", 0);
  if (node.hasInput(2))
    return getDType(getTensorType(node.getInput(2)).getElementType())
        .value_or(DType::U8);
  if (outputType == 0)
    return DType::U8;
  std::optional<DType> dtype;
  if (outputType > 0 && outputType <= std::numeric_limits<int32_t>::max())
    dtype = getDType(static_cast<int32_t>(outputType));
  if (!dtype)
    node.emitError() << "attribute 'output_dtype' is the unsupported type "
                     << outputType;
  return dtype.value_or(DType::U8);
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
    size_t param = params.find(shape, i);
    float steps = std::nearbyint(floats[i] / params.scales[param]) +
                  static_cast<float>(params.zeroPoints[param]);
    bytes[i] = static_cast<char>(static_cast<int>(std::clamp(steps, min, max)));
  }
  Type elementType =
      getElementType(node.getBuilder().getContext(), params.storage);
  return node.createConstant(RankedTensorType::get(shape, elementType),
                             std::move(bytes));
}

void importQuantizeLinear(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<QuantParams> params = readParams(node, readStorage(node));
  if (!params)
    return;
  if (ElementsAttr constant = OnnxNode::getConstant(input))
    return node.setOutput(0, quantizeConstant(node, constant, *params));
  if (params->axis) {
    node.emitError() << "quantisation per axis of '" << node.getInputName(0)
                     << "', which is not a constant, is not supported";
    return;
  }
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
  SmallVector<int64_t> ints = readInts(attr);
  std::vector<float> floats(ints.size());
  for (size_t i = 0; i < ints.size(); ++i) {
    size_t param = params.find(shape, i);
    floats[i] = static_cast<float>(ints[i] - params.zeroPoints[param]) *
                params.scales[param];
  }
  std::vector<char> bytes(floats.size() * sizeof(float));
  if (!bytes.empty())
    std::memcpy(bytes.data(), floats.data(), bytes.size());
  auto type = RankedTensorType::get(shape, node.getBuilder().getF32Type());
  return node.createConstant(type, std::move(bytes));
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
static Value dequantizeIntegers(OnnxNode &node, Value input,
                                const QuantInputs &inputs) {
  std::optional<int64_t> axis = readAxis(node, inputs);
  if (node.hasFailed() || !checkZeroPointShape(node, inputs))
    return nullptr;
  SmallVector<int64_t> shape;
  if (axis) {
    shape.assign(getShape(input).size(), 1);
    shape[*axis] = getShape(input)[*axis];
  }
  Type f32 = node.getBuilder().getF32Type();
  Value result = node.convert(input, f32);
  if (Value zeroPoint = node.getInput(inputs.zeroPoint))
    result = node.create<SubOp>(
        result, node.convert(node.reshape(zeroPoint, shape), f32));
  Value scale = node.getInput(inputs.scale);
  return node.create<MulOp>(result,
                            node.convert(node.reshape(scale, shape), f32));
}

/// Returns input `inputs.value` in f32, whatever its type is.
static Value dequantize(OnnxNode &node, const QuantInputs &inputs) {
  Value input = node.getInput(inputs.value);
  Type elementType = getTensorType(input).getElementType();
  if (isa<FloatType>(elementType)) {
    node.emitError() << "'" << node.getInputName(inputs.value)
                     << "' holds no integers, but " << elementType;
    return nullptr;
  }
  if (isa<quant::QuantizedType>(elementType))
    return dequantizeValue(node, input, inputs);
  ElementsAttr constant = OnnxNode::getConstant(input);
  if (!constant)
    return dequantizeIntegers(node, input, inputs);
  DType storage = getDType(elementType).value_or(DType::U8);
  std::optional<QuantParams> params = readParams(node, storage, inputs);
  return params ? dequantizeConstant(node, constant, *params) : nullptr;
}

void importDequantizeLinear(OnnxNode &node) {
  Value result = dequantize(node, {});
  Type scaleType = getTensorType(node.getInput(1)).getElementType();
  node.setOutput(0, node.convert(result, scaleType));
}

//===----------------------------------------------------------------------===//
// QLinearMatMul
//===----------------------------------------------------------------------===//

/// Imports QuantizeLinear of the product of two DequantizeLinear; as for a
/// model that spells it out, the passes find the integer computation.
void importQLinearMatMul(OnnxNode &node) {
  Value lhs = dequantize(node, {0, 1, 2, /*axis=*/-2});
  Value rhs = lhs ? dequantize(node, {3, 4, 5, /*axis=*/-1}) : nullptr;
  if (!rhs || node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value product = node.create<MatMulOp>(lhs, rhs, builder.getBoolAttr(false),
                                        builder.getBoolAttr(false));
  DType storage = getDType(getTensorType(node.getInput(7)).getElementType())
                      .value_or(DType::U8);
  // The scale of the result is one number.
  if (multiply(getShape(node.getInput(6))) != 1) {
    node.emitError() << "the scale of the result is "
                     << node.getInput(6).getType() << ", expected one number";
    return;
  }
  std::optional<QuantParams> params =
      readParams(node, storage, {0, 6, 7, std::nullopt});
  Type type = params ? getQuantizedType(node, *params) : nullptr;
  if (type)
    node.setOutput(0, node.convert(product, type));
}

} // namespace tarpon
