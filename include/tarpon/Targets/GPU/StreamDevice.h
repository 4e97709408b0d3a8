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

/// Makes the device of a GPU whose code is `target` ("gfx942:cu=304") and whose
/// product is called `name`.
runtime::Result<std::unique_ptr<runtime::Device>>
openStreamDevice(std::shared_ptr<const stream::Context> context,
                 std::string target, std::string name);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_STREAMDEVICE_H
