//===- Real.h - Floating-point expressions in emitted code ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scalar or vector of f32 or f64 with C++ operators, so that emitted formulas
// read like formulas.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_REAL_H
#define TARPON_LIB_KERNELS_COMMON_REAL_H

#include "tarpon/Kernels/Common/KernelBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace tarpon {

class Real {
public:
  Real(KernelBuilder &b, mlir::Value value) : b(&b), value(value) {}
  operator mlir::Value() const { return value; }

  KernelBuilder &builder() const { return *b; }
  mlir::Type type() const { return value.getType(); }
  bool isF64() const { return mlir::getElementTypeOrSelf(type()).isF64(); }
  /// The number in every lane.
  Real like(double number) const { return {*b, b->cstLike(type(), number)}; }
  Real like(mlir::Value scalar) const {
    auto vector = llvm::dyn_cast<mlir::VectorType>(type());
    return {*b, b->broadcast(scalar, vector ? vector.getNumElements() : 1)};
  }

  friend Real operator+(Real x, Real y) {
    return {*x.b, x.b->addF(x.value, y.value)};
  }
  friend Real operator-(Real x, Real y) {
    return {*x.b, x.b->subF(x.value, y.value)};
  }
  friend Real operator*(Real x, Real y) {
    return {*x.b, x.b->mulF(x.value, y.value)};
  }
  friend Real operator/(Real x, Real y) {
    return {*x.b, x.b->divF(x.value, y.value)};
  }
  friend Real operator+(Real x, double y) { return x + x.like(y); }
  friend Real operator-(Real x, double y) { return x - x.like(y); }
  friend Real operator*(Real x, double y) { return x * x.like(y); }
  friend Real operator/(Real x, double y) { return x / x.like(y); }
  friend Real operator+(double x, Real y) { return y.like(x) + y; }
  friend Real operator-(double x, Real y) { return y.like(x) - y; }
  friend Real operator*(double x, Real y) { return y.like(x) * y; }
  friend Real operator/(double x, Real y) { return y.like(x) / y; }
  Real operator-() const {
    return {*b, mlir::arith::NegFOp::create(*b, value)};
  }

private:
  KernelBuilder *b;
  mlir::Value value;
};

/// x < y; false if one is NaN.
inline mlir::Value isLess(Real x, Real y) {
  return mlir::arith::CmpFOp::create(x.builder(),
                                     mlir::arith::CmpFPredicate::OLT, x, y);
}
inline mlir::Value isLess(Real x, double y) { return isLess(x, x.like(y)); }
inline mlir::Value isLess(double x, Real y) { return isLess(y.like(x), y); }
inline mlir::Value isEqual(Real x, Real y) {
  return mlir::arith::CmpFOp::create(x.builder(),
                                     mlir::arith::CmpFPredicate::OEQ, x, y);
}

inline Real select(mlir::Value condition, Real x, Real y) {
  return {x.builder(), x.builder().select(condition, x, y)};
}
/// bound < x ? x : bound, but x if it is NaN.
inline Real atLeast(double bound, Real x) {
  return {x.builder(), x.builder().maxF(x.like(bound), x)};
}
/// x < bound ? x : bound, but x if it is NaN.
inline Real atMost(double bound, Real x) {
  return {x.builder(), x.builder().minF(x.like(bound), x)};
}
inline Real multiplyAdd(Real x, Real y, Real z) {
  return {x.builder(), x.builder().fma(x, y, z)};
}
inline Real abs(Real x) {
  return {x.builder(), mlir::math::AbsFOp::create(x.builder(), x)};
}
inline Real sqrt(Real x) {
  return {x.builder(), mlir::math::SqrtOp::create(x.builder(), x)};
}
inline Real floor(Real x) {
  return {x.builder(), mlir::math::FloorOp::create(x.builder(), x)};
}
/// The magnitude of x with the sign of y.
inline Real copySign(Real x, Real y) {
  return {x.builder(), mlir::math::CopySignOp::create(x.builder(), x, y)};
}

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_REAL_H
