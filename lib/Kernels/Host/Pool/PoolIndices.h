//===- PoolIndices.h - Maxima and where they lie ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a window is gone through, the place of the greatest cell so far is the
// number of its pixel in the plane of its image and channel, as i32, and -1 as
// long as there is none.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_POOL_POOLINDICES_H
#define TARPON_LIB_KERNELS_HOST_POOL_POOLINDICES_H

#include "Common/LaunchBuilder.h"

#include <vector>

namespace tarpon {

/// How far one step in each spatial dimension moves the number of a pixel.
std::vector<int64_t> getPixelSteps(const Problem &problem);

/// Whether a vector can hold the numbers of all pixels.
bool hasNarrowPixels(const Problem &problem);

/// A maximum of nothing and no place, and the greater one of that and a cell;
/// of equal ones the first.
llvm::SmallVector<mlir::Value> getNoMaximum(KernelBuilder &b, int64_t lanes);
llvm::SmallVector<mlir::Value> emitMaximum(KernelBuilder &b,
                                           mlir::ValueRange soFar,
                                           mlir::Value cell, mlir::Value pixel);

/// Pixels of planes that start at `planes` (i64) as indices of i64.
mlir::Value emitPixelIndices(KernelBuilder &b, mlir::Value pixels,
                             mlir::Value planes);

/// first, first + step, ... in `lanes` lanes of the type of `first`.
mlir::Value emitProgression(KernelBuilder &b, mlir::Value first,
                            mlir::Value step, int64_t lanes);

/// An i64 as i32.
mlir::Value emitNarrow(KernelBuilder &b, mlir::Value value);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_POOL_POOLINDICES_H
