//===- EmulatedDevice.h - An NVIDIA GPU that is emulated --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_EMULATEDDEVICE_H
#define TARPON_TARGETS_NVIDIA_EMULATEDDEVICE_H

#include "tarpon/Targets/GPU/EmulatedGpu.h"

namespace tarpon {

/// Makes a device that runs packages of GpuCodeForm::Ir.
std::unique_ptr<runtime::Device>
makeEmulatedNvidiaDevice(const GpuTarget &gpu,
                         const EmulatedDeviceOptions &options = {});

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_EMULATEDDEVICE_H
