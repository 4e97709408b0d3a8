//===- PackageDevices.cpp - The devices of packages -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageDevices.h"

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"
#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include <algorithm>
#include <vector>

namespace tarpon::evaluator {

using namespace runtime;

using Devices = Result<std::vector<std::unique_ptr<Device>>>;

namespace {

/// The driver of the chips whose names begin so.
struct Driver {
  std::string_view prefix;
  Devices (*open)(const std::string &chip);
};

} // namespace

static constexpr Driver kDrivers[] = {
    {"gfx", [](const std::string &) { return openHipDevices(); }},
    {"sm_", [](const std::string &chip) {
       return openCudaDevices({{chip}, /*library=*/""});
     }}};

static std::string getChip(const std::string &target) {
  return target.substr(0, target.find(':'));
}

Result<Device *> PackageDevices::find(const Package &package) {
  if (package.getKernelForm() == KernelForm::SharedObject)
    return static_cast<Device *>(nullptr);
  std::string chip = getChip(package.chip);
  if (auto known = devices.find(chip); known != devices.end())
    return known->second.get();
  auto driver = std::ranges::find_if(
      kDrivers, [&](const Driver &d) { return chip.starts_with(d.prefix); });
  if (driver == std::end(kDrivers))
    return Error{"no driver is known for " + chip};
  Devices opened = driver->open(chip);
  if (!opened)
    return opened.error();
  auto fits = std::ranges::find_if(*opened, [&](const auto &device) {
    return getChip(device->target()) == chip;
  });
  // The first one's refusal says what it is.
  if (fits == opened->end())
    fits = opened->begin();
  return (devices[chip] = std::move(*fits)).get();
}

bool PackageDevices::areAlive() {
  return std::ranges::all_of(devices, [](const auto &entry) {
    return static_cast<bool>(entry.second->synchronize());
  });
}

} // namespace tarpon::evaluator
