//===- ArithmeticOps.cpp - Import of composed arithmetic ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators that a few elementwise operations express.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Mod
//===----------------------------------------------------------------------===//

/// The remainder with the sign of the divisor, or with that of the dividend, as
/// C's fmod.
static Value createFloatMod(OnnxNode &node, Value lhs, Value rhs,
                            bool keepsSign) {
  Value rest = node.create<FmodOp>(lhs, rhs);
  if (keepsSign || !rest)
    return rest;
  Type elementType = getTensorType(rest).getElementType();
  auto number = [&](double value) {
    return node.createNumber(value, elementType);
  };
  Value isNegative = node.create<LessOp>(rest, number(0)),
        isBelow = node.create<LessOp>(rhs, number(0));
  Value differ = node.isSet(node.create<SubOp>(isNegative, isBelow));
  Value other =
      node.create<WhereOp>(differ, node.create<AddOp>(rest, rhs), rest);
  // A zero has the sign of the divisor, too.
  Value zero =
      node.create<WhereOp>(node.isSet(isBelow), number(-0.0), number(0));
  return node.create<WhereOp>(node.isSet(node.create<EqualOp>(rest, number(0))),
                              zero, other);
}

void importMod(OnnxNode &node) {
  Value lhs = node.getInput(0), rhs = node.getInput(1);
  bool keepsSign = node.getBool("fmod", false);
  auto integer = dyn_cast<IntegerType>(getTensorType(lhs).getElementType());
  if (!integer)
    return node.setOutput(0, createFloatMod(node, lhs, rhs, keepsSign));
  Value quotient = node.create<DivOp>(lhs, rhs);
  Value rest = node.create<SubOp>(lhs, node.create<MulOp>(quotient, rhs));
  if (keepsSign || integer.isUnsigned())
    return node.setOutput(0, rest);
  // The remainder of a truncated division gets the sign of the divisor.
  Value signs =
      node.create<MulOp>(node.create<SignOp>(rest), node.create<SignOp>(rhs));
  Value differ = node.create<LessOp>(signs, node.createNumber(0, integer));
  node.setOutput(0, node.create<AddOp>(rest, node.create<MulOp>(differ, rhs)));
}

//===----------------------------------------------------------------------===//
// Running sums and products
//===----------------------------------------------------------------------===//

namespace {
/// A direction along one axis, and what stands before the first element.
struct Scan {
  int64_t axis;
  bool reverse;
  double neutral;

  /// Moves all elements by `count` places.
  Value shift(OnnxNode &node, Value value, int64_t count) const {
    int64_t rank = getShape(value).size();
    SmallVector<int64_t> pads(2 * rank, 0);
    pads[axis] = reverse ? -count : count;
    pads[rank + axis] = -pads[axis];
    OpBuilder &builder = node.getBuilder();
    return node.create<PadOp>(
        value, builder.getDenseI64ArrayAttr(pads),
        builder.getF64FloatAttr(neutral),
        PadModeAttr::get(builder.getContext(), PadMode::Constant));
  }
};
} // namespace

/// Combines each element with the one before it, then with the two before that
/// one, then four: in the end with all before it.
template <typename OpTy>
static void importScan(OnnxNode &node, double neutral) {
  Value value = node.getInput(0);
  std::optional<double> axis = node.getConstantNumber(1, "the axis");
  bool exclusive = node.getBool("exclusive", false),
       reverse = node.getBool("reverse", false);
  if (!axis || node.hasFailed())
    return;
  int64_t rank = getShape(value).size();
  Scan scan{node.normalizeAxis(static_cast<int64_t>(*axis), rank), reverse,
            neutral};
  if (node.hasFailed())
    return;
  if (exclusive)
    value = scan.shift(node, value, 1);
  for (int64_t count = 1; value && count < getShape(value)[scan.axis];
       count *= 2)
    value = node.create<OpTy>(value, scan.shift(node, value, count));
  node.setOutput(0, value);
}

void importCumSum(OnnxNode &node) { importScan<AddOp>(node, 0); }
void importCumProd(OnnxNode &node) { importScan<MulOp>(node, 1); }

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

/// (e^x + e^-x) / 2, which is halved in the exponents, lest it overflow.
static Value createCosh(OnnxNode &node, Value x) {
  if (!x)
    return nullptr;
  Value half =
      node.createFloat(std::log(2.0), getTensorType(x).getElementType());
  Value grows = node.create<ExpOp>(node.create<SubOp>(x, half));
  Value falls =
      node.create<ExpOp>(node.create<SubOp>(node.create<NegOp>(x), half));
  return node.create<AddOp>(grows, falls);
}

/// Returns the input if it holds floats, or else null after an error.
static Value getFloats(OnnxNode &node) {
  Value input = node.getInput(0);
  if (isa<FloatType>(getTensorType(input).getElementType()))
    return input;
  node.emitError() << "the input is not of floats";
  return nullptr;
}

