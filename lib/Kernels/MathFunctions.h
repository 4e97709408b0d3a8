//===- MathFunctions.h - exp and log in f32 and f64 -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transcendental functions without calls into libm. The f32 forms are math
// dialect operations, which the compiler expands into polynomials; for f64 it
// has none, so that they are spelled out here.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_MATHFUNCTIONS_H
#define TARPON_KERNELS_MATHFUNCTIONS_H

#include "tarpon/Kernels/KernelBuilder.h"

namespace tarpon {

/// exp(x) of a scalar or vector of f32 or f64.
mlir::Value emitExp(KernelBuilder &b, mlir::Value x);
/// log(x), for positive x.
mlir::Value emitLog(KernelBuilder &b, mlir::Value x);
/// x to the power of y, for positive x.
mlir::Value emitPow(KernelBuilder &b, mlir::Value x, mlir::Value y);

} // namespace tarpon

#endif // TARPON_KERNELS_MATHFUNCTIONS_H
