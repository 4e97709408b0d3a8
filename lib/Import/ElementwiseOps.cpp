//===- ElementwiseOps.cpp - Import of elementwise operators -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace tarpon {

template <typename OpTy>
static void importBinary(OnnxNode &node) {
  node.setOutput(0, node.create<OpTy>(node.getInput(0), node.getInput(1)));
}

void importAdd(OnnxNode &node) { importBinary<AddOp>(node); }
void importSub(OnnxNode &node) { importBinary<SubOp>(node); }
void importMul(OnnxNode &node) { importBinary<MulOp>(node); }
void importDiv(OnnxNode &node) { importBinary<DivOp>(node); }

void importPRelu(OnnxNode &node) { importBinary<PReluOp>(node); }

/// Combines the inputs one after the other.
template <typename OpTy>
static void importVariadic(OnnxNode &node) {
  Value value = node.getInput(0);
  for (unsigned i = 1; i < node.getNumInputs(); ++i)
    value = node.create<OpTy>(value, node.getInput(i));
  node.setOutput(0, value);
}

void importMax(OnnxNode &node) { importVariadic<MaxOp>(node); }
void importMin(OnnxNode &node) { importVariadic<MinOp>(node); }

void importMean(OnnxNode &node) {
  Value sum = node.getInput(0);
  for (unsigned i = 1; i < node.getNumInputs(); ++i)
    sum = node.create<AddOp>(sum, node.getInput(i));
  if (!sum)
    return;
  Type elementType = getTensorType(sum).getElementType();
  if (node.getNumInputs() > 1)
    sum = node.create<DivOp>(
        sum, node.createFloat(node.getNumInputs(), elementType));
  node.setOutput(0, sum);
}

/// Returns a simpler form of x to the power of a number; null if there is none.
static Value createSimplePower(OnnxNode &node, Value x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return node.create<MulOp>(x, x);
  if (exponent == 3)
    return node.create<MulOp>(node.create<MulOp>(x, x), x);
  if (exponent == 0.5)
    return node.create<SqrtOp>(x);
  if (exponent == -1)
    return node.create<ReciprocalOp>(x);
  return nullptr;
}

/// The exponent may have another type than the base, whose type the result has.
void importPow(OnnxNode &node) {
  Value base = node.getInput(0), exponent = node.getInput(1);
  RankedTensorType type = getTensorType(base);
  bool isReal = isa<FloatType>(type.getElementType());
  ElementsAttr constant = OnnxNode::getConstant(exponent);
  if (isReal && constant && constant.getNumElements() == 1 &&
      getShape(exponent).size() <= getShape(base).size()) {
    std::optional<double> number = node.getConstantNumber(1, "the exponent");
    if (Value simple =
            number ? createSimplePower(node, base, *number) : Value())
      return node.setOutput(0, simple);
  }
  // Integers are computed in f64, which holds every i32.
  Type compute =
      isReal ? type.getElementType() : Type(node.getBuilder().getF64Type());
  Value power = node.create<PowOp>(node.convert(base, compute),
                                   node.convert(exponent, compute));
  // An error of pow that makes a result just smaller than an integer must not
  // truncate it to the one below.
  if (power && !isReal)
    power = node.create<MulOp>(power, node.createFloat(1 + 0x1p-44, compute));
  node.setOutput(0, node.convert(power, type.getElementType()));
}

template <typename OpTy>
static void importUnary(OnnxNode &node) {
  node.setOutput(0, node.create<OpTy>(node.getInput(0)));
}

void importAbs(OnnxNode &node) { importUnary<AbsOp>(node); }
void importAcos(OnnxNode &node) { importUnary<AcosOp>(node); }
void importAcosh(OnnxNode &node) { importUnary<AcoshOp>(node); }
void importAsin(OnnxNode &node) { importUnary<AsinOp>(node); }
void importAsinh(OnnxNode &node) { importUnary<AsinhOp>(node); }
void importAtan(OnnxNode &node) { importUnary<AtanOp>(node); }
void importAtanh(OnnxNode &node) { importUnary<AtanhOp>(node); }
void importCeil(OnnxNode &node) { importUnary<CeilOp>(node); }
void importCos(OnnxNode &node) { importUnary<CosOp>(node); }
void importErf(OnnxNode &node) { importUnary<ErfOp>(node); }
void importExp(OnnxNode &node) { importUnary<ExpOp>(node); }
void importFloor(OnnxNode &node) { importUnary<FloorOp>(node); }
void importLog(OnnxNode &node) { importUnary<LogOp>(node); }
void importMish(OnnxNode &node) { importUnary<MishOp>(node); }
void importNeg(OnnxNode &node) { importUnary<NegOp>(node); }
void importReciprocal(OnnxNode &node) { importUnary<ReciprocalOp>(node); }
void importRound(OnnxNode &node) { importUnary<RoundOp>(node); }
void importSign(OnnxNode &node) { importUnary<SignOp>(node); }
void importSin(OnnxNode &node) { importUnary<SinOp>(node); }
void importSoftplus(OnnxNode &node) { importUnary<SoftplusOp>(node); }
void importSoftsign(OnnxNode &node) { importUnary<SoftsignOp>(node); }
void importSqrt(OnnxNode &node) { importUnary<SqrtOp>(node); }
void importTanh(OnnxNode &node) { importUnary<TanhOp>(node); }

