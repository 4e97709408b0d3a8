//===- PackageDevices.h - The devices of packages ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_EVALUATOR_PACKAGEDEVICES_H
#define TARPON_TOOLS_EVALUATOR_PACKAGEDEVICES_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"

#include <map>
#include <memory>
#include <string>

namespace tarpon::evaluator {

/// Opens the device of a package of code objects.
using DeviceOpener = runtime::Result<std::unique_ptr<runtime::Device>> (*)(
    const runtime::Package &package);

/// The devices of packages, which are opened when a package needs one.
class PackageDevices {
public:
  explicit PackageDevices(DeviceOpener open) : open(open) {}

  /// Returns the first device of the package's target; null if the package runs
  /// on the host, whose executors have a device each.
  runtime::Result<runtime::Device *> find(const runtime::Package &package);

  /// Returns false if a device runs nothing any more, as after a fault.
  bool areAlive();

private:
  DeviceOpener open;
  std::map<std::string, std::unique_ptr<runtime::Device>> devices;
};

} // namespace tarpon::evaluator

#endif // TARPON_TOOLS_EVALUATOR_PACKAGEDEVICES_H
