//===- Nest.h - Nested loops with carried values ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REFERENCE_NEST_H
#define TARPON_KERNELS_REFERENCE_NEST_H

#include "tarpon/Kernels/Common/KernelBuilder.h"

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

} // namespace tarpon::reference

#endif // TARPON_KERNELS_REFERENCE_NEST_H