/// Creates an op with the single attribute alpha.
template <typename OpTy>
static void importWithAlpha(OnnxNode &node, float alpha) {
  FloatAttr attr =
      node.getBuilder().getF32FloatAttr(node.getFloat("alpha", alpha));
  node.setOutput(0, node.create<OpTy>(node.getInput(0), attr));
}

void importCelu(OnnxNode &node) {
  if (node.getFloat("alpha", 1) == 0)
    node.emitError() << "attribute 'alpha' is 0, by which the input is divided";
  importWithAlpha<CeluOp>(node, 1);
}

void importElu(OnnxNode &node) { importWithAlpha<EluOp>(node, 1); }
void importSwish(OnnxNode &node) { importWithAlpha<SwishOp>(node, 1); }
void importThresholdedRelu(OnnxNode &node) {
  importWithAlpha<ThresholdedReluOp>(node, 1);
}

void importSelu(OnnxNode &node) {
  OpBuilder &builder = node.getBuilder();
  // The defaults are those of the operator's specification.
  FloatAttr alpha = builder.getF32FloatAttr(
      node.getFloat("alpha", 1.67326319217681884765625f));
  FloatAttr gamma = builder.getF32FloatAttr(
      node.getFloat("gamma", 1.05070102214813232421875f));
  node.setOutput(0, node.create<SeluOp>(node.getInput(0), alpha, gamma));
}

void importGelu(OnnxNode &node) {
  std::string approximate = node.getString("approximate", "none");
  if (approximate == "none")
    return importUnary<GeluOp>(node);
  if (approximate == "tanh")
    return importUnary<GeluTanhOp>(node);
  node.emitError() << "attribute 'approximate' is '" << approximate
                   << "', expected none or tanh";
}

void importSum(OnnxNode &node) {
  Value sum = node.getInput(0);
  for (unsigned i = 1; i < node.getNumInputs(); ++i)
    sum = node.create<AddOp>(sum, node.getInput(i));
  node.setOutput(0, sum);
}

void importRelu(OnnxNode &node) {
  node.setOutput(0, node.create<ReluOp>(node.getInput(0)));
}

void importSigmoid(OnnxNode &node) {
  node.setOutput(0, node.create<SigmoidOp>(node.getInput(0)));
}

void importHardSwish(OnnxNode &node) {
  node.setOutput(0, node.create<HardSwishOp>(node.getInput(0)));
}

void importLeakyRelu(OnnxNode &node) {
  FloatAttr alpha =
      node.getBuilder().getF32FloatAttr(node.getFloat("alpha", 0.01f));
  node.setOutput(0, node.create<LeakyReluOp>(node.getInput(0), alpha));
}

void importHardSigmoid(OnnxNode &node) {
  OpBuilder &builder = node.getBuilder();
  FloatAttr alpha = builder.getF32FloatAttr(node.getFloat("alpha", 0.2f));
  FloatAttr beta = builder.getF32FloatAttr(node.getFloat("beta", 0.5f));
  node.setOutput(0, node.create<HardSigmoidOp>(node.getInput(0), alpha, beta));
}

/// Reads a bound of Clip: an attribute before opset 11, an optional input since
/// then.
static double readBound(OnnxNode &node, StringRef name, unsigned input,
                        double absent) {
  if (node.hasInput(input))
    return node.getConstantNumber(input, "the bound").value_or(absent);
  if (!node.hasAttribute(name))
    return absent;
  return node.getFloat(name, 0.0f);
}

static bool isConstantBound(OnnxNode &node, unsigned input) {
  return !node.hasInput(input) || OnnxNode::getConstant(node.getInput(input));
}

/// Applies bounds that are known at run time.
static void importClipByValues(OnnxNode &node) {
  Value value = node.getInput(0);
  for (unsigned input : {1, 2}) {
    if (!node.hasInput(input))
      continue;
    Value bound = node.getInput(input);
    if (int64_t count = multiply(getShape(bound)); count != 1)
      node.emitError() << "the bound '" << node.getInputName(input) << "' has "
                       << count << " elements, expected 1";
    bound = node.reshape(bound, {});
    value = input == 1 ? node.create<MaxOp>(value, bound)
                       : node.create<MinOp>(value, bound);
  }
  node.setOutput(0, value);
}

/// Bounds that are absent become the type's own: kernels of GPUs have 32 bits
/// for each.
static void limitToType(Type type, double &low, double &high) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return;
  bool isUnsigned = integer.isUnsigned();
  double count = std::ldexp(1.0, static_cast<int>(integer.getWidth()));
  low = std::max(low, isUnsigned ? 0 : -count / 2);
  high = std::min(high, (isUnsigned ? count : count / 2) - 1);
}

void importClip(OnnxNode &node) {
  Type elementType = getTensorType(node.getInput(0)).getElementType();
  // The operation's bounds are doubles, which do not hold all of 64 bits.
  if (!isConstantBound(node, 1) || !isConstantBound(node, 2) ||
      elementType.isInteger(64))
    return importClipByValues(node);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low = readBound(node, "min", 1, -infinity);
  double high = readBound(node, "max", 2, infinity);
  if (std::isnan(low) || std::isnan(high))
    node.emitError() << "a bound is NaN";
  if (node.hasFailed())
    return;
  OpBuilder &builder = node.getBuilder();
  Value input = node.getInput(0);
  // Without bounds there is nothing to do.
  if (low == -infinity && high == infinity)
    return node.setOutput(0, input);
  limitToType(elementType, low, high);
  node.setOutput(0, node.create<ClipOp>(input, builder.getF64FloatAttr(low),
                                        builder.getF64FloatAttr(high)));
}

} // namespace tarpon
