//===- EmulatedDevice.cpp - An NVIDIA GPU that is emulated ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/EmulatedDevice.h"

#include "tarpon/Targets/NVIDIA/Emulator/NvidiaInstructions.h"

using namespace tarpon;

std::unique_ptr<runtime::Device>
tarpon::makeEmulatedNvidiaDevice(const GpuTarget &gpu,
                                 const EmulatedDeviceOptions &options) {
  return makeEmulatedGpu(gpu, getNvidiaInstructions(), options);
}
