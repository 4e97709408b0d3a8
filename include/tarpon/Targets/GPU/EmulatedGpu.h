//===- EmulatedGpu.h - A GPU of a description, emulated ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATEDGPU_H
#define TARPON_TARGETS_GPU_EMULATEDGPU_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Solver/GpuTarget.h"

#include <memory>

namespace tarpon {

namespace emulator {
class VendorInstructions;
} // namespace emulator

struct EmulatedDeviceOptions {
  /// Detects races, and reads of memory that was never written.
  bool checkMemory = true;
  /// The seed of the order of waves and workgroups; 0 for the order of their
  /// numbers.
  uint64_t seed = 0;
};

/// Makes a device that runs packages of GpuCodeForm::Ir for the GPU, with its
/// vendor's instructions; see Emulator/EmulatedDevice.h.
std::unique_ptr<runtime::Device>
makeEmulatedGpu(const GpuTarget &gpu,
                const emulator::VendorInstructions &instructions,
                const EmulatedDeviceOptions &options);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_EMULATEDGPU_H
