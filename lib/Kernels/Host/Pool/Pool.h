//===- Pool.h - Common code of the pooling solvers --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_POOL_POOL_H
#define TARPON_LIB_KERNELS_HOST_POOL_POOL_H

#include "Common/VectorAccess.h"
#include "Common/Window.h"

namespace tarpon {

bool isPool(OpKind op);

/// A global pool as a pool whose window is the whole input.
Problem asWindowedPool(Problem problem);

/// The reduction of a window's cells: in f32, but a maximum of 8-bit integers
/// that keeps its scale is computed in 8 bits.
struct PoolReduction {
  bool isMax, isInteger;
  DType dtype;

  static PoolReduction of(const Problem &problem);
  mlir::Type elementType(KernelBuilder &b) const;
  /// The neutral element of the pool, in a vector.
  mlir::Value identity(KernelBuilder &b, int64_t lanes) const;
  mlir::Value load(KernelBuilder &b, const BoundFlatTensor &input,
                   mlir::Value offset, int64_t lanes, mlir::Value mask) const;
  mlir::Value combine(KernelBuilder &b, mlir::Value value,
                      mlir::Value soFar) const;
};

/// The number of operations for one element of a windowed pool's result.
double getPoolCost(const Problem &problem);

/// The number of cells of the window at output `place` that lie in the input,
/// or with `countsPadding` in the input or its explicit padding; as i64.
mlir::Value emitPoolCount(KernelBuilder &b, const Window &window,
                          llvm::ArrayRef<WindowRange> ranges,
                          llvm::ArrayRef<mlir::Value> place,
                          bool countsPadding);

/// The mean of a window from the sum of the raw elements of its `inside` cells.
/// Counts are i64 scalars, or f32 vectors like the sum.
mlir::Value emitPoolMean(KernelBuilder &b, const BoundFlatTensor &input,
                         mlir::Value sum, mlir::Value inside,
                         mlir::Value divisor);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_POOL_POOL_H
