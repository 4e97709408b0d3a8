//===- GpuBackend.h - Compiles kernels for AMD GPUs -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_GPUBACKEND_H
#define TARPON_TARGETS_AMDGPU_GPUBACKEND_H

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/KernelBackend.h"

namespace tarpon {

/// The form of compiled kernels.
enum class GpuCodeForm : uint8_t {
  CodeObject, ///< for HIP
  Ir          ///< MLIR bytes, for the emulated device
};

/// The architecture (TargetInfo::arch) of what the emulated device runs.
inline constexpr llvm::StringLiteral kGpuIrArch = "amdgcn-ir";

/// The description for solvers of a GPU whose kernels have that form.
TargetInfo makeGpuTargetInfo(const GpuTarget &gpu, GpuCodeForm form);

/// Makes a backend that compiles each kernel to bytes of that form.
std::unique_ptr<KernelBackend>
makeGpuBackend(const GpuTarget &gpu,
               GpuCodeForm form = GpuCodeForm::CodeObject);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_GPUBACKEND_H
