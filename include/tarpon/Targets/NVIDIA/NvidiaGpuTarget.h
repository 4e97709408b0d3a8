//===- NvidiaGpuTarget.h - NVIDIA GPUs as targets ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_NVIDIAGPUTARGET_H
#define TARPON_TARGETS_NVIDIA_NVIDIAGPUTARGET_H

#include "tarpon/Targets/GPU/GpuBackend.h"
#include "tarpon/Targets/Target.h"

#include <memory>

namespace tarpon {

/// The target of kernels in that form for the GPU.
std::shared_ptr<const Target>
makeNvidiaGpuTarget(const GpuTarget &gpu,
                    GpuCodeForm form = GpuCodeForm::CodeObject);

/// Registers the family of targets.
void registerNvidiaGpuTargets();

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_NVIDIAGPUTARGET_H
