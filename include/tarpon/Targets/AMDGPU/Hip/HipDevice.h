//===- HipDevice.h - AMD GPUs through HIP -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libamdhip64 is loaded when the first device is asked for, so that one binary
// works with ROCm 5, 6 and 7 and without any.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_HIP_HIPDEVICE_H
#define TARPON_TARGETS_AMDGPU_HIP_HIPDEVICE_H

#include "tarpon/Targets/GPU/GpuList.h"

namespace tarpon {

/// The places of ROCm's files; the defaults are those of a user's system.
struct HipOptions {
  /// The path of the library; "" for $TARPON_HIP_LIBRARY, else libamdhip64.so
  /// of any ROCm that the loader finds.
  std::string library;
  /// The kernel driver's list of GPUs, from which their architecture is read:
  /// HIP gives it in a struct only, whose layout depends on ROCm's version. ""
  /// for $TARPON_HIP_TOPOLOGY, else the driver's place.
  std::string topology;
};

/// Opens a GPU that HIP has. The error tells a missing library from a missing
/// GPU, and says what can be done without one.
runtime::Result<std::unique_ptr<runtime::Device>>
openHipDevice(const GpuRequest &request = {}, const HipOptions &options = {});

/// The target of that GPU, which is not opened.
runtime::Result<std::string> findHipDevice(const GpuRequest &request = {},
                                           const HipOptions &options = {});

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_HIP_HIPDEVICE_H
