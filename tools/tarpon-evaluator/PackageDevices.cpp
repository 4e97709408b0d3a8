//===- PackageDevices.cpp - The devices of packages -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageDevices.h"

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"
#include "tarpon/Targets/GPU/GpuLaunch.h"
#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include <algorithm>

namespace tarpon::evaluator {

using namespace runtime;

namespace {

/// The driver of the chips whose names begin so.
struct Driver {
  std::string_view prefix;
  Result<std::unique_ptr<Device>> (*open)(const std::string &target);
};

} // namespace

static constexpr Driver kDrivers[] = {
    {"gfx", [](const std::string &target) { return openHipDevice({target}); }},
    {"sm_", [](const std::string &target) {
       return openCudaDevice({target}, {{getGpuChip(target)}, /*library=*/""});
     }}};

Result<Device *> PackageDevices::find(const Package &package) {
  if (package.getKernelForm() == KernelForm::SharedObject)
    return static_cast<Device *>(nullptr);
  std::string chip = getGpuChip(package.chip);
  if (auto known = devices.find(chip); known != devices.end())
    return known->second.get();
  auto driver = std::ranges::find_if(
      kDrivers, [&](const Driver &d) { return chip.starts_with(d.prefix); });
  if (driver == std::end(kDrivers))
    return Error{"no driver is known for " + chip};
  Result<std::unique_ptr<Device>> opened = driver->open(package.chip);
  if (!opened)
    return opened.error();
  return (devices[chip] = std::move(*opened)).get();
}

bool PackageDevices::areAlive() {
  return std::ranges::all_of(devices, [](const auto &entry) {
    return static_cast<bool>(entry.second->synchronize());
  });
}

} // namespace tarpon::evaluator
