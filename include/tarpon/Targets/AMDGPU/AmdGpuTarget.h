//===- AmdGpuTarget.h - AMD GPUs as targets ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_AMDGPUTARGET_H
#define TARPON_TARGETS_AMDGPU_AMDGPUTARGET_H

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/GpuBackend.h"
#include "tarpon/Targets/Target.h"

#include <memory>

namespace tarpon {

/// A GPU, or with GpuCodeForm::Ir the device that emulates it.
std::shared_ptr<const Target>
makeAmdGpuTarget(const GpuTarget &gpu,
                 GpuCodeForm form = GpuCodeForm::CodeObject);

/// Makes findTarget know "gfx942", "gfx942:cu=228" and so on, with the devices
/// "hip" and "emulated".
void registerAmdGpuTargets();

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_AMDGPUTARGET_H
