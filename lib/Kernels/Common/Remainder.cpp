//===- Remainder.cpp - The remainder of a division of floats --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Long division in f64. A step subtracts the multiple of the divisor that the
// first 26 bits of the quotient count. The products with both halves of the
// divisor are exact then, and so are the differences: what is left is a
// multiple of the last place of the divisor, times that of the 26 bits, and
// below the product of the divisor itself with the latter. Nothing therefore
// depends on a fused multiply-add.
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"

#include "RealBits.h"

using namespace mlir;
using namespace tarpon;

/// Clears the lower 27 bits of the fraction, which leaves 26 significant ones.
static Real keepUpperBits(Real x) {
  KernelBuilder &b = x.builder();
  Value bits = toBits(x);
  Value mask = integerLike(b, bits.getType(), -(int64_t(1) << 27));
  return {b, b.bitcast(b.andI(bits, mask), x.type())};
}

/// One step, which leaves a remainder below the divisor as it is. A quotient
/// that was rounded up may make the remainder negative.
static Real reduce(Real rest, Real divisor) {
  Real quotient = keepUpperBits(rest / divisor);
  Real whole = copySign(floor(abs(quotient)), quotient);
  Real upper = keepUpperBits(divisor);
  Real less = rest - whole * upper - whole * (divisor - upper);
  return select(isLess(abs(rest), divisor), rest, less);
}

/// Steps of 25 bits for quotients of up to 2^bits.
static Real reduceAll(Real rest, Real divisor, int64_t bits) {
  KernelBuilder &b = rest.builder();
  auto step = [&](Value, ValueRange soFar) {
    return SmallVector<Value>{reduce(Real(b, soFar[0]), divisor)};
  };
  int64_t steps = bits / 25 + 2;
  return {b,
          b.forLoop(b.cst(0), b.cst(steps), b.cst(1), {Value(rest)}, step)[0]};
}

static Real fmodF64(Real x, Real y, int64_t bits) {
  Real rest = abs(x), divisor = abs(y);
  // A quotient of two doubles may overflow. Multiples of the divisor, with
  // which that does not happen, reduce it first; the largest may be infinite.
  constexpr int64_t kStage = 700;
  Real once = divisor * 0x1p700, twice = once * 0x1p700;
  if (bits > 2 * kStage)
    rest = reduceAll(rest, twice, kStage);
  if (bits > kStage)
    rest = reduceAll(rest, once, kStage);
  rest = reduceAll(rest, divisor, std::min(bits, kStage));
  rest = select(isLess(rest, 0), rest + divisor, rest);
  return copySign(rest, x);
}

Real tarpon::fmod(Real x, Real y) {
  // The bits are those of the largest finite number by the smallest one.
  if (x.isF64())
    return fmodF64(x, y, 1024 + 1074);
  return toF32(fmodF64(toF64(x), toF64(y), 128 + 149), x.type());
}
