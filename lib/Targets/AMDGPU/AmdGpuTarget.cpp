//===- AmdGpuTarget.cpp - AMD GPUs as targets -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/AmdGpuTarget.h"

#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"
#include "tarpon/Targets/GPU/GpuPlatform.h"

using namespace tarpon;

static const GpuPlatform kPlatform = {
    GpuVendor::AMD,
    kAmdGpuArch,
    /*prefix=*/"gfx",
    /*driver=*/"hip",
    makeAmdGpuBackend,
    [](const GpuRequest &request) { return findHipDevice(request); },
    [](const GpuRequest &request) { return openHipDevice(request); },
    [](const GpuTarget &gpu) { return makeEmulatedDevice(gpu); }};

std::shared_ptr<const Target> tarpon::makeAmdGpuTarget(const GpuTarget &gpu,
                                                       GpuCodeForm form) {
  return makeGpuTarget(kPlatform, gpu, form);
}

void tarpon::registerAmdGpuTargets() { registerGpuPlatform(kPlatform); }
