//===- MathFunctions.cpp - exp and log in f32 and f64 ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace tarpon;

static bool isF64(Value value) {
  return getElementTypeOrSelf(value.getType()).isF64();
}

/// 2^n * exp(r) with x = n ln 2 + r, |r| <= ln 2 / 2; the Taylor series of
/// degree 13 leaves an error below one ulp there.
static Value emitExpF64(KernelBuilder &b, Value x) {
  Type type = x.getType();
  auto constant = [&](double value) { return b.cstLike(type, value); };
  // Outside of these bounds the result is 0 or infinite.
  Value bounded = b.minF(constant(709.78), b.maxF(constant(-708.39), x));
  Value n = math::RoundEvenOp::create(
      b, b.mulF(bounded, constant(1.4426950408889634)));
  Value r = b.subF(bounded, b.mulF(n, constant(6.93147180369123816490e-01)));
  r = b.subF(r, b.mulF(n, constant(1.90821492927058770002e-10)));
  Value sum = constant(1);
  for (int k = 13; k >= 1; --k)
    sum = b.addF(constant(1), b.mulF(b.divF(r, constant(k)), sum));
  Type integers = b.getI64Type();
  if (auto vector = dyn_cast<VectorType>(type))
    integers = VectorType::get(vector.getShape(), integers);
  // 2^n overflows at n = 1024, so that half of it is multiplied twice.
  Value exponent = arith::FPToSIOp::create(b, integers, n);
  Value biased = b.add(exponent, b.cstLike(integers, 1022));
  Value bits = arith::ShLIOp::create(b, biased, b.cstLike(integers, 52));
  Value result = b.mulF(b.mulF(sum, b.bitcast(bits, type)), constant(2));
  Value tooSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, constant(-708.39));
  Value tooLarge =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, constant(709.78));
  result = b.select(tooSmall, constant(0), result);
  return b.select(tooLarge, constant(HUGE_VAL), result);
}

/// One Newton step on the f32 logarithm doubles its digits, a second one
/// reaches f64.
static Value emitLogF64(KernelBuilder &b, Value x) {
  Type type = x.getType(), narrowType = b.getF32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    narrowType = VectorType::get(vector.getShape(), narrowType);
  Value narrowed = arith::TruncFOp::create(b, narrowType, x);
  Value estimate = math::LogOp::create(b, narrowed);
  Value log = arith::ExtFOp::create(b, type, estimate);
  Value one = b.cstLike(type, 1);
  for (int step = 0; step < 2; ++step) {
    Value inverse = emitExpF64(b, b.subF(b.cstLike(type, 0), log));
    log = b.addF(log, b.subF(b.mulF(x, inverse), one));
  }
  return log;
}

Value tarpon::emitExp(KernelBuilder &b, Value x) {
  if (isF64(x))
    return emitExpF64(b, x);
  return math::ExpOp::create(b, x);
}

Value tarpon::emitLog(KernelBuilder &b, Value x) {
  if (isF64(x))
    return emitLogF64(b, x);
  return math::LogOp::create(b, x);
}

Value tarpon::emitPow(KernelBuilder &b, Value x, Value y) {
  return emitExp(b, b.mulF(y, emitLog(b, x)));
}
