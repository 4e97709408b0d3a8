//===- PackageDevices.cpp - The devices of packages -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageDevices.h"

#include <algorithm>

namespace tarpon::evaluator {

using namespace runtime;

Result<Device *> PackageDevices::find(const Package &package) {
  if (package.getKernelForm() == KernelForm::SharedObject)
    return static_cast<Device *>(nullptr);
  if (auto known = devices.find(package.chip); known != devices.end())
    return known->second.get();
  Result<std::unique_ptr<Device>> opened = open(package);
  if (!opened)
    return opened.error();
  return (devices[package.chip] = std::move(*opened)).get();
}

bool PackageDevices::areAlive() {
  return std::ranges::all_of(devices, [](const auto &entry) {
    return static_cast<bool>(entry.second->synchronize());
  });
}

} // namespace tarpon::evaluator
