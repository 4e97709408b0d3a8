//===- ElementwiseGradients.cpp - Derivatives of unary operations ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is computed from the operand of the forward operation: its result
// would be one more tensor to read. At kinks the derivative is that of the left
// side, as in MIOpen's activations (x > 0 for relu).
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "MathFunctions.h"

#include <cmath>

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
  // This form is symmetric and free of cancellation.
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

static Real hardSigmoidGradient(const Forward &f) {
  Real line = f.attr(0) * f.x + f.attr(1);
  return f.attr(0) * isBetween({line, f.attrs}, f.zero(), f.one());
}

static Real eluGradient(const Forward &f) {
  return branch(f, f.attr(0) * exp(atMost(0, f.x)), f.one());
}

static Real asinGradient(const Forward &f) {
  return 1 / sqrt((1 - f.x) * (1 + f.x));
}

static Real acoshGradient(const Forward &f) {
  return 1 / (sqrt(f.x - 1) * sqrt(f.x + 1));
}

static Real asinhGradient(const Forward &f) { return 1 / sqrt(f.x * f.x + 1); }

static Real atanhGradient(const Forward &f) {
  Real inside = 1 / ((1 - f.x) * (1 + f.x));
  return select(isLess(1, abs(f.x)), f.x.like(NAN), inside);
}

static Real stepGradient(const Forward &f) { return f.zero(); }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Derivative {
  OpKind op;
  Real (*emit)(const Forward &f);
};
} // namespace

static constexpr Derivative kDerivatives[] = {
    {OpKind::Abs, signGradient},
    {OpKind::Acos, [](const Forward &f) { return -asinGradient(f); }},
    {OpKind::Acosh, acoshGradient},
    {OpKind::Asin, asinGradient},
    {OpKind::Asinh, asinhGradient},
    {OpKind::Atan, [](const Forward &f) { return 1 / (f.x * f.x + 1); }},
    {OpKind::Atanh, atanhGradient},
    {OpKind::Ceil, stepGradient},
    {OpKind::Celu,
     [](const Forward &f) {
       return branch(f, exp(atMost(0, f.x / f.attr(0))), f.one());
     }},
    {OpKind::Clip,
     [](const Forward &f) { return isBetween(f, f.attr(0), f.attr(1)); }},
    {OpKind::Cos, [](const Forward &f) { return -sin(f.x); }},
    {OpKind::Elu, eluGradient},
    {OpKind::Erf,
     [](const Forward &f) { return 1.1283791670955126 * exp(-(f.x * f.x)); }},
    {OpKind::Exp, [](const Forward &f) { return exp(f.x); }},
    {OpKind::Floor, stepGradient},
    {OpKind::Gelu, geluGradient},
    {OpKind::GeluTanh, geluTanhGradient},
    {OpKind::HardSigmoid, hardSigmoidGradient},
    {OpKind::HardSwish, hardSwishGradient},
    {OpKind::LeakyRelu,
     [](const Forward &f) { return branch(f, f.attr(0), f.one()); }},
    {OpKind::Log, [](const Forward &f) { return 1 / f.x; }},
    {OpKind::Mish, mishGradient},
    {OpKind::Neg, [](const Forward &f) { return -f.one(); }},
    {OpKind::Power, powerGradient},
    {OpKind::Reciprocal, [](const Forward &f) { return -1 / (f.x * f.x); }},
    {OpKind::Relu,
     [](const Forward &f) { return branch(f, f.zero(), f.one()); }},
    {OpKind::Round, stepGradient},
    {OpKind::Selu, [](const Forward &f) { return f.attr(1) * eluGradient(f); }},
    {OpKind::Sigmoid, sigmoidGradient},
    {OpKind::Sign, stepGradient},
    {OpKind::Sin, [](const Forward &f) { return cos(f.x); }},
    {OpKind::Softplus, [](const Forward &f) { return sigmoid(f.x); }},
    {OpKind::Softsign, softsignGradient},
    {OpKind::Sqrt, [](const Forward &f) { return 0.5 / sqrt(f.x); }},
    {OpKind::Swish, swishGradient},
    {OpKind::Tanh, [](const Forward &f) { return tanhGradient(f.x); }},
    {OpKind::ThresholdedRelu,
     [](const Forward &f) { return isBetween(f, f.attr(0), f.x); }},
};

Value tarpon::emitGradient(KernelBuilder &b, OpKind op, ArrayRef<Value> attrs,
                           Value dy, Value x) {
  const Derivative *row = findRow(kDerivatives, op);
  assert(row && "an op without a derivative");
  return Real(b, dy) * row->emit({Real(b, x), attrs});
}
