//===- EmulatedGpu.cpp - A GPU of a description, emulated -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/EmulatedGpu.h"

#include "tarpon/Targets/GPU/Emulator/EmulatedDevice.h"

using namespace tarpon;

std::unique_ptr<runtime::Device>
tarpon::makeEmulatedGpu(const GpuTarget &gpu,
                        const emulator::VendorInstructions &instructions,
                        const EmulatedDeviceOptions &options) {
  EmulatorOptions emulator;
  emulator.instructions = &instructions;
  emulator.matrixFamilies = static_cast<unsigned>(gpu.matrixFamily);
  emulator.directToLdsBytes = gpu.directToLdsBytes;
  emulator.waveSize = static_cast<unsigned>(gpu.waveSize);
  emulator.ldsBytes = gpu.ldsBytes;
  emulator.checkMemory = options.checkMemory;
  emulator.seed = options.seed;
  return makeEmulatedDevice(
      EmulatedGpu{gpu.name(), "emulated " + gpu.chip, emulator});
}
