//===- ElementwiseSteps.cpp - Emits single elementwise operations ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "MathFunctions.h"
#include "tarpon/Problem/OpRules.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tarpon;

static bool isFloat(Value x) {
  return isa<FloatType>(getElementTypeOrSelf(x.getType()));
}

//===----------------------------------------------------------------------===//
// Floats and integers
//===----------------------------------------------------------------------===//

/// a < b, for ordered floats.
static Value emitLess(KernelBuilder &b, ComputeKind kind, Value lhs,
                      Value rhs) {
  if (isFloat(lhs))
    return isLess(Real(b, lhs), Real(b, rhs));
  return b.cmp(kind == ComputeKind::U64 ? KernelBuilder::Pred::ult
                                        : KernelBuilder::Pred::slt,
               lhs, rhs);
}

/// bound < x ? x : bound, but x if it is NaN: the operand order in which one
/// maximum instruction hands on a NaN in x, as ONNX Runtime does.
static Value emitAtLeast(KernelBuilder &b, ComputeKind kind, Value bound,
                         Value x) {
  if (isFloat(x))
    return b.maxF(bound, x);
  return b.select(emitLess(b, kind, bound, x), x, bound);
}

static Value emitAtMost(KernelBuilder &b, ComputeKind kind, Value bound,
                        Value x) {
  if (isFloat(x))
    return b.minF(bound, x);
  return b.select(emitLess(b, kind, x, bound), x, bound);
}

/// Division that truncates towards zero. The cases in which the CPU would trap
/// (a zero divisor; the least integer by -1) give some value instead.
static Value emitIntegerDivision(KernelBuilder &b, ComputeKind kind, Value lhs,
                                 Value rhs) {
  Value zero = b.cstLike(rhs.getType(), 0), one = b.cstLike(rhs.getType(), 1);
  Value isZero = b.eq(rhs, zero);
  if (kind == ComputeKind::U64)
    return b.div(lhs, b.select(isZero, one, rhs));
  Value isMinusOne = b.eq(rhs, b.cstLike(rhs.getType(), -1));
  Value safe = b.select(b.orI(isZero, isMinusOne), one, rhs);
  Value quotient = arith::DivSIOp::create(b, lhs, safe);
  return b.select(isMinusOne, b.sub(zero, lhs), quotient);
}

static Value emitTimes(KernelBuilder &b, Value lhs, Value rhs) {
  return isFloat(lhs) ? b.mulF(lhs, rhs) : b.mul(lhs, rhs);
}

/// The smaller or larger of two; a NaN in either is handed on.
static Value emitExtreme(KernelBuilder &b, bool isMax, ComputeKind kind,
                         Value lhs, Value rhs) {
  Value chosen =
      isMax ? emitAtLeast(b, kind, lhs, rhs) : emitAtMost(b, kind, lhs, rhs);
  if (!isFloat(lhs))
    return chosen;
  Value isNumber =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, lhs, lhs);
  return b.select(isNumber, chosen, lhs);
}

static Value emitBinary(KernelBuilder &b, StringRef op, ComputeKind kind,
                        Value lhs, Value rhs) {
  bool real = isFloat(lhs);
  if (op == "add")
    return real ? b.addF(lhs, rhs) : b.add(lhs, rhs);
  if (op == "sub")
    return real ? b.subF(lhs, rhs) : b.sub(lhs, rhs);
  if (op == "mul")
    return emitTimes(b, lhs, rhs);
  if (op == "div")
    return real ? b.divF(lhs, rhs) : emitIntegerDivision(b, kind, lhs, rhs);
  if (op == "min" || op == "max")
    return emitExtreme(b, op == "max", kind, lhs, rhs);
  if (op == "prelu") {
    Value zero = b.cstLike(lhs.getType(), 0);
    return b.select(emitLess(b, kind, lhs, zero), emitTimes(b, rhs, lhs), lhs);
  }
  assert(op == "pow" && "not a binary op");
  return pow(Real(b, lhs), Real(b, rhs));
}

