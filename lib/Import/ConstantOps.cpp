//===- ConstantOps.cpp - Import of constants --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "SizeValues.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/Support/MathExtras.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

static void importTensor(OnnxNode &node) {
  if (std::optional<OnnxTensor> tensor = node.getTensor("value"))
    node.setOutput(0, node.createConstant(std::move(*tensor)));
}

static void importFloats(OnnxNode &node, ArrayRef<float> values, bool scalar) {
  SmallVector<int64_t, 1> shape;
  if (!scalar)
    shape.push_back(values.size());
  auto type = RankedTensorType::get(shape, node.getBuilder().getF32Type());
  if (!node.hasFailed())
    node.setOutput(
        0, createFloatConstant(node.getBuilder(), node.getLoc(), type, values));
}

void importConstant(OnnxNode &node) {
  if (node.hasAttribute("value"))
    return importTensor(node);
  if (node.hasAttribute("value_int"))
    return node.setOutput(
        0, node.createInts(node.getInt("value_int", 0), /*scalar=*/true));
  if (node.hasAttribute("value_ints"))
    return node.setOutput(0, node.createInts(node.getInts("value_ints")));
  if (node.hasAttribute("value_float"))
    return importFloats(node, node.getFloat("value_float", 0.0f),
                        /*scalar=*/true);
  if (node.hasAttribute("value_floats"))
    return importFloats(node, node.getFloats("value_floats"),
                        /*scalar=*/false);
  node.emitError() << "expects a dense tensor of numbers as its value; strings "
                      "and sparse tensors are not supported";
}

void importConstantOfShape(OnnxNode &node) {
  auto sizes = node.getSizes(0, "the shape");
  SmallVector<int64_t> shape;
  RealSizes real;
  if (!sizes || failed(readShape(node, node.getInput(0), *sizes, shape, real)))
    return;
  Value value;
  if (!node.hasAttribute("value")) {
    value = node.createFloat(0.0, node.getBuilder().getF32Type());
  } else if (std::optional<OnnxTensor> tensor = node.getTensor("value")) {
    if (multiply(tensor->shape) != 1) {
      node.emitError() << "attribute 'value' has " << multiply(tensor->shape)
                       << " elements, expected 1";
      return;
    }
    tensor->shape.clear();
    value = node.createConstant(std::move(*tensor));
  }
  node.setOutput(0, node.splat(value, shape), real);
}

//===----------------------------------------------------------------------===//
// Range
//===----------------------------------------------------------------------===//

/// Shape arithmetic needs short ranges; a long one is a mistake, or an attack.
static constexpr double maxRange = 1 << 20;

/// Returns the integer of input `index` if it depends on data, within limits.
static std::optional<SizeElement> findSize(OnnxNode &node, unsigned index) {
  if (node.findConstantInput(index))
    return std::nullopt;
  auto sizes = node.findSizes(index);
  return sizes && sizes->size() == 1 ? std::optional(sizes->front())
                                     : std::nullopt;
}

/// Counts from `start` by 1 up to a limit that depends on data.
static void importRangeToSize(OnnxNode &node, double start,
                              const SizeElement &limit, double delta) {
  Value list = node.getInput(1);
  auto first = static_cast<int64_t>(start);
  int64_t count = limit.most - first;
  if (delta != 1 || first < 0 || count < 1 ||
      count > static_cast<int64_t>(maxRange)) {
    node.emitError() << "the range from " << start << " to at most "
                     << limit.most << " by " << delta
                     << ", whose size depends on data, is not supported";
    return;
  }
  Value size = getSizeValue(node, list, 0, limit);
  if (first > 0)
    size = node.create<SubOp>(size, node.createInts({first}));
  if (first > 0 || limit.least < 0)
    size = node.create<MaxOp>(size, node.createInts({0}));
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(first + i);
  Value range = node.convert(node.createInts(numbers),
                             getTensorType(node.getInput(0)).getElementType());
  node.setOutput(0, range, RealSize{0, size});
}

