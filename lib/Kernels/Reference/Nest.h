//===- Nest.h - Nested loops with carried values ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REFERENCE_NEST_H
#define TARPON_KERNELS_REFERENCE_NEST_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Problem/ComputeKind.h"

namespace tarpon::reference {

using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<mlir::Value> indices, mlir::ValueRange carried)>;

/// Runs `body` for all values of the null entries of `indices`, the last one
/// fastest; entry d goes up to `sizes[d]`. Returns the final carried values.
llvm::SmallVector<mlir::Value> emitNest(KernelBuilder &b,
                                        llvm::ArrayRef<mlir::Value> sizes,
                                        llvm::SmallVector<mlir::Value> indices,
                                        mlir::ValueRange carried,
                                        NestBody body);

/// The type of sums of many terms: f64 for f32, otherwise the compute type. A
/// sum of n terms, each rounded once, is then off by at most n * 2^-53 of the
/// sum of their magnitudes, and by the rounding of the result to f32 (Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2): in
/// f32, terms got lost in the sums of 400000 elements that the batch
/// normalisation of 32x64x112x112 has.
mlir::Type getSumType(KernelBuilder &b, ComputeKind kind);
/// Adds a term of the compute type to a sum of that type.
mlir::Value addToSum(KernelBuilder &b, mlir::Value sum, mlir::Value term);
/// Rounds a sum to the compute type.
mlir::Value finishSum(KernelBuilder &b, mlir::Value sum, ComputeKind kind);

/// The sum of `term` over a nest.
mlir::Value emitNestSum(
    KernelBuilder &b, ComputeKind kind, llvm::ArrayRef<mlir::Value> sizes,
    llvm::SmallVector<mlir::Value> indices,
    llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value> indices)> term);

} // namespace tarpon::reference

#endif // TARPON_KERNELS_REFERENCE_NEST_H