/// The unary ops that integers have too; null for others.
static Value emitGeneral(KernelBuilder &b, StringRef op, ComputeKind kind,
                         ArrayRef<Value> attrs, Value x) {
  Value zero = b.cstLike(x.getType(), 0);
  auto negated = [&]() -> Value {
    return isFloat(x) ? Value(-Real(b, x)) : b.sub(zero, x);
  };
  if (op == "relu")
    return emitAtLeast(b, kind, zero, x);
  if (op == "clip")
    return emitAtMost(b, kind, attrs[1], emitAtLeast(b, kind, attrs[0], x));
  if (op == "leaky_relu")
    return b.select(emitLess(b, kind, x, zero), emitTimes(b, attrs[0], x), x);
  if (op == "neg")
    return negated();
  if (op == "abs")
    return isFloat(x) ? Value(abs(Real(b, x)))
                      : b.select(emitLess(b, kind, x, zero), negated(), x);
  if (op == "sign") {
    Value one = b.cstLike(x.getType(), 1);
    Value positive = b.select(emitLess(b, kind, zero, x), one, x);
    // Unsigned integers are never below 0.
    return b.select(emitLess(b, kind, x, zero), b.cstLike(x.getType(), -1),
                    positive);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static Real sigmoid(Real x) { return 1 / (1 + exp(-x)); }

/// min(max(x, 0), 1)
static Real unitClip(Real x) { return atMost(1, atLeast(0, x)); }

static Real softplus(Real x) { return atLeast(0, x) + log1p(exp(-abs(x))); }

/// x < 0 ? scale * (exp(x / width) - 1) : x
static Real elu(Real x, Real scale, std::optional<Real> width = {}) {
  Real grown = scale * expm1(atMost(0, width ? x / *width : x));
  return select(isLess(x, 0), grown, x);
}

/// x tanh(log(1 + exp(x))), with the hyperbolic functions multiplied out.
static Real mish(Real x) {
  Real e = exp(atMost(20, x));
  Real n = e * (e + 2);
  return x * (n / (n + 2));
}

static Real geluTanh(Real x) {
  Real inner = x * multiplyAdd(x * x, x.like(0.7978845608028654 * 0.044715),
                               x.like(0.7978845608028654));
  return 0.5 * x * (1 + tanh(inner));
}

template <typename Op>
static Real intrinsic(Real x) {
  return {x.builder(), Op::create(x.builder(), x)};
}

static Real emitReal(StringRef op, ArrayRef<Value> attrs, Real x) {
  auto attr = [&](size_t index) { return Real(x.builder(), attrs[index]); };
  using Fn = Real (*)(Real);
  Fn simple = llvm::StringSwitch<Fn>(op)
                  .Case("ceil", intrinsic<math::CeilOp>)
                  .Case("cos", cos)
                  .Case("erf", erf)
                  .Case("exp", exp)
                  .Case("floor", floor)
                  .Case("gelu_tanh", geluTanh)
                  .Case("log", log)
                  .Case("mish", mish)
                  .Case("round", intrinsic<math::RoundEvenOp>)
                  .Case("sigmoid", sigmoid)
                  .Case("sin", sin)
                  .Case("softplus", softplus)
                  .Case("sqrt", sqrt)
                  .Case("tanh", tanh)
                  .Default(nullptr);
  if (simple)
    return simple(x);
  if (op == "hard_sigmoid")
    return unitClip(attr(0) * x + attr(1));
  if (op == "hard_swish")
    return x * unitClip(x * (1.0 / 6.0) + 0.5);
  if (op == "swish")
    return x * sigmoid(attr(0) * x);
  if (op == "gelu")
    return 0.5 * x * (1 + erf(x * 0.7071067811865476));
  if (op == "elu")
    return elu(x, attr(0));
  if (op == "celu")
    return elu(x, attr(0), attr(0));
  if (op == "selu")
    return attr(1) * elu(x, attr(0));
  if (op == "softsign")
    return x / (1 + abs(x));
  if (op == "reciprocal")
    return 1 / x;
  if (op == "power")
    return pow(attr(0) + attr(1) * x, attr(2));
  assert(op == "thresholded_relu" && "not an elementwise op");
  return select(isLess(attr(0), x), x, x.like(0));
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

Value tarpon::emitStep(KernelBuilder &b, const EpilogueStep &step,
                       ComputeKind kind, ArrayRef<Value> attrs, Value x,
                       Value other) {
  SmallVector<Value> likeX;
  int64_t lanes = 1;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    lanes = vector.getNumElements();
  for (Value attr : attrs)
    likeX.push_back(b.broadcast(attr, lanes));
  bool swapped = isSwapped(step);
  Value lhs = swapped ? other : x, rhs = swapped ? x : other;
  StringRef op = step.op;
  if (StringRef forward = findOpRule(op)->forward; !forward.empty())
    return emitGradient(b, forward, likeX, lhs, rhs);
  if (isBinaryOp(op))
    return emitBinary(b, op, kind, lhs, rhs);
  if (Value value = emitGeneral(b, op, kind, likeX, x))
    return value;
  return emitReal(op, likeX, Real(b, x));
}
