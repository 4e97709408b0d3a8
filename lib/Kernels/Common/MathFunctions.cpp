//===- MathFunctions.cpp - Transcendental functions -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Argument reductions follow W. J. Cody and W. Waite, "Software Manual for the
// Elementary Functions" (1980). Unless they say otherwise, the coefficients for
// f32 are those of Chebyshev interpolation (mpmath's chebyfit) on the reduced
// intervals; f64 uses Taylor series.
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"

#include "RealBits.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Formats and polynomials
//===----------------------------------------------------------------------===//

namespace {
/// The bit format of a float type.
struct Format {
  int64_t mantissaBits, bias;
  /// Added to a small number, it leaves the nearest integer in the low bits.
  double magic;
  /// The upper half of ln 2, whose multiples are exact, and the rest.
  double ln2High, ln2Low;
  /// The bounds beyond which exp is 0 or infinity.
  double least, most;
  /// The bits of the square root of 1/2.
  int64_t rootHalf;
};
} // namespace

static constexpr Format kF32 = {
    23,   127, 0x1.8p23,  0.693359375, -2.12194440054690583e-4,
    -104, 89,  0x3f3504f3};
static constexpr Format kF64 = {
    52,   1023, 0x1.8p52,          0x1.62e42feep-1, 0x1.a39ef35793c76p-33,
    -746, 710,  0x3fe6a09e667f3bcd};

static const Format &formatOf(Real x) { return x.isF64() ? kF64 : kF32; }

/// 1/first! + x/(first + step)! + ..., with `count` terms.
static Real factorialSeries(Real x, int64_t first, int64_t step, int64_t count,
                            bool alternates) {
  SmallVector<double> coefficients;
  double factorial = std::tgamma(double(first) + 1);
  for (int64_t i = 0; i < count; ++i) {
    double sign = alternates && i % 2 ? -1 : 1;
    coefficients.push_back(sign / factorial);
    for (int64_t k = 1; k <= step; ++k)
      factorial *= double(first + i * step + k);
  }
  return polynomial(x, coefficients);
}

//===----------------------------------------------------------------------===//
// AVX-512
//===----------------------------------------------------------------------===//

/// Returns true if x is a vector of AVX-512, which has instructions that take
/// floats apart and scale them.
static bool isAvx512(Real x) {
  const TargetInfo &target = x.builder().getTarget();
  auto vector = dyn_cast<VectorType>(x.type());
  return target.vectorBits == 512 && vector && !x.isF64() &&
         vector.getNumElements() == target.lanes();
}

/// Calls an intrinsic with a mask, which is all ones, and a rounding mode.
static Real callAvx512(StringRef name, Real like, SmallVector<Value> operands) {
  constexpr int32_t kCurrentRounding = 4;
  KernelBuilder &b = like.builder();
  operands.push_back(like.like(0));
  operands.push_back(arith::ConstantOp::create(b, b.getI16IntegerAttr(-1)));
  operands.push_back(
      arith::ConstantOp::create(b, b.getI32IntegerAttr(kCurrentRounding)));
  return {b, LLVM::CallIntrinsicOp::create(b, like.type(),
                                           b.getStringAttr(name), operands)
                 .getResult(0)};
}

