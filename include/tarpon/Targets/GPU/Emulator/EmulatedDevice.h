//===- EmulatedDevice.h - A GPU that is emulated on the CPU -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_EMULATEDDEVICE_H
#define TARPON_TARGETS_GPU_EMULATOR_EMULATEDDEVICE_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Targets/GPU/Emulator/Emulator.h"

#include <memory>
#include <string>

namespace tarpon {

/// The GPU that a device emulates.
struct EmulatedGpu {
  /// Device::target and Device::name: "gfx942:cu=304", "emulated gfx942".
  std::string target, name;
  EmulatorOptions options;
};

/// Runs packages whose code objects are kernels in MLIR. New memory counts as
/// never written, and is filled with 0xff bytes. Times are those of the
/// emulation.
std::unique_ptr<runtime::Device> makeEmulatedDevice(EmulatedGpu gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_EMULATOR_EMULATEDDEVICE_H
