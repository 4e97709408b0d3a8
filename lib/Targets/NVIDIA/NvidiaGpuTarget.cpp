//===- NvidiaGpuTarget.cpp - NVIDIA GPUs as targets -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/NvidiaGpuTarget.h"

#include "tarpon/Solver/GpuName.h"
#include "tarpon/Targets/GPU/GpuPlatform.h"
#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"
#include "tarpon/Targets/NVIDIA/EmulatedDevice.h"
#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"

using namespace tarpon;

static CudaOptions getCudaOptions() {
  return {getGpuChips(GpuVendor::NVIDIA), /*library=*/"", normaliseGpuName};
}

/// A device is called by the target whose kernels it was opened for, as what it
/// measures is recorded for that.
static runtime::Result<std::unique_ptr<runtime::Device>>
openDevice(const GpuRequest &request) {
  CudaOptions options = getCudaOptions();
  options.normalise = [asked = request.target](const std::string &name) {
    return takePermissions(normaliseGpuName(name), asked);
  };
  return openCudaDevice(request, options);
}

static const GpuPlatform kPlatform = {
    GpuVendor::NVIDIA,
    kNvidiaGpuArch,
    /*prefix=*/"sm_",
    /*driver=*/"cuda",
    makeNvidiaGpuBackend,
    [](const GpuRequest &request) {
      return findCudaDevice(request, getCudaOptions());
    },
    openDevice,
    [](const GpuTarget &gpu) { return makeEmulatedNvidiaDevice(gpu); }};

std::shared_ptr<const Target> tarpon::makeNvidiaGpuTarget(const GpuTarget &gpu,
                                                          GpuCodeForm form) {
  return makeGpuTarget(kPlatform, gpu, form);
}

void tarpon::registerNvidiaGpuTargets() { registerGpuPlatform(kPlatform); }
