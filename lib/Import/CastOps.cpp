//===- CastOps.cpp - Import of Cast, CastLike and BitCast -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversion of the dialect rounds to nearest even and turns what is too
// large into infinity or NaN. Whatever else the standard demands is computed in
// front of it.
//
//===----------------------------------------------------------------------===//

#include "Cast.h"
#include "OpTable.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tarpon::runtime::DType;

namespace tarpon {

/// Returns none for types that are not supported.
static std::optional<DType> findDType(int64_t number) {
  if (!llvm::isInt<32>(number))
    return std::nullopt;
  return getDType(static_cast<int32_t>(number));
}

std::optional<DType> readDType(OnnxNode &node, StringRef name) {
  if (!node.hasAttribute(name))
    return std::nullopt;
  int64_t number = node.getInt(name, onnx::TensorProto::UNDEFINED);
  std::optional<DType> dtype = findDType(number);
  if (!dtype && !node.hasFailed())
    node.emitError() << "attribute '" << name << "' is the unsupported type "
                     << describeOnnxType(number);
  return dtype;
}

Value saturateTo(OnnxNode &node, Value value, FloatType elementType) {
  double largest =
      APFloat::getLargest(elementType.getFloatSemantics()).convertToDouble();
  OpBuilder &builder = node.getBuilder();
  value = node.create<ClipOp>(value, builder.getF64FloatAttr(-largest),
                              builder.getF64FloatAttr(largest));
  return node.convert(value, elementType);
}

//===----------------------------------------------------------------------===//
// Powers of two
//===----------------------------------------------------------------------===//

namespace {
enum class RoundMode { Up, Down, Nearest, Unknown };
} // namespace

static RoundMode readRoundMode(OnnxNode &node) {
  std::string name = node.getString("round_mode", "up");
  auto mode = llvm::StringSwitch<RoundMode>(name)
                  .Case("up", RoundMode::Up)
                  .Case("down", RoundMode::Down)
                  .Case("nearest", RoundMode::Nearest)
                  .Default(RoundMode::Unknown);
  if (mode == RoundMode::Unknown)
    node.emitError() << "attribute 'round_mode' is '" << name
                     << "', expected up, down or nearest";
  return mode;
}

/// Returns f32 numbers whose bits are `bits`.
static Value roundToPowerOfTwo(OnnxNode &node, Value bits, RoundMode mode) {
  Type i32 = node.getBuilder().getI32Type();
  auto number = [&](int64_t n) {
    return node.convert(node.createInts({n}, /*scalar=*/true), i32);
  };
  constexpr int64_t kFraction = 0x7fffff, kExponent = 0x7f800000;
  switch (mode) {
  case RoundMode::Up:
    bits = node.create<AddOp>(bits, number(kFraction));
    break;
  case RoundMode::Down:
    break;
  case RoundMode::Nearest:
  case RoundMode::Unknown:
    return bits;
  }
  return node.create<BitAndOp>(bits, number(kExponent));
}

/// The sign is lost. Zero becomes the smallest power, infinity and NaN NaN.
static Value castToPowerOfTwo(OnnxNode &node, Value input, Type elementType,
                              bool saturates) {
  RoundMode mode = readRoundMode(node);
  OpBuilder &builder = node.getBuilder();
  Type i32 = builder.getI32Type();
  auto number = [&](int64_t n) {
    return node.convert(node.createInts({n}, /*scalar=*/true), i32);
  };
  constexpr int64_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000,
                    kLargestPower = 0x7f000000;
  input = node.convert(input, builder.getF32Type());
  if (!input)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(input);
  Value bits =
      node.createTyped<BitcastOp>(RankedTensorType::get(shape, i32), input);
  bits = node.create<MinOp>(node.create<BitAndOp>(bits, number(kMagnitude)),
                            number(kInfinity));
  if (saturates) {
    Value isFinite = node.convert(node.create<LessOp>(bits, number(kInfinity)),
                                  builder.getI1Type());
    bits = node.create<WhereOp>(
        isFinite, node.create<MinOp>(bits, number(kLargestPower)), bits);
  }
  bits = roundToPowerOfTwo(node, bits, mode);
  Value rounded = node.createTyped<BitcastOp>(
      RankedTensorType::get(shape, builder.getF32Type()), bits);
  return node.convert(rounded, elementType);
}

//===----------------------------------------------------------------------===//
// Cast and CastLike
//===----------------------------------------------------------------------===//

static bool isOfStorageOnly(Type elementType) {
  std::optional<DType> dtype = getDType(elementType);
  return dtype && runtime::isStorageOnly(*dtype);
}

static Value castToSmallFloat(OnnxNode &node, Value input, FloatType to,
                              bool saturates) {
  if (isa<Float8E8M0FNUType>(to))
    return castToPowerOfTwo(node, input, to, saturates);
  Type from = getTensorType(input).getElementType();
  if (!isa<FloatType>(from) || isOfStorageOnly(from))
    input = node.convert(input, node.getBuilder().getF32Type());
  return saturates ? saturateTo(node, input, to) : node.convert(input, to);
}

static Value castTo(OnnxNode &node, Value input, Type to) {
  bool saturates = node.getBool("saturate", true);
  Type from = getTensorType(input).getElementType();
  if (from == to || !isOfStorageOnly(to))
    return node.convert(input, to);
  if (auto real = dyn_cast<FloatType>(to))
    return castToSmallFloat(node, input, real, saturates);
  // Integers wrap where floats would saturate.
  if (isa<FloatType>(from))
    input = node.convert(input, node.getBuilder().getI32Type());
  return node.convert(input, to);
}

/// Returns the type that the attribute 'to' asks for; null after an error.
static Type readTarget(OnnxNode &node) {
  int64_t to = node.getInt("to", onnx::TensorProto::UNDEFINED);
  std::optional<DType> dtype = findDType(to);
  if (!dtype && !node.hasFailed())
    node.emitError() << "cannot cast to the data type " << describeOnnxType(to);
  if (node.hasFailed())
    return nullptr;
  return getElementType(node.getBuilder().getContext(), *dtype);
}

void importCast(OnnxNode &node) {
  if (Type elementType = readTarget(node))
    node.setOutput(0, castTo(node, node.getInput(0), elementType));
}

void importCastLike(OnnxNode &node) {
  Type elementType = getTensorType(node.getInput(1)).getElementType();
  node.setOutput(0, castTo(node, node.getInput(0), elementType));
}

//===----------------------------------------------------------------------===//
// BitCast
//===----------------------------------------------------------------------===//

/// The integers through which a type is cast: unsigned ones, since the bytes of
/// narrow signed ones and of booleans hold more than their bits.
static Type getPlainType(Type elementType, int64_t bits) {
  if (!elementType.isSignlessInteger() ||
      (bits >= 8 && !elementType.isInteger(1)))
    return elementType;
  return IntegerType::get(elementType.getContext(), bits,
                          IntegerType::Unsigned);
}

void importBitCast(OnnxNode &node) {
  Value input = node.getInput(0);
  Type to = readTarget(node), from = getTensorType(input).getElementType();
  std::optional<DType> source = getDType(from);
  if (!to || !source)
    return;
  int64_t bits = runtime::dtypeBits(*source);
  if (bits != runtime::dtypeBits(*getDType(to))) {
    node.emitError() << "cannot take the bits of " << from << " for those of "
                     << to << ", which has more or fewer";
    return;
  }
  // Integers of one width wrap to each other.
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return node.setOutput(0, node.convert(input, to));
  input = node.convert(input, getPlainType(from, bits));
  Value result = node.createTyped<BitcastOp>(
      RankedTensorType::get(getShape(input), getPlainType(to, bits)), input);
  node.setOutput(0, node.convert(result, to));
}

} // namespace tarpon
