//===- ElementwiseGradients.cpp - Derivatives of unary operations ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is computed from the operand of the forward operation: its result
// would be one more tensor to read. At corners the derivative is that of the
// left side, as in MIOpen's activations (x > 0 for relu).
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "MathFunctions.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tarpon;

namespace {
/// The forward values that the derivative of one op is computed from.
struct Forward {
  Real x;
  ArrayRef<Value> attrs;

  KernelBuilder &builder() const { return x.builder(); }
  Real attr(size_t index) const { return {builder(), attrs[index]}; }
  Real one() const { return x.like(1); }
  Real zero() const { return x.like(0); }
};
} // namespace

static Real sigmoid(Real x) { return 1 / (1 + exp(-x)); }

/// 1 for from < x <= to, else 0.
static Real isBetween(const Forward &f, Real from, Real to) {
  Real below = select(isLess(to, f.x), f.zero(), f.one());
  return select(isLess(from, f.x), below, f.zero());
}

/// x below 0 (or at it) ? left : right.
static Real branch(const Forward &f, Real left, Real right) {
  return select(isLess(0, f.x), right, left);
}

static Real sigmoidGradient(const Forward &f) {
  // Symmetric, and without cancellation.
  Real e = exp(-abs(f.x)), sum = 1 + e;
  return e / (sum * sum);
}

static Real tanhGradient(Real x) {
  Real e = exp(-2 * abs(x)), sum = 1 + e;
  return 4 * e / (sum * sum);
}

static Real signGradient(const Forward &f) {
  return select(isLess(0, f.x), f.one(),
                select(isLess(f.x, 0), -f.one(), f.zero()));
}

static Real geluGradient(const Forward &f) {
  Real density = 0.3989422804014327 * exp(f.x * f.x * -0.5);
  return 0.5 * (1 + erf(f.x * 0.7071067811865476)) + f.x * density;
}

static Real geluTanhGradient(const Forward &f) {
  constexpr double c = 0.7978845608028654, cubic = 0.044715;
  Real square = f.x * f.x;
  Real inner = c * f.x * (1 + cubic * square);
  Real slope = c * (1 + 3 * cubic * square);
  return 0.5 * (1 + tanh(inner)) + 0.5 * f.x * tanhGradient(inner) * slope;
}

static Real mishGradient(const Forward &f) {
  Real e = exp(atMost(20, f.x)), n = e * (e + 2), m = n + 2;
  return n / m + 4 * f.x * e * (1 + e) / (m * m);
}

static Real swishGradient(const Forward &f) {
  Real scaled = f.attr(0) * f.x, s = sigmoid(scaled);
  return s * (1 + scaled * (1 - s));
}

static Real hardSwishGradient(const Forward &f) {
  Real middle = f.x * (1.0 / 3.0) + 0.5;
  Real upper = select(isLess(3, f.x), f.one(), middle);
  return select(isLess(-3, f.x), upper, f.zero());
}

static Real softsignGradient(const Forward &f) {
  Real sum = 1 + abs(f.x);
  return 1 / (sum * sum);
}

static Real powerGradient(const Forward &f) {
  Real inner = f.attr(0) + f.attr(1) * f.x;
  return f.attr(2) * f.attr(1) * pow(inner, f.attr(2) - 1);
}

/// The derivative of ops that have it from one formula.
static Real emitSmooth(StringRef op, const Forward &f) {
  Real x = f.x;
  if (op == "cos")
    return -sin(x);
  if (op == "erf")
    return 1.1283791670955126 * exp(-(x * x));
  if (op == "exp")
    return exp(x);
  if (op == "log")
    return 1 / x;
  if (op == "neg")
    return -f.one();
  if (op == "reciprocal")
    return -1 / (x * x);
  if (op == "sin")
    return cos(x);
  if (op == "softplus")
    return sigmoid(x);
  if (op == "sqrt")
    return 0.5 / sqrt(x);
  assert(op == "tanh" && "an op without a derivative");
  return tanhGradient(x);
}

static Real emitDerivative(StringRef op, const Forward &f) {
  using Fn = Real (*)(const Forward &);
  Fn simple = llvm::StringSwitch<Fn>(op)
                  .Case("abs", signGradient)
                  .Case("gelu", geluGradient)
                  .Case("gelu_tanh", geluTanhGradient)
                  .Case("hard_swish", hardSwishGradient)
                  .Case("mish", mishGradient)
                  .Case("power", powerGradient)
                  .Case("sigmoid", sigmoidGradient)
                  .Case("softsign", softsignGradient)
                  .Case("swish", swishGradient)
                  .Default(nullptr);
  if (simple)
    return simple(f);
  Real x = f.x;
  if (op == "relu")
    return branch(f, f.zero(), f.one());
  if (op == "leaky_relu")
    return branch(f, f.attr(0), f.one());
  if (op == "clip")
    return isBetween(f, f.attr(0), f.attr(1));
  if (op == "thresholded_relu")
    return isBetween(f, f.attr(0), x);
  if (op == "hard_sigmoid") {
    Real line = f.attr(0) * x + f.attr(1);
    return f.attr(0) * isBetween({line, f.attrs}, f.zero(), f.one());
  }
  if (op == "elu")
    return branch(f, f.attr(0) * exp(atMost(0, x)), f.one());
  if (op == "celu")
    return branch(f, exp(atMost(0, x / f.attr(0))), f.one());
  if (op == "selu")
    return f.attr(1) * branch(f, f.attr(0) * exp(atMost(0, x)), f.one());
  bool isStepped = llvm::StringSwitch<bool>(op)
                       .Cases({"ceil", "floor", "round", "sign"}, true)
                       .Default(false);
  return isStepped ? f.zero() : emitSmooth(op, f);
}

Value tarpon::emitGradient(KernelBuilder &b, StringRef op,
                           ArrayRef<Value> attrs, Value dy, Value x) {
  return Real(b, dy) * emitDerivative(op, {Real(b, x), attrs});
}
