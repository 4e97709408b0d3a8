//===- SmallFloats.h - Floats of less than 32 bits in kernels ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_COMMON_SMALLFLOATS_H
#define TARPON_KERNELS_COMMON_SMALLFLOATS_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/FloatFormat.h"

namespace tarpon {

/// `scalar`, or a vector of as many lanes as `like` has.
mlir::Type withLanesOf(mlir::Type like, mlir::Type scalar);

/// Converts floats of a format of at most 16 bits, as integers of 8 or 16 bits
/// or as a type of MLIR, to f32. Uses integer instructions, except for f16 if
/// the target converts it.
mlir::Value emitDecodeFloat(KernelBuilder &b,
                            const runtime::FloatFormat &format,
                            mlir::Value stored);

/// The inverse, to integers: rounds to nearest even like runtime::encodeFloat,
/// except for payloads of NaNs.
mlir::Value emitEncodeFloat(KernelBuilder &b,
                            const runtime::FloatFormat &format,
                            mlir::Value value);

} // namespace tarpon

#endif // TARPON_KERNELS_COMMON_SMALLFLOATS_H
