//===- StreamDevice.h - GPUs through a vendor's library ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device of every GPU: one stream, two events that time it, and modules
// that stay loaded as long as the device.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_STREAMDEVICE_H
#define TARPON_TARGETS_GPU_STREAMDEVICE_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Targets/GPU/StreamContext.h"

#include <memory>
#include <string>

namespace tarpon {

/// The names of a GPU by its vendor's library: its target ("gfx942:cu=304"),
/// the name of the product, and Device::identity.
struct StreamDeviceNames {
  std::string target, product, identity;
};

runtime::Result<std::unique_ptr<runtime::Device>>
openStreamDevice(std::shared_ptr<const stream::Context> context,
                 StreamDeviceNames names);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_STREAMDEVICE_H
