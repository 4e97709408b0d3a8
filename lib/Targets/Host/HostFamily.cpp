//===- HostFamily.cpp - Finds the host and other CPUs by name -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/HostDevice.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

class HostTarget final : public Target {
public:
  explicit HostTarget(const TargetInfo &info) : Target(info, getHostTraits()) {}

  std::unique_ptr<KernelBackend> makeBackend() const override {
    return makeHostBackend(getInfo());
  }

  Result<std::unique_ptr<runtime::Device>>
  openDevice(int64_t threads) const override {
    runtime::HostDeviceOptions options;
    options.threads = static_cast<int>(threads);
    return runtime::makeHostDevice(options);
  }
};

/// "host", which is this machine, and the CPUs of LLVM's list.
class HostFamily final : public TargetFamily {
public:
  std::vector<std::string> getNames() const override { return {"host"}; }

  bool ownsName(llvm::StringRef name) const override {
    return name == "host" || isCpuName(name);
  }

  Result<std::shared_ptr<const Target>>
  parse(llvm::StringRef name, const TargetOptions &options) const override {
    if (!options.device.empty())
      return Error{"the target '" + name.str() +
                   "' runs on CPUs alone, and has no device '" +
                   options.device + "'"};
    return make(name == "host" ? getHostTarget(options.threads, options.cpu)
                               : getCpuTarget(name, options.threads));
  }

  bool ownsArch(llvm::StringRef arch) const override {
    return arch == llvm::StringRef(runtime::hostArch());
  }

  Result<std::shared_ptr<const Target>>
  getPackageTarget(const runtime::Package &package,
                   llvm::StringRef /*chip*/) const override {
    return make(getPackageCpu(package));
  }

private:
  static Result<std::shared_ptr<const Target>> make(Result<TargetInfo> info) {
    if (!info)
      return info.error();
    return makeHostTarget(*info);
  }
};

} // namespace

std::shared_ptr<const Target> tarpon::makeHostTarget(const TargetInfo &info) {
  return std::make_shared<HostTarget>(info);
}

void tarpon::registerHostTargets() {
  registerTargetFamily(std::make_unique<HostFamily>());
}
