//===- AmdGpuTarget.h - AMD GPUs as targets ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_AMDGPUTARGET_H
#define TARPON_TARGETS_AMDGPU_AMDGPUTARGET_H

#include "tarpon/Targets/GPU/GpuBackend.h"
#include "tarpon/Targets/Target.h"

#include <memory>

namespace tarpon {

/// Makes the target of a GPU, or with GpuCodeForm::Ir that of the device that
/// emulates it.
std::shared_ptr<const Target>
makeAmdGpuTarget(const GpuTarget &gpu,
                 GpuCodeForm form = GpuCodeForm::CodeObject);

/// Registers the names "gfx942", "gfx942:cu=228" and so on with findTarget, and
/// the devices "hip" and "emulated".
void registerAmdGpuTargets();

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_AMDGPUTARGET_H
