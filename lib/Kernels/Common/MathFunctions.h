//===- MathFunctions.h - Transcendental functions ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of f32 or f64, scalars or vectors, that call no libm. NaN gives
// NaN. The largest errors in f32 that test/unit/Kernels/MathFunctionsTest.cpp
// allows, in ulp of the result, with fused multiply-add (and without):
//
//   exp 1.5 (1.5)     subnormal results within one of their steps
//   expm1 1.5 (2)     for x < 0
//   log 1 (1)
//   log1p 2 (2)       for 0 < x <= 1
//   sigmoid 3 (3)     unless the result is subnormal
//   swish 3 (3)       plus 2.3 |alpha x|, unless the sigmoid is subnormal
//   tanh 3 (3)
//   erf 2.5 (2.5)
//   sin, cos 1.5 (1.5) for |x| < 1e5
//   pow 1 (1)         computed in f64, like the following
//   acos, asin, atan 1 (1), and their hyperbolic counterparts
//   fmod 0 (0)
//
// In f64, errors are a few ulp; that of pow is some hundred, and fmod is exact.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_MATHFUNCTIONS_H
#define TARPON_LIB_KERNELS_COMMON_MATHFUNCTIONS_H

#include "Real.h"

namespace tarpon {

Real exp(Real x);
/// exp(x) for x <= 0, as exact, or 0 where that is subnormal; in fewer
/// instructions.
Real expOfNegative(Real x);
/// exp(x) - 1, for x < 88.
Real expm1(Real x);
/// Minus infinity at 0, NaN below.
Real log(Real x);
/// log(1 + x), for x >= 0.
Real log1p(Real x);
/// 1 / (1 + exp(-x)), or 0 where that is subnormal.
Real sigmoid(Real x);
Real tanh(Real x);
Real erf(Real x);
/// x sigmoid(alpha x), or 0 where the sigmoid is subnormal.
Real swish(Real x, Real alpha);
/// x / 2 * (1 + erf(x / sqrt(2))), in f32 to 5e-7 max(1, |x|).
Real gelu(Real x);
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), as exact as gelu.
Real geluTanh(Real x);
Real sin(Real x);
Real cos(Real x);
/// x to the power of y like C's pow, but with -0 treated as 0.
Real pow(Real x, Real y);

Real acos(Real x);
Real asin(Real x);
Real atan(Real x);
Real acosh(Real x);
Real asinh(Real x);
Real atanh(Real x);
/// The remainder of x / y with the sign of x, like C's fmod.
Real fmod(Real x, Real y);

inline mlir::Value emitExp(KernelBuilder &b, mlir::Value x) {
  return exp(Real(b, x));
}
inline mlir::Value emitLog(KernelBuilder &b, mlir::Value x) {
  return log(Real(b, x));
}
/// x to the power of y, for positive x, in the precision of exp and log.
inline mlir::Value emitPow(KernelBuilder &b, mlir::Value x, mlir::Value y) {
  return exp(Real(b, y) * log(Real(b, x)));
}

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_MATHFUNCTIONS_H
