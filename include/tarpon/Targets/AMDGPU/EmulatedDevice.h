//===- EmulatedDevice.h - A GPU that is emulated on the CPU -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_EMULATEDDEVICE_H
#define TARPON_TARGETS_AMDGPU_EMULATEDDEVICE_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Solver/GpuTarget.h"

namespace tarpon {

struct EmulatedDeviceOptions {
  /// Detects races, and reads of memory that was never written.
  bool checkMemory = true;
  /// The seed of the order of waves and workgroups; 0 for the order of their
  /// numbers.
  uint64_t seed = 0;
};

/// Runs packages of GpuCodeForm::Ir. New memory counts as never written, and is
/// filled with 0xff bytes. Times are those of the emulation.
std::unique_ptr<runtime::Device>
makeEmulatedDevice(const GpuTarget &gpu,
                   const EmulatedDeviceOptions &options = {});

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_EMULATEDDEVICE_H
