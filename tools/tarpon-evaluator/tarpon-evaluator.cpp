//===- tarpon-evaluator.cpp - Runs candidates for the tuner -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorMain.h"

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"
#include "tarpon/Targets/GPU/GpuLaunch.h"
#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::runtime;

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

static Result<std::unique_ptr<Device>> openGpu(const Package &package) {
  std::string chip = getGpuChip(package.chip);
  auto driver = std::ranges::find_if(
      kDrivers, [&](const Driver &d) { return chip.starts_with(d.prefix); });
  if (driver == std::end(kDrivers))
    return Error{"no driver is known for " + chip};
  return driver->open(package.chip);
}

int main(int argc, char **argv) {
  return evaluator::evaluatorMain(argc, argv, "tarpon-evaluator",
                                  "Runs, verifies and times compiled models.",
                                  openGpu);
}
