//===- InverseFunctions.cpp - Inverse trigonometric functions -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inverses of trigonometric and hyperbolic functions, which are computed in
// f64 for f32 too: models use them seldom, and rounded once they need no forms
// of their own near the ends of their domains.
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"

#include "RealBits.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tarpon;

/// Applies a function of f64.
template <Real (*function)(Real)>
static Real applyInF64(Real x) {
  return x.isF64() ? function(x) : toF32(function(toF64(x)), x.type());
}

//===----------------------------------------------------------------------===//
// Inverse trigonometric functions
//===----------------------------------------------------------------------===//

/// The reduction and the rational function are those of the Cephes library's
/// atan.c (S. L. Moshier).
static Real atanF64(Real x) {
  constexpr double kTanOf3PiBy8 = 2.41421356237309504880;
  constexpr double kQuarter = std::numbers::pi / 4, kHalf = 2 * kQuarter;
  // The error of pi/2 as a double.
  constexpr double kRest = 6.123233995736765886130e-17;
  Real a = abs(x);
  Value isLarge = isLess(kTanOf3PiBy8, a), isSmall = isLess(a, 0.66);
  Real middle = select(isSmall, a, a - 1);
  Real above = select(isLarge, a.like(-1), middle);
  Real below = select(isLarge, a, select(isSmall, a.like(1), a + 1));
  Real offset = select(isLarge, a.like(kHalf),
                       select(isSmall, a.like(0), a.like(kQuarter)));
  Real rest = select(isLarge, a.like(kRest),
                     select(isSmall, a.like(0), a.like(kRest / 2)));
  Real t = above / below, z = t * t;
  Real numerator =
      polynomial(z, {-6.485021904942025371773e1, -1.228866684490136173410e2,
                     -7.500855792314704667340e1, -1.615753718733365076637e1,
                     -8.750608600031904122785e-1});
  Real denominator =
      polynomial(z, {1.945506571482613964425e2, 4.853903996359136964868e2,
                     4.328810604912902668951e2, 1.650270098316988542046e2,
                     2.485846490142306297962e1, 1});
  Real tail = t * (z * (numerator / denominator)) + t;
  return copySign(offset + (tail + rest), x);
}

/// 1 - x and 1 + x are exact where their product is small.
static Real asinF64(Real x) { return atanF64(x / sqrt((1 - x) * (1 + x))); }

static Real acosF64(Real x) { return 2 * atanF64(sqrt((1 - x) / (1 + x))); }

Real tarpon::acos(Real x) { return applyInF64<acosF64>(x); }
Real tarpon::asin(Real x) { return applyInF64<asinF64>(x); }
Real tarpon::atan(Real x) { return applyInF64<atanF64>(x); }

//===----------------------------------------------------------------------===//
// Inverse hyperbolic functions
//===----------------------------------------------------------------------===//

/// From there on, the square of a number swallows 1 in f64.
static constexpr double kLarge = 0x1p28;

static Real logOfTwice(Real x) { return log(x) + std::numbers::ln2; }

static Real acoshF64(Real x) {
  Real above = x - 1;
  Real near = log1p(above + sqrt(above * (above + 2)));
  Real result = select(isLess(kLarge, x), logOfTwice(x), near);
  return select(isLess(x, 1), x.like(NAN), result);
}

static Real asinhF64(Real x) {
  Real a = abs(x), bounded = atMost(kLarge, a), square = bounded * bounded;
  Real near = log1p(bounded + square / (1 + sqrt(square + 1)));
  return copySign(select(isLess(kLarge, a), logOfTwice(a), near), x);
}

static Real atanhF64(Real x) {
  Real a = abs(x);
  return copySign(0.5 * log1p(2 * a / (1 - a)), x);
}

Real tarpon::acosh(Real x) { return applyInF64<acoshF64>(x); }
Real tarpon::asinh(Real x) { return applyInF64<asinhF64>(x); }
Real tarpon::atanh(Real x) { return applyInF64<atanhF64>(x); }
