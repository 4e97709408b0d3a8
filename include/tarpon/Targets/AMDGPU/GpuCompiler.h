//===- GpuCompiler.h - Compiles launches to code objects --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_GPUCOMPILER_H
#define TARPON_TARGETS_AMDGPU_GPUCOMPILER_H

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/CodeObject.h"
#include "tarpon/Targets/GPU/EmittedGpuKernel.h"

#include "mlir/IR/BuiltinOps.h"
namespace tarpon {

/// Compiles one kernel. A kernel that spills registers to memory, or that needs
/// more resources than the GPU has, is an error.
runtime::Result<CodeObject> compileGpuKernel(const KernelSource &kernel,
                                             const GpuTarget &gpu);
/// Compiles a kernel that was emitted before.
runtime::Result<CodeObject> compileGpuKernel(EmittedGpuKernel &kernel,
                                             const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_GPUCOMPILER_H
