//===- PackageRun.cpp - Packages on the devices of this machine -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageRun.h"

#include "tarpon/Runtime/HostDevice.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/AMDGPU/HipDevice.h"
#include "tarpon/Targets/Host/HostTarget.h"

namespace tarpon {

using namespace runtime;

static llvm::StringRef getChip(llvm::StringRef target) {
  return target.split(':').first;
}

Result<std::unique_ptr<Device>> openDevice(const Package &package,
                                           int64_t threads) {
  if (!package.isForGpu()) {
    HostDeviceOptions options;
    options.threads = static_cast<int>(threads);
    return makeHostDevice(options);
  }
  if (package.arch == kEmulatedArch) {
    Result<GpuTarget> gpu = parseGpuTarget(package.gpuTarget);
    if (!gpu)
      return gpu.error();
    return makeEmulatedDevice(*gpu);
  }
  Result<std::vector<std::unique_ptr<Device>>> devices = openHipDevices();
  if (!devices)
    return devices.error();
  for (std::unique_ptr<Device> &device : *devices)
    if (getChip(device->target()) == getChip(package.gpuTarget))
      return std::move(device);
  return Error{"the package is for " + package.gpuTarget +
               ", and this machine has " + devices->front()->target()};
}

Result<TargetInfo> describeDevice(const Device &device, llvm::StringRef cpu) {
  if (device.threads() > 0)
    return getHostTarget(device.threads(), cpu.str());
  Result<GpuTarget> gpu = parseGpuTarget(device.target());
  if (!gpu)
    return gpu.error();
  return makeGpuTargetInfo(*gpu);
}

Result<std::vector<HostTensor>>
runPackage(Package package, std::vector<HostTensor> inputs, int64_t threads) {
  Result<std::unique_ptr<Device>> device = openDevice(package, threads);
  if (!device)
    return device.error();
  Result<Instance> instance =
      Instance::create(std::move(package), **device, std::move(inputs));
  if (!instance)
    return instance.error();
  if (Status status = instance->run(); !status)
    return status.error();
  return std::move(instance->outputs());
}

} // namespace tarpon
