//===- PoolIndices.h - Maxima and their indices -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a window is processed, the place of the greatest cell so far is the
// number of its pixel in the plane of its image and channel, as i32, or -1
// before the first cell.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_POOL_POOLINDICES_H
#define TARPON_LIB_KERNELS_HOST_POOL_POOLINDICES_H

#include "Common/LaunchBuilder.h"

#include <vector>

namespace tarpon {

/// The change of a pixel's number by one step in each spatial dimension.
std::vector<int64_t> getPixelSteps(const Problem &problem);

/// Returns true if a vector can hold the numbers of all pixels.
bool hasNarrowPixels(const Problem &problem);

/// The initial maximum without a place, and the greater one of a maximum and a
/// cell; of equal ones the first.
llvm::SmallVector<mlir::Value> getNoMaximum(KernelBuilder &b, int64_t lanes);
llvm::SmallVector<mlir::Value> emitMaximum(KernelBuilder &b,
                                           mlir::ValueRange soFar,
                                           mlir::Value cell, mlir::Value pixel);

/// Converts pixels of planes that start at `planes` (i64) to indices of i64.
mlir::Value emitPixelIndices(KernelBuilder &b, mlir::Value pixels,
                             mlir::Value planes);

/// first, first + step, ... in `lanes` lanes of the type of `first`.
mlir::Value emitProgression(KernelBuilder &b, mlir::Value first,
                            mlir::Value step, int64_t lanes);

/// Truncates an i64 to i32.
mlir::Value emitNarrow(KernelBuilder &b, mlir::Value value);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_POOL_POOLINDICES_H
