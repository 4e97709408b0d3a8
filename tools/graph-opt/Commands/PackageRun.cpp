//===- PackageRun.cpp - Runs packages on local devices ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageRun.h"

#include "tarpon/Runtime/Measure.h"

namespace tarpon {

using namespace runtime;

Result<std::unique_ptr<Device>> openDevice(const Package &package,
                                           int64_t threads) {
  Result<std::shared_ptr<const Target>> target = findPackageTarget(package);
  if (!target)
    return target.error();
  return (*target)->openDevice(threads);
}

Result<std::shared_ptr<const Target>> describeDevice(const Package &package,
                                                     const Device &device,
                                                     llvm::StringRef cpu) {
  if (device.threads() > 0)
    return findTarget("host", {device.threads(), cpu.str(), /*device=*/""});
  return findPackageTarget(package, device.target());
}

Result<std::vector<HostTensor>>
runPackage(Package package, std::vector<HostTensor> inputs, int64_t threads) {
  Result<std::unique_ptr<Device>> device = openDevice(package, threads);
  if (!device)
    return device.error();
  Result<Instance> instance =
      Instance::create(std::move(package), **device, std::move(inputs));
  if (!instance)
    return instance.error();
  if (Status status = instance->run(); !status)
    return status.error();
  return takeRealSizes(instance->executor().package(),
                       std::move(instance->outputs()));
}

} // namespace tarpon
