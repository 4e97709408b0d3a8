//===- GpuLowering.h - Lowers GPU kernels to LLVM's dialect -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_GPULOWERING_H
#define TARPON_LIB_TARGETS_AMDGPU_GPULOWERING_H

#include "tarpon/Solver/GpuTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tarpon {

/// The first operation that needs a library, or null.
mlir::Operation *findLibraryCall(mlir::gpu::GPUModuleOp module);

/// Lowers the gpu.modules in `holder` to the LLVM and ROCDL dialects.
mlir::LogicalResult lowerGpuKernels(mlir::ModuleOp holder,
                                    const GpuTarget &target);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_AMDGPU_GPULOWERING_H
