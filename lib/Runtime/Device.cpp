//===- Device.cpp - The devices that packages run on ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Device.h"

namespace tarpon::runtime {

Result<std::unique_ptr<DeviceMemory>> Device::upload(AlignedBytes bytes) {
  Result<std::unique_ptr<DeviceMemory>> memory =
      allocate(static_cast<int64_t>(bytes.size()));
  if (!memory)
    return memory.error();
  Status copied = copyIn(**memory, 0, bytes);
  // The caller's bytes end with this function, so that queued copies are waited
  // for even after a failure.
  Status done = synchronize();
  for (const Status *status : {&copied, &done})
    if (!*status)
      return status->error();
  return memory;
}

Status Device::copy(const DeviceMemory &to, const DeviceMemory &from) {
  AlignedBytes bytes(static_cast<size_t>(from.size()));
  if (Status status = copyOut(bytes, from, 0); !status)
    return status;
  if (Status status = copyIn(to, 0, bytes); !status)
    return status;
  return synchronize();
}

bool Device::canWorkOn(const void *, int64_t, bool) const { return false; }

void Device::flushFromCaches(const DeviceMemory &) {}

Result<std::unique_ptr<DeviceKernel>>
Device::loadKernel(std::span<const char> code, const std::string &symbol) {
  auto kernels = load(code, {&symbol, 1});
  if (!kernels)
    return kernels.error();
  return std::move(kernels->front());
}

} // namespace tarpon::runtime
