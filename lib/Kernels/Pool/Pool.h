//===- Pool.h - What the pooling solvers share ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_POOL_POOL_H
#define TARPON_KERNELS_POOL_POOL_H

#include "Window.h"

namespace tarpon {

bool isPool(llvm::StringRef op);

/// A global pool as a pool whose window is the whole input.
Problem asWindowedPool(Problem problem);

/// Operations for one element of a windowed pool's result.
double getPoolCost(const Problem &problem);

/// The divisor of an average at output `place`, as f32.
mlir::Value emitPoolCount(KernelBuilder &b, const Window &window,
                          llvm::ArrayRef<WindowRange> ranges,
                          llvm::ArrayRef<mlir::Value> place,
                          bool countsPadding);

} // namespace tarpon

#endif // TARPON_KERNELS_POOL_POOL_H
