//===- RealBits.h - The bits and precisions of Reals ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts that transcendental functions are made of.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_REALBITS_H
#define TARPON_LIB_KERNELS_COMMON_REALBITS_H

#include "Real.h"
#include "tarpon/Kernels/Common/SmallFloats.h"

#include "llvm/ADT/STLExtras.h"

namespace tarpon {

/// cstLike takes a double, which does not hold all 64-bit integers.
inline mlir::Value integerLike(KernelBuilder &b, mlir::Type type,
                               int64_t number) {
  mlir::TypedAttr attr =
      b.getIntegerAttr(mlir::getElementTypeOrSelf(type), number);
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
    attr = mlir::DenseElementsAttr::get(vector, attr);
  return mlir::arith::ConstantOp::create(b, attr);
}

/// The bits of `x` as integers of its width.
inline mlir::Value toBits(Real x) {
  KernelBuilder &b = x.builder();
  return b.bitcast(
      x, withLanesOf(x.type(), b.getIntegerType(x.isF64() ? 64 : 32)));
}

/// Converts f32 to f64.
inline Real toF64(Real x) {
  KernelBuilder &b = x.builder();
  return {b, mlir::arith::ExtFOp::create(
                 b, withLanesOf(x.type(), b.getF64Type()), mlir::Value(x))};
}

/// Rounds f64 to `type`, which is of f32.
inline Real toF32(Real x, mlir::Type type) {
  return {x.builder(), mlir::arith::TruncFOp::create(x.builder(), type, x)};
}

/// c[0] + c[1] x + ...
inline Real polynomial(Real x, llvm::ArrayRef<double> coefficients) {
  Real sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = multiplyAdd(sum, x, x.like(coefficient));
  return sum;
}

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_REALBITS_H