/// x 2^floor(y), rounded once, with AVX-512.
static Real scaleAvx512(Real x, Real y) {
  return callAvx512("llvm.x86.avx512.mask.scalef.ps.512", x, {x, y});
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace {
/// x = n ln 2 + r. The low bits of `shifted` are n plus the format's bias.
struct ReducedExp {
  Real shifted, n, r;
};
} // namespace

/// The number that leaves n plus the bias in the low bits of its sum with n.
static Real biasedMagic(Real like) {
  const Format &format = formatOf(like);
  return like.like(format.magic + static_cast<double>(format.bias));
}

static ReducedExp reduceExp(Real x) {
  const Format &format = formatOf(x);
  Real magic = biasedMagic(x);
  Real shifted = multiplyAdd(x, x.like(std::numbers::log2e), magic);
  Real n = shifted - magic;
  Real r = multiplyAdd(n, x.like(-format.ln2High), x);
  return {shifted, n, multiplyAdd(n, x.like(-format.ln2Low), r)};
}

/// exp(r) - 1.
static Real expTail(Real r) {
  // (exp(r) - 1 - r) / r^2 to 6.6e-8 for f32.
  Real rest = r.isF64() ? factorialSeries(r, 2, 1, 13, /*alternates=*/false)
                        : polynomial(r, {0.5, 0.166665766661, 0.041666554213,
                                         0.00836323288368, 0.00139262508315});
  return multiplyAdd(r * r, rest, r);
}

static Value shiftToExponent(Real like, Value bits) {
  KernelBuilder &b = like.builder();
  Value places = integerLike(b, bits.getType(), formatOf(like).mantissaBits);
  return b.bitcast(arith::ShLIOp::create(b, bits, places), like.type());
}

/// 2^n for a normal result.
static Real powerOfTwo(Real like, Value n) {
  KernelBuilder &b = like.builder();
  Value bias = integerLike(b, n.getType(), formatOf(like).bias);
  return {b, shiftToExponent(like, b.add(n, bias))};
}

/// The same for n + bias in the low bits of `shifted`; infinity if n is the
/// bias + 1, and 0 if it is -bias.
static Real powerOfTwo(Real shifted) {
  return {shifted.builder(), shiftToExponent(shifted, toBits(shifted))};
}

Real tarpon::exp(Real x) {
  KernelBuilder &b = x.builder();
  const Format &format = formatOf(x);
  ReducedExp reduced = reduceExp(atMost(format.most, atLeast(format.least, x)));
  Real grown = expTail(reduced.r) + 1;
  if (isAvx512(x))
    return scaleAvx512(grown, reduced.n);
  Value n = b.sub(toBits(reduced.shifted), toBits(biasedMagic(x)));
  // 2^n is multiplied in two halves, since it may overflow or be subnormal.
  Value one = integerLike(b, n.getType(), 1);
  Value half = arith::ShRSIOp::create(b, n, one);
  return grown * powerOfTwo(x, half) * powerOfTwo(x, b.sub(n, half));
}

Real tarpon::expOfNegative(Real x) {
  // One power of two scales the result, which is 0 at the bound.
  double least = -static_cast<double>(formatOf(x).bias) * std::numbers::ln2;
  ReducedExp reduced = reduceExp(atLeast(least, x));
  return (expTail(reduced.r) + 1) * powerOfTwo(reduced.shifted);
}

Real tarpon::expm1(Real x) {
  // From there on, the result is -1.
  ReducedExp reduced = reduceExp(atMost(88, atLeast(-40, x)));
  Real scale = powerOfTwo(reduced.shifted);
  return multiplyAdd(scale, expTail(reduced.r), scale - 1);
}

Real tarpon::sigmoid(Real x) {
  // One power of two scales exp(-x) if it is infinite instead of nearly so, and
  // 0 instead of subnormal, which 1 swallows.
  double bias = static_cast<double>(formatOf(x).bias);
  double least = -(bias + 1) * std::numbers::ln2;
  double most = bias * std::numbers::ln2;
  // The bounds are negated before they are compared with: a negation behind
  // them would keep LLVM from making minima and maxima of the comparisons.
  ReducedExp reduced = reduceExp(atLeast(-most, atMost(-least, -x)));
  return 1 / multiplyAdd(expTail(reduced.r) + 1, powerOfTwo(reduced.shifted),
                         x.like(1));
}

/// 2^f to 9.2e-8 for |f| <= 1/2: a minimax fit of the relative error with the
/// first coefficient fixed (Lawson's iteration in mpmath).
static constexpr double kPowers[] = {1,
                                     0.693146977408,
                                     0.240222417089,
                                     0.0555073382172,
                                     0.00967153804049,
                                     0.00132647948066};

/// The same for 0 <= f <= 1, to 8.3e-8.
static constexpr double kPowersFromFloor[] = {1,
                                              0.693151313949,
                                              0.240164425098,
                                              0.0558000025097,
                                              0.00901690677735,
                                              0.00186718802815};

/// 1 + 2^y with AVX-512: vreduceps gives y - floor(y), which is 0 for infinity,
/// and vscalefps multiplies by 2^floor(y), so that nothing is out of their
/// range.
static Real onePlusPowerAvx512(Real y) {
  constexpr int32_t kFloor = 1;
  KernelBuilder &b = y.builder();
  Value mode = arith::ConstantOp::create(b, b.getI32IntegerAttr(kFloor));
  Real f = callAvx512("llvm.x86.avx512.mask.reduce.ps.512", y, {y, mode});
  return 1 + scaleAvx512(polynomial(f, kPowersFromFloor), y);
}

/// 1 + 2^y in f32; infinity from y = 128 on at the latest, and from 127.5 on at
/// the earliest.
static Real onePlusPower(Real y) {
  if (isAvx512(y))
    return onePlusPowerAvx512(y);
  y = atMost(128, atLeast(-127, y));
  Real magic = biasedMagic(y);
  Real shifted = y + magic;
  Real f = y - (shifted - magic);
  return multiplyAdd(polynomial(f, kPowers), powerOfTwo(shifted), y.like(1));
}

Real tarpon::swish(Real x, Real alpha) {
  if (x.isF64())
    return x * sigmoid(alpha * x);
  // The product of the factors is computed ahead of loops.
  return x / onePlusPower(x * (alpha * -std::numbers::log2e));
}

/// x / 2 (1 + tanh(y)) is x sigmoid(2 y).
Real tarpon::geluTanh(Real x) {
  constexpr double kTwice = 2 * 0.7978845608028654, kCubic = 0.044715;
  if (x.isF64())
    return x * sigmoid(x * multiplyAdd(x * x, x.like(kTwice * kCubic),
                                       x.like(kTwice)));
  constexpr double kFactor = -kTwice * std::numbers::log2e;
  return x / onePlusPower(x * multiplyAdd(x * x, x.like(kFactor * kCubic),
                                          x.like(kFactor)));
}

Real tarpon::tanh(Real x) {
  // From there on, the result is 1, in f32 and f64.
  Real grown = expm1(2 * atMost(20, abs(x)));
  return copySign(grown / (grown + 2), x);
}

//===----------------------------------------------------------------------===//
// Logarithms and powers
//===----------------------------------------------------------------------===//

/// log(1 + f) - f, between the square roots of 1/2 and 2.
static Real logTail(Real f) {
  Real square = f * f;
  if (f.isF64()) {
    // log(1 + f) = 2 artanh(s) = f - s (f - R); see fdlibm's e_log.c.
    Real s = f / (f + 2), z = s * s;
    SmallVector<double> coefficients = {0};
    for (int64_t k = 1; k <= 11; ++k)
      coefficients.push_back(2.0 / double(2 * k + 1));
    return -(s * (f - polynomial(z, coefficients)));
  }
  Real cubic =
      polynomial(f, {0.3333333118, -0.24999996958, 0.200007157489,
                     -0.166678023195, 0.142490576457, -0.124256873315,
                     0.116854199235, -0.114797338466, 0.0697161147145});
  return multiplyAdd(square, f.like(-0.5), square * f * cubic);
}

Real tarpon::log(Real x) {
  KernelBuilder &b = x.builder();
  const Format &format = formatOf(x);
  double least = std::ldexp(1.0, static_cast<int>(1 - format.bias));
  double raise = std::ldexp(1.0, static_cast<int>(format.mantissaBits));
  Value isSubnormal = isLess(x, least);
  Value bits = toBits(select(isSubnormal, x * raise, x));
  Type type = bits.getType();
  Value places = integerLike(b, type, format.mantissaBits);
  Value above = b.sub(bits, integerLike(b, type, format.rootHalf));
  Value n = arith::ShRSIOp::create(b, above, places);
  Value mantissa = b.sub(bits, Value(arith::ShLIOp::create(b, n, places)));
  Real f = Real(b, b.bitcast(mantissa, x.type())) - 1;
  Real exponent(b, arith::SIToFPOp::create(b, x.type(), n));
  exponent =
      exponent - select(isSubnormal, x.like(format.mantissaBits), x.like(0));

  Real low = multiplyAdd(exponent, x.like(format.ln2Low), logTail(f));
  Real result = multiplyAdd(exponent, x.like(format.ln2High), low + f);
  Value isFinite = isLess(x, HUGE_VAL);
  Real outside = select(isEqual(x, x.like(0)), x.like(-HUGE_VAL), x.like(NAN));
  return select(isLess(0, x), select(isFinite, result, x), outside);
}

Real tarpon::log1p(Real x) {
  // The derivative corrects what the sum loses.
  Real sum = 1 + x;
  Real correction = (x - (sum - 1)) / sum;
  return select(isLess(x, HUGE_VAL), log(sum) + correction, x);
}

static Real powF64(Real x, Real y) {
  Real magnitude = exp(y * log(abs(x)));
  Real half = y * 0.5;
  Value isInteger = isEqual(floor(y), y), isEven = isEqual(floor(half), half);
  Real negative = select(isEven, magnitude, -magnitude);
  negative = select(isInteger, negative, x.like(NAN));
  Real result = select(isLess(x, 0), negative, magnitude);
  result = select(isEqual(x, x.like(1)), x.like(1), result);
  return select(isEqual(y, x.like(0)), x.like(1), result);
}

Real tarpon::pow(Real x, Real y) {
  if (x.isF64())
    return powF64(x, y);
  // The error of the logarithm is multiplied by y.
  return toF32(powF64(toF64(x), toF64(y)), x.type());
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

/// exp(-x^2) times a series of positive terms (Abramowitz and Stegun, 7.1.6).
static Real erfF64(Real x) {
  KernelBuilder &b = x.builder();
  Real a = atMost(6, abs(x));
  Real twice = 2 * (a * a);
  auto addTerm = [&](Value n, ValueRange soFar) {
    Value odd = b.add(b.mul(n, 2), b.cst(1));
    Value divisor = arith::SIToFPOp::create(b, b.getF64Type(), odd);
    Real term = Real(b, soFar[0]) * twice / a.like(divisor);
    return SmallVector<Value>{term, Real(b, soFar[1]) + term};
  };
  SmallVector<Value> sums =
      b.forLoop(b.cst(1), b.cst(160), b.cst(1), {a, a}, addTerm);
  Real result = 1.1283791670955126 * exp(-(a * a)) * Real(b, sums[1]);
  return copySign(atMost(1, result), x);
}

Real tarpon::erf(Real x) {
  if (x.isF64())
    return erfF64(x);
  Real a = abs(x);
  // erf(x) / x in x^2, to 3.1e-10.
  Real small =
      x * polynomial(x * x, {1.12837916679, -0.37612635194, 0.112837180496,
                             -0.0268606647911, 0.00520422669375,
                             -0.000817963218089, 8.52940132284e-5});
  // log(1 - erf(x)) from 0.85 to 4, to 2.5e-8; erf(4) rounds to 1.
  Real large =
      1 -
      exp(polynomial(atMost(4, a),
                     {0.000310714166614, -1.13020224356, -0.63186831706,
                      -0.110049647309, 0.0264085568056, -0.00475662635607,
                      0.00059644318795, -4.60430160852e-5, 1.6376158541e-6}));
  return select(isLess(a, 0.9), small, copySign(large, x));
}

/// max(x, 0) - a/2 erfc(a / sqrt(2)), where a = |x|. In f32, the second term is
/// a / p(a)^16, the form of Abramowitz and Stegun, 7.1.28, to 2.2e-7: a minimax
/// fit for a <= 6 of the term's absolute error (Lawson's iteration in mpmath).
/// Each of the first coefficients was rounded before the rest was fitted.
Real tarpon::gelu(Real x) {
  if (x.isF64())
    return 0.5 * x * (1 + erf(x * 0.7071067811865476));
  // There the power is infinite.
  Real a = atMost(100, abs(x));
  Real power = polynomial(a, {1.04427480698, 0.0520642101765, 0.0221131630242,
                              0.00337112476584, 7.49800041762e-5,
                              3.97416448421e-5, 6.97843964047e-6});
  for (int squarings = 0; squarings < 4; ++squarings)
    power = power * power;
  return atLeast(0, x) - a / power;
}

//===----------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------===//

/// sin(x + quarters pi/2). The reduction is done in f64, which is exact enough
/// for the range of f32 arguments that the header gives.
static Real sinOf(Real x, int64_t quarters) {
  KernelBuilder &b = x.builder();
  Real wide = x.isF64() ? x : toF64(x);
  Real magic = wide.like(kF64.magic);
  Real shifted = multiplyAdd(wide, wide.like(0.6366197723675814), magic);
  Real n = shifted - magic;
  // pi/2 in parts of 33 bits, whose multiples are exact (fdlibm's
  // e_rem_pio2.c).
  Real r = multiplyAdd(n, wide.like(-1.57079632673412561417e+00), wide);
  r = multiplyAdd(n, wide.like(-6.07710050630396597660e-11), r);
  r = multiplyAdd(n, wide.like(-2.02226624879595063154e-21), r);
  Value turns = toBits(shifted);
  Type type = turns.getType();
  turns = b.add(turns, integerLike(b, type, quarters));
  auto isSet = [&](int64_t bit) {
    Value masked = b.andI(turns, integerLike(b, type, bit));
    return b.eq(masked, integerLike(b, type, bit));
  };
  Value isCosine = isSet(1), isNegative = isSet(2);
  Real y = x.isF64() ? r : toF32(r, x.type());
  Real square = y * y;
  Real sineTail = x.isF64()
                      ? -factorialSeries(square, 3, 2, 8, /*alternates=*/true)
                      : polynomial(square, {-0.166666646503, 0.00833274593638,
                                            -0.000195873870685});
  Real cosineTail =
      x.isF64() ? factorialSeries(square, 4, 2, 8, /*alternates=*/true)
                : polynomial(square, {0.0416666646475, -0.00138883006969,
                                      2.45474372102e-5});
  Real sine = multiplyAdd(y * square, sineTail, y);
  Real cosine = multiplyAdd(square, square * cosineTail - 0.5, y.like(1));
  Real result = select(isCosine, cosine, sine);
  return select(isNegative, -result, result);
}

Real tarpon::sin(Real x) { return sinOf(x, 0); }
Real tarpon::cos(Real x) { return sinOf(x, 1); }
