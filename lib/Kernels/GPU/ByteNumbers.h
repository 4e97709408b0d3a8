//===- ByteNumbers.h - Vectors of 8-bit integers as f32 ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AMD's GPUs convert a byte of a register to f32 in one instruction. NVIDIA's
// convert integers at a fraction of the rate of other instructions, and have to
// extract the byte first: there, integers become mantissas of floats whose
// exponent makes one unit of them visible, and back.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_BYTENUMBERS_H
#define TARPON_LIB_KERNELS_GPU_BYTENUMBERS_H

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

namespace tarpon {

/// Returns number * scale + shift (scalars) for a vector of bytes.
mlir::Value emitDecodeBytes(GpuKernelBuilder &b, mlir::Value bytes,
                            bool isSigned, mlir::Value scale,
                            mlir::Value shift);

/// Returns value * scale + shift for a vector of f32, rounded to nearest even
/// and saturated, as bytes; 0 for NaN.
mlir::Value emitEncodeBytes(GpuKernelBuilder &b, mlir::Value values,
                            bool isSigned, mlir::Value scale,
                            mlir::Value shift);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_BYTENUMBERS_H
