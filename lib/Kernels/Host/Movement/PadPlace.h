//===- PadPlace.h - The source elements of a pad ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_MOVEMENT_PADPLACE_H
#define TARPON_LIB_KERNELS_HOST_MOVEMENT_PADPLACE_H

#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Kernels/Common/KernelBuilder.h"

namespace tarpon {

/// The place in a dimension of `size` whose element stands at `wanted`, which
/// may lie outside. In constant mode an arbitrary place inside.
mlir::Value emitPadPlace(KernelBuilder &b, PadMode mode, mlir::Value wanted,
                         mlir::Value size);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_MOVEMENT_PADPLACE_H
