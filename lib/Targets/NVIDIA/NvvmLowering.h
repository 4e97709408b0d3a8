//===- NvvmLowering.h - Lowers GPU kernels to LLVM's dialect ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_NVIDIA_NVVMLOWERING_H
#define TARPON_LIB_TARGETS_NVIDIA_NVVMLOWERING_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tarpon {

/// The global constant by which compiled code tells the bytes of LDS that its
/// launch must ask for.
inline constexpr llvm::StringLiteral kLdsBytesName = "tarpon_lds_bytes";

/// The first operation that needs CUDA's device library, or null.
mlir::Operation *findDeviceLibraryCall(mlir::gpu::GPUModuleOp module);

/// Lowers the gpu.modules in `holder` to the LLVM and NVVM dialects.
mlir::LogicalResult lowerToNvvm(mlir::ModuleOp holder);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_NVIDIA_NVVMLOWERING_H