void importRange(OnnxNode &node) {
  std::optional<double> start = node.getConstantNumber(0, "the start");
  std::optional<double> delta = node.getConstantNumber(2, "the delta");
  if (!start || !delta)
    return;
  if (std::optional<SizeElement> size = findSize(node, 1))
    return importRangeToSize(node, *start, *size, *delta);
  std::optional<double> limit = node.getConstantNumber(1, "the limit");
  if (!limit)
    return;
  constexpr int64_t kFloat = 1;
  if (int64_t type = node.getInt("stash_type", kFloat); type != kFloat) {
    node.emitError()
        << "numbers are computed in f32 or more, but stash_type is " << type;
    return;
  }
  double count = std::ceil((*limit - *start) / *delta);
  // Up to this bound integers are exact in double. A NaN fails the test too.
  constexpr double exact = 9007199254740992.0;
  if (*delta == 0 || !(std::fabs(*start) <= exact) ||
      !(std::fabs(*limit) <= exact) || !(count <= maxRange)) {
    node.emitError() << "the range from " << *start << " to " << *limit
                     << " by " << *delta << " is not supported";
    return;
  }
  Type elementType = getTensorType(node.getInput(0)).getElementType();
  int64_t size = std::max(static_cast<int64_t>(count), int64_t(0));
  if (isa<FloatType>(elementType)) {
    SmallVector<float> values;
    for (int64_t i = 0; i < size; ++i)
      values.push_back(static_cast<float>(*start + i * *delta));
    auto type = RankedTensorType::get(size, node.getBuilder().getF32Type());
    Value floats =
        createFloatConstant(node.getBuilder(), node.getLoc(), type, values);
    return node.setOutput(0, node.convert(floats, elementType));
  }
  SmallVector<int64_t> values;
  for (int64_t i = 0; i < size; ++i)
    values.push_back(static_cast<int64_t>(*start + i * *delta));
  node.setOutput(0, node.convert(node.createInts(values), elementType));
}

//===----------------------------------------------------------------------===//
// Windows of signal processing
//===----------------------------------------------------------------------===//

/// Sets the output to the sum of cosines weights[k] * (-1)^k cos(k x), where x
/// goes around once.
static void importWindow(OnnxNode &node, std::array<double, 3> weights) {
  std::optional<double> size = node.getConstantNumber(0, "the size");
  bool periodic = node.getBool("periodic", true);
  int64_t number = node.getInt("output_datatype", onnx::TensorProto::FLOAT);
  std::optional<runtime::DType> dtype;
  if (llvm::isInt<32>(number))
    dtype = getDType(static_cast<int32_t>(number));
  if (!dtype)
    node.emitError() << "the data type " << describeOnnxType(number)
                     << " is not supported";
  if (size && (*size < 1 || *size > maxRange))
    node.emitError() << "the size " << *size << " is out of range";
  if (!size || node.hasFailed())
    return;
  constexpr double twoPi = 6.283185307179586;
  double step = twoPi / std::max(periodic ? *size : *size - 1, 1.0);
  SmallVector<float> values;
  for (int64_t i = 0; i < static_cast<int64_t>(*size); ++i)
    values.push_back(static_cast<float>(
        weights[0] - weights[1] * std::cos(step * static_cast<double>(i)) +
        weights[2] * std::cos(2 * step * static_cast<double>(i))));
  OpBuilder &builder = node.getBuilder();
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    builder.getF32Type());
  Value window = createFloatConstant(builder, node.getLoc(), type, values);
  node.setOutput(
      0, node.convert(window, getElementType(builder.getContext(), *dtype)));
}

void importHannWindow(OnnxNode &node) { importWindow(node, {0.5, 0.5, 0}); }
void importHammingWindow(OnnxNode &node) {
  importWindow(node, {25.0 / 46, 21.0 / 46, 0});
}
void importBlackmanWindow(OnnxNode &node) {
  importWindow(node, {0.42, 0.5, 0.08});
}

} // namespace tarpon
