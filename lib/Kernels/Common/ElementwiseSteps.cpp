//===- ElementwiseSteps.cpp - Emits single elementwise operations ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "MathFunctions.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

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

/// bound < x ? x : bound, but x if it is NaN: with this operand order one
/// maximum instruction propagates a NaN in x, as ONNX Runtime does.
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

/// Division that truncates towards zero. Where the CPU would trap (a zero
/// divisor; the least integer by -1), the result is arbitrary.
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

/// The smaller or larger of two values; propagates a NaN in either.
static Value emitExtreme(KernelBuilder &b, bool isMax, ComputeKind kind,
                         Value lhs, Value rhs) {
  if (isFloat(lhs))
    return isMax ? b.maxOrNaN(lhs, rhs) : b.minOrNaN(lhs, rhs);
  return isMax ? emitAtLeast(b, kind, lhs, rhs) : emitAtMost(b, kind, lhs, rhs);
}

/// 1 or 0 of the type of `like`.
static Value emitTruth(KernelBuilder &b, Value isTrue, Value like) {
  return b.select(isTrue, b.cstLike(like.getType(), 1),
                  b.cstLike(like.getType(), 0));
}

//===----------------------------------------------------------------------===//
// Binary operations
//===----------------------------------------------------------------------===//

namespace {

struct Operands {
  KernelBuilder &b;
  ComputeKind kind;
  Value lhs, rhs;

  bool areFloats() const { return isFloat(lhs); }
};

struct BinaryRow {
  OpKind op;
  Value (*emit)(const Operands &);
};

} // namespace

static Value emitPRelu(const Operands &o) {
  Value zero = o.b.cstLike(o.lhs.getType(), 0);
  return o.b.select(emitLess(o.b, o.kind, o.lhs, zero),
                    emitTimes(o.b, o.rhs, o.lhs), o.lhs);
}

static Value emitEqual(const Operands &o) {
  Value isEqual =
      o.areFloats()
          ? arith::CmpFOp::create(o.b, arith::CmpFPredicate::OEQ, o.lhs, o.rhs)
                .getResult()
          : o.b.eq(o.lhs, o.rhs);
  return emitTruth(o.b, isEqual, o.lhs);
}

/// A shift by 64 or more is undefined, as one by less than 0, which is taken
/// for more.
static Value emitShiftLeft(const Operands &o) {
  Value last = o.b.cstLike(o.rhs.getType(), 63);
  Value isInside = o.b.cmp(KernelBuilder::Pred::ule, o.rhs, last);
  Value shifted =
      arith::ShLIOp::create(o.b, o.lhs, o.b.select(isInside, o.rhs, last));
  return o.b.select(isInside, shifted, o.b.cstLike(o.lhs.getType(), 0));
}

static Value emitShiftRight(const Operands &o) {
  Value last = o.b.cstLike(o.rhs.getType(), 63);
  Value isInside = o.b.cmp(KernelBuilder::Pred::ule, o.rhs, last);
  Value count = o.b.select(isInside, o.rhs, last);
  if (o.kind == ComputeKind::U64)
    return arith::ShRUIOp::create(o.b, o.lhs, count);
  return arith::ShRSIOp::create(o.b, o.lhs, count);
}

static constexpr BinaryRow kBinary[] = {
    {OpKind::Add,
     [](const Operands &o) {
       return o.areFloats() ? o.b.addF(o.lhs, o.rhs) : o.b.add(o.lhs, o.rhs);
     }},
    {OpKind::BitAnd, [](const Operands &o) { return o.b.andI(o.lhs, o.rhs); }},
    {OpKind::BitOr, [](const Operands &o) { return o.b.orI(o.lhs, o.rhs); }},
    {OpKind::BitXor,
     [](const Operands &o) -> Value {
       return arith::XOrIOp::create(o.b, o.lhs, o.rhs);
     }},
    {OpKind::Div,
     [](const Operands &o) {
       return o.areFloats() ? o.b.divF(o.lhs, o.rhs)
                            : emitIntegerDivision(o.b, o.kind, o.lhs, o.rhs);
     }},
    {OpKind::Equal, emitEqual},
    {OpKind::Fmod,
     [](const Operands &o) -> Value {
       return fmod(Real(o.b, o.lhs), Real(o.b, o.rhs));
     }},
    {OpKind::Less,
     [](const Operands &o) {
       return emitTruth(o.b, emitLess(o.b, o.kind, o.lhs, o.rhs), o.lhs);
     }},
    {OpKind::Max,
     [](const Operands &o) {
       return emitExtreme(o.b, /*isMax=*/true, o.kind, o.lhs, o.rhs);
     }},
    {OpKind::Min,
     [](const Operands &o) {
       return emitExtreme(o.b, /*isMax=*/false, o.kind, o.lhs, o.rhs);
     }},
    {OpKind::Mul,
     [](const Operands &o) { return emitTimes(o.b, o.lhs, o.rhs); }},
    {OpKind::Pow,
     [](const Operands &o) -> Value {
       return pow(Real(o.b, o.lhs), Real(o.b, o.rhs));
     }},
    {OpKind::PRelu, emitPRelu},
    {OpKind::ShiftLeft, emitShiftLeft},
    {OpKind::ShiftRight, emitShiftRight},
    {OpKind::Sub,
     [](const Operands &o) {
       return o.areFloats() ? o.b.subF(o.lhs, o.rhs) : o.b.sub(o.lhs, o.rhs);
     }},
};

