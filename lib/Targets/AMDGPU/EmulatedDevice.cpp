//===- EmulatedDevice.cpp - An AMD GPU that is emulated -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"

#include "tarpon/Targets/AMDGPU/Emulator/AmdInstructions.h"
#include "tarpon/Targets/GPU/Emulator/EmulatedDevice.h"

using namespace tarpon;

std::unique_ptr<runtime::Device>
tarpon::makeEmulatedDevice(const GpuTarget &gpu,
                           const EmulatedDeviceOptions &options) {
  EmulatorOptions emulator;
  emulator.instructions = &getAmdInstructions();
  emulator.matrixFamilies = static_cast<unsigned>(gpu.matrixFamily);
  emulator.waveSize = static_cast<unsigned>(gpu.waveSize);
  emulator.ldsBytes = gpu.ldsBytes;
  emulator.checkMemory = options.checkMemory;
  emulator.seed = options.seed;
  return makeEmulatedDevice(
      EmulatedGpu{gpu.name(), "emulated " + gpu.chip, emulator});
}
