//===- CopyBytes.h - Copies of consecutive bytes ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_MOVEMENT_COPYBYTES_H
#define TARPON_LIB_KERNELS_HOST_MOVEMENT_COPYBYTES_H

#include "Common/LaunchBuilder.h"

namespace tarpon {

/// Copies `count` (i64) bytes in vectors, without masks: the rest is copied by
/// a vector that overlaps the previous one, or by smaller pieces.
void emitCopyBytes(KernelBuilder &b, mlir::Value target, mlir::Value source,
                   mlir::Value count);

/// Returns true if elements may be copied as bytes: they have one dtype and one
/// quantisation.
bool haveSameElements(const TensorDesc &a, const TensorDesc &b);

/// Copies rows of consecutive bytes from one tensor to another.
struct RowCopy {
  int64_t rows = 1, rowBytes = 0;
  int64_t sourceStart = 0, sourceStride = 0; ///< bytes, from row to row
  int64_t targetStart = 0, targetStride = 0;
};

/// Adds a launch for the copy; long rows are split among tasks.
void planRowCopy(LaunchBuilder &launch, BufferSlot source, BufferSlot target,
                 const RowCopy &copy);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_MOVEMENT_COPYBYTES_H