void importCosh(OnnxNode &node) {
  node.setOutput(0, createCosh(node, getFloats(node)));
}

/// tanh(x) cosh(x) is exact near 0, where the difference of exponentials is
/// not.
void importSinh(OnnxNode &node) {
  Value x = getFloats(node);
  node.setOutput(
      0, node.create<MulOp>(node.create<TanhOp>(x), createCosh(node, x)));
}

void importTan(OnnxNode &node) {
  Value x = getFloats(node);
  node.setOutput(
      0, node.create<DivOp>(node.create<SinOp>(x), node.create<CosOp>(x)));
}

/// x < -lambda: x + bias; x > lambda: x - bias; otherwise 0.
void importShrink(OnnxNode &node) {
  Value x = node.getInput(0);
  Type elementType = getTensorType(x).getElementType();
  float bias = node.getFloat("bias", 0), lambda = node.getFloat("lambd", 0.5);
  if (!isa<FloatType>(elementType) &&
      (bias != std::floor(bias) || lambda != std::floor(lambda)))
    node.emitError() << "bias " << bias << " and lambd " << lambda
                     << " are not integers, as the input is";
  auto number = [&](double value) {
    return node.createNumber(value, elementType);
  };
  Value low = node.isSet(node.create<LessOp>(x, number(-lambda))),
        high = node.isSet(node.create<LessOp>(number(lambda), x));
  Value rest = node.create<WhereOp>(high, node.create<SubOp>(x, number(bias)),
                                    number(0));
  node.setOutput(
      0, node.create<WhereOp>(low, node.create<AddOp>(x, number(bias)), rest));
}

void importSwiGLU(OnnxNode &node) {
  FloatAttr alpha =
      node.getBuilder().getF32FloatAttr(node.getFloat("alpha", 1));
  node.setOutput(
      0, node.create<MulOp>(node.create<SwishOp>(node.getInput(0), alpha),
                            node.getInput(1)));
}

//===----------------------------------------------------------------------===//
// Quantisation at run time
//===----------------------------------------------------------------------===//

static Value reduceAll(OnnxNode &node, Value value, bool wantsLargest) {
  auto rank = static_cast<int64_t>(getShape(value).size());
  OpBuilder &builder = node.getBuilder();
  DenseI64ArrayAttr axes = builder.getDenseI64ArrayAttr(
      llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  BoolAttr keepDims = builder.getBoolAttr(false);
  return wantsLargest ? node.create<ReduceMaxOp>(value, axes, keepDims)
                      : node.create<ReduceMinOp>(value, axes, keepDims);
}

/// Rounds, and clips to what u8 holds.
static Value roundToByte(OnnxNode &node, Value value) {
  OpBuilder &builder = node.getBuilder();
  return node.create<ClipOp>(node.create<RoundOp>(value),
                             builder.getF64FloatAttr(0),
                             builder.getF64FloatAttr(255));
}

/// The range of the values, widened to hold 0, becomes that of u8.
DynamicallyQuantized quantizeDynamically(OnnxNode &node, Value x) {
  Type type = getTensorType(x).getElementType();
  Value zero = node.createFloat(0, type);
  Value high = node.create<MaxOp>(reduceAll(node, x, true), zero),
        low = node.create<MinOp>(reduceAll(node, x, false), zero);
  Value scale = node.create<DivOp>(node.create<SubOp>(high, low),
                                   node.createFloat(255, type));
  // Zeros are quantised to zeros, by whatever scale.
  Value isZero = node.isSet(node.create<EqualOp>(scale, zero));
  scale = node.create<WhereOp>(isZero, node.createFloat(1, type), scale);
  Value zeroPoint =
      roundToByte(node, node.create<DivOp>(node.create<NegOp>(low), scale));
  Value rounded = node.create<RoundOp>(node.create<DivOp>(x, scale));
  return {roundToByte(node, node.create<AddOp>(rounded, zeroPoint)), scale,
          zeroPoint};
}

Value roundDynamically(OnnxNode &node, Value x) {
  if (!x)
    return nullptr;
  if (!isa<FloatType>(getTensorType(x).getElementType())) {
    node.emitError() << "the input is not of floats";
    return nullptr;
  }
  DynamicallyQuantized y = quantizeDynamically(node, x);
  return node.create<MulOp>(node.create<SubOp>(y.steps, y.zeroPoint), y.scale);
}

void importDynamicQuantizeLinear(OnnxNode &node) {
  Value x = getFloats(node);
  if (!x)
    return;
  x = getShape(x).empty() ? node.reshape(x, {1}) : x;
  DynamicallyQuantized y = quantizeDynamically(node, x);
  Type byte =
      getElementType(node.getBuilder().getContext(), runtime::DType::U8);
  node.setOutput(
      0, node.reshape(node.convert(y.steps, byte), getShape(node.getInput(0))));
  node.setOutput(1, y.scale);
  node.setOutput(2, node.convert(y.zeroPoint, byte));
}

} // namespace tarpon