//===----------------------------------------------------------------------===//
// Unary operations that integers have too
//===----------------------------------------------------------------------===//

namespace {

struct Argument {
  KernelBuilder &b;
  ComputeKind kind;
  ArrayRef<Value> attrs;
  Value x, zero;

  Value isNegative() const { return emitLess(b, kind, x, zero); }
  Value negated() const {
    return isFloat(x) ? Value(-Real(b, x)) : b.sub(zero, x);
  }
};

struct GeneralRow {
  OpKind op;
  Value (*emit)(const Argument &);
};

} // namespace

static Value emitSign(const Argument &a) {
  Value one = a.b.cstLike(a.x.getType(), 1);
  Value positive = a.b.select(emitLess(a.b, a.kind, a.zero, a.x), one, a.x);
  // Unsigned integers are never below 0.
  return a.b.select(a.isNegative(), a.b.cstLike(a.x.getType(), -1), positive);
}

static constexpr GeneralRow kGeneral[] = {
    {OpKind::Abs,
     [](const Argument &a) {
       return isFloat(a.x) ? Value(abs(Real(a.b, a.x)))
                           : a.b.select(a.isNegative(), a.negated(), a.x);
     }},
    {OpKind::Clip,
     [](const Argument &a) {
       return emitAtMost(a.b, a.kind, a.attrs[1],
                         emitAtLeast(a.b, a.kind, a.attrs[0], a.x));
     }},
    {OpKind::LeakyRelu,
     [](const Argument &a) {
       return a.b.select(a.isNegative(), emitTimes(a.b, a.attrs[0], a.x), a.x);
     }},
    {OpKind::Neg, [](const Argument &a) { return a.negated(); }},
    {OpKind::Relu,
     [](const Argument &a) { return emitAtLeast(a.b, a.kind, a.zero, a.x); }},
    {OpKind::Sign, emitSign},
};

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

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

template <typename Op>
static Real intrinsic(Real x) {
  return {x.builder(), Op::create(x.builder(), x)};
}

namespace {

struct RealArgument {
  Real x;
  ArrayRef<Value> attrs;

  Real attr(size_t index) const { return {x.builder(), attrs[index]}; }
};

struct RealRow {
  OpKind op;
  Real (*emit)(const RealArgument &);
};

} // namespace

/// The row of a function without attributes.
template <Real (*function)(Real)>
static Real apply(const RealArgument &a) {
  return function(a.x);
}

