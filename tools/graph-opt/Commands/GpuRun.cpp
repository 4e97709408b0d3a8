//===- GpuRun.cpp - Runs a package on a GPU ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuRun.h"

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/AMDGPU/HipDevice.h"
#include "tarpon/Targets/GPU/GpuExecutor.h"

#include "llvm/ADT/StringRef.h"

namespace tarpon {

using namespace runtime;

static llvm::StringRef getChip(llvm::StringRef target) {
  return target.split(':').first;
}

Result<std::unique_ptr<Device>> openPackageDevice(const Package &package) {
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

Result<TimedGpuRun> runAndTimeOnGpu(Package package,
                                    const std::vector<HostTensor> &inputs,
                                    int64_t timedRuns) {
  Result<std::unique_ptr<Device>> device = openPackageDevice(package);
  if (!device)
    return device.error();
  TimedGpuRun timed;
  std::vector<const void *> in;
  std::vector<void *> out;
  for (const HostTensor &tensor : inputs)
    in.push_back(tensor.data.data());
  for (const TensorInfo &info : package.outputs) {
    Result<HostTensor> tensor = HostTensor::create(info.dtype, info.shape);
    if (!tensor)
      return tensor.error();
    timed.outputs.push_back(std::move(*tensor));
    out.push_back(timed.outputs.back().data.data());
  }
  Result<std::unique_ptr<GpuExecutor>> executor =
      GpuExecutor::create(std::move(package), **device);
  if (!executor)
    return executor.error();
  if (Status status = (*executor)->run(in, out); !status)
    return status.error();
  for (int64_t run = 0; run < timedRuns; ++run) {
    Result<double> time = (*executor)->timeRun();
    if (!time)
      return time.error();
    timed.timesMs.push_back(*time);
  }
  return timed;
}

Result<std::vector<HostTensor>>
runOnGpu(Package package, const std::vector<HostTensor> &inputs) {
  Result<TimedGpuRun> timed =
      runAndTimeOnGpu(std::move(package), inputs, /*timedRuns=*/0);
  if (!timed)
    return timed.error();
  return std::move(timed->outputs);
}

} // namespace tarpon
