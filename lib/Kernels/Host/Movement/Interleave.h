//===- Interleave.h - Vectors of alternating elements -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_MOVEMENT_INTERLEAVE_H
#define TARPON_LIB_KERNELS_HOST_MOVEMENT_INTERLEAVE_H

#include "tarpon/Kernels/Common/KernelBuilder.h"

namespace tarpon {

/// Vector `part` of as many as there are planes, which together hold the first
/// elements of all planes (vectors of `lanes`), then the second ones, ...
mlir::Value emitInterleaved(KernelBuilder &b,
                            llvm::ArrayRef<mlir::Value> planes, int64_t part,
                            int64_t lanes);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_MOVEMENT_INTERLEAVE_H
