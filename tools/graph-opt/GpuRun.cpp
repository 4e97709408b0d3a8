//===- GpuRun.cpp - Runs a package on a GPU ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuRun.h"

#include "tarpon/Kernels/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/AMDGPU/GpuExecutor.h"
#include "tarpon/Targets/AMDGPU/HipDevice.h"

#include "llvm/ADT/StringRef.h"

namespace tarpon {

using namespace runtime;

static llvm::StringRef getChip(llvm::StringRef target) {
  return target.split(':').first;
}

/// The device that a package is for.
static Result<std::unique_ptr<GpuDevice>> openDevice(const Package &package) {
  if (package.arch == kEmulatedArch) {
    Result<GpuTarget> gpu = parseGpuTarget(package.gpuTarget);
    if (!gpu)
      return gpu.error();
    return makeEmulatedDevice(*gpu);
  }
  Result<std::vector<std::unique_ptr<GpuDevice>>> devices = openHipDevices();
  if (!devices)
    return devices.error();
  for (std::unique_ptr<GpuDevice> &device : *devices)
    if (getChip(device->target()) == getChip(package.gpuTarget))
      return std::move(device);
  return Error{"the package is for " + package.gpuTarget +
               ", and this machine has " + devices->front()->target()};
}

Result<std::vector<HostTensor>>
runOnGpu(Package package, const std::vector<HostTensor> &inputs) {
  Result<std::unique_ptr<GpuDevice>> device = openDevice(package);
  if (!device)
    return device.error();
  std::vector<HostTensor> outputs;
  std::vector<const void *> in;
  std::vector<void *> out;
  for (const HostTensor &tensor : inputs)
    in.push_back(tensor.data.data());
  for (const TensorInfo &info : package.outputs) {
    Result<HostTensor> tensor = HostTensor::create(info.dtype, info.shape);
    if (!tensor)
      return tensor.error();
    outputs.push_back(std::move(*tensor));
    out.push_back(outputs.back().data.data());
  }
  Result<std::unique_ptr<GpuExecutor>> executor =
      GpuExecutor::create(std::move(package), **device);
  if (!executor)
    return executor.error();
  if (Status status = (*executor)->run(in, out); !status)
    return status.error();
  return outputs;
}

} // namespace tarpon
