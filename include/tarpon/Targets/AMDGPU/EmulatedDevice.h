//===- EmulatedDevice.h - An AMD GPU that is emulated -----------*- C++ -*-===//
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

/// Makes a device that runs packages of GpuCodeForm::Ir; see
/// GPU/EmulatedDevice.h.
std::unique_ptr<runtime::Device>
makeEmulatedDevice(const GpuTarget &gpu,
                   const EmulatedDeviceOptions &options = {});

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_EMULATEDDEVICE_H
