//===- EmulatedDevice.cpp - An AMD GPU that is emulated -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"

#include "tarpon/Targets/AMDGPU/Emulator/AmdInstructions.h"

using namespace tarpon;

std::unique_ptr<runtime::Device>
tarpon::makeEmulatedDevice(const GpuTarget &gpu,
                           const EmulatedDeviceOptions &options) {
  return makeEmulatedGpu(gpu, getAmdInstructions(), options);
}