static constexpr RealRow kReal[] = {
    {OpKind::Acos, apply<acos>},
    {OpKind::Acosh, apply<acosh>},
    {OpKind::Asin, apply<asin>},
    {OpKind::Asinh, apply<asinh>},
    {OpKind::Atan, apply<atan>},
    {OpKind::Atanh, apply<atanh>},
    {OpKind::Ceil, apply<intrinsic<math::CeilOp>>},
    {OpKind::Celu,
     [](const RealArgument &a) { return elu(a.x, a.attr(0), a.attr(0)); }},
    {OpKind::Cos, apply<cos>},
    {OpKind::Elu, [](const RealArgument &a) { return elu(a.x, a.attr(0)); }},
    {OpKind::Erf, apply<erf>},
    {OpKind::Exp, apply<exp>},
    {OpKind::Floor, apply<floor>},
    {OpKind::Gelu, apply<gelu>},
    {OpKind::GeluTanh, apply<geluTanh>},
    {OpKind::HardSigmoid,
     [](const RealArgument &a) {
       return unitClip(a.attr(0) * a.x + a.attr(1));
     }},
    {OpKind::HardSwish,
     [](const RealArgument &a) {
       return a.x * unitClip(a.x * (1.0 / 6.0) + 0.5);
     }},
    {OpKind::Log, apply<log>},
    {OpKind::Mish, apply<mish>},
    {OpKind::Power,
     [](const RealArgument &a) {
       return pow(a.attr(0) + a.attr(1) * a.x, a.attr(2));
     }},
    {OpKind::Reciprocal, [](const RealArgument &a) { return 1 / a.x; }},
    {OpKind::Round, apply<intrinsic<math::RoundEvenOp>>},
    {OpKind::Selu,
     [](const RealArgument &a) { return a.attr(1) * elu(a.x, a.attr(0)); }},
    {OpKind::Sigmoid, apply<sigmoid>},
    {OpKind::Sin, apply<sin>},
    {OpKind::Softplus, apply<softplus>},
    {OpKind::Softsign,
     [](const RealArgument &a) { return a.x / (1 + abs(a.x)); }},
    {OpKind::Sqrt, apply<sqrt>},
    {OpKind::Swish,
     [](const RealArgument &a) { return swish(a.x, a.attr(0)); }},
    {OpKind::Tanh, apply<tanh>},
    {OpKind::ThresholdedRelu,
     [](const RealArgument &a) {
       return select(isLess(a.attr(0), a.x), a.x, a.x.like(0));
     }},
};

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// Returns true if the operation has many values at a time for each lane.
static bool isLong(OpKind op) {
  return getForward(op) || findRow(kReal, op) || op == OpKind::Fmod ||
         op == OpKind::Pow;
}

/// The lanes of a vector that a long operation takes at once. LLVM computes the
/// first step of all lanes, then the second of all, and ptxas leaves it so: 16
/// lanes of asinh do not fit the registers. Its targets are those that want
/// accesses aligned.
static int64_t getMostLanes(KernelBuilder &b) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max(), kFew = 4;
  bool isForPtxas = b.getAlignment(b.vec(b.getI8Type(), kFew)) > 1;
  return isForPtxas ? kFew : kAll;
}

/// Emits an operation on `most` lanes of the vectors after the others.
static Value emitInParts(KernelBuilder &b, const EpilogueStep &step,
                         ComputeKind kind, ArrayRef<Value> attrs, Value x,
                         Value other, int64_t most) {
  auto type = cast<VectorType>(x.getType());
  SmallVector<Value> elements;
  for (int64_t first = 0; first < type.getNumElements(); first += most) {
    SmallVector<int64_t> lanes(std::min(most, type.getNumElements() - first));
    std::iota(lanes.begin(), lanes.end(), first);
    auto take = [&](Value all) { return b.shuffle(all, all, lanes); };
    Value part =
        emitStep(b, step, kind, attrs, take(x), other ? take(other) : Value());
    for (int64_t i = 0; i < std::ssize(lanes); ++i)
      elements.push_back(vector::ExtractOp::create(b, part, i));
  }
  return vector::FromElementsOp::create(b, type, elements);
}

Value tarpon::emitStep(KernelBuilder &b, const EpilogueStep &step,
                       ComputeKind kind, ArrayRef<Value> attrs, Value x,
                       Value other) {
  SmallVector<Value> likeX;
  int64_t lanes = 1;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    lanes = vector.getNumElements();
  if (int64_t most = getMostLanes(b); lanes > most && isLong(step.op))
    return emitInParts(b, step, kind, attrs, x, other, most);
  for (Value attr : attrs)
    likeX.push_back(b.broadcast(attr, lanes));
  bool swapped = isSwapped(step);
  Value lhs = swapped ? other : x, rhs = swapped ? x : other;
  if (std::optional<OpKind> forward = getForward(step.op))
    return emitGradient(b, *forward, likeX, lhs, rhs);
  if (const BinaryRow *row = findRow(kBinary, step.op))
    return row->emit({b, kind, lhs, rhs});
  Argument argument = {b, kind, likeX, x, b.cstLike(x.getType(), 0)};
  if (const GeneralRow *row = findRow(kGeneral, step.op))
    return row->emit(argument);
  const RealRow *row = findRow(kReal, step.op);
  assert(row && "not an elementwise op");
  return row->emit({Real(b, x), likeX});
}
