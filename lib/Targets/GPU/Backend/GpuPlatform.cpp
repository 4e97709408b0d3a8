//===- GpuPlatform.cpp - Finds GPUs by name -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuPlatform.h"

#include "tarpon/Solver/GpuName.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

class PlatformTarget final : public Target {
public:
  PlatformTarget(const GpuPlatform &platform, const GpuTarget &gpu,
                 GpuCodeForm form)
      : Target(makeGpuTargetInfo(gpu, form), getGpuTraits()),
        platform(platform), form(form) {}

  std::unique_ptr<KernelBackend> makeBackend() const override {
    return platform.makeBackend(*getInfo().gpu, form);
  }

  Result<std::unique_ptr<runtime::Device>>
  openDevice(int64_t /*threads*/) const override {
    if (form == GpuCodeForm::Ir)
      return platform.makeEmulatedDevice(*getInfo().gpu);
    return platform.openDevice({getInfo().gpu->name()});
  }

  std::optional<TargetPeaks> getPeaks() const override {
    // Descriptions of GPUs live forever.
    const GpuTarget *gpu = getInfo().gpu;
    return TargetPeaks{[gpu](runtime::Precision precision) {
                         return gpu->peakGflops(getFactorDType(precision));
                       },
                       gpu->memoryGbps};
  }

private:
  const GpuPlatform &platform;
  GpuCodeForm form;
};

class PlatformFamily final : public TargetFamily {
public:
  explicit PlatformFamily(const GpuPlatform &platform) : platform(platform) {}

  std::vector<std::string> getNames() const override {
    return getGpuChips(platform.vendor);
  }

  std::vector<std::string> getDevices() const override {
    return {platform.driver.str(), "emulated"};
  }

  bool ownsName(llvm::StringRef name) const override {
    return name.starts_with(platform.prefix);
  }

  Result<std::shared_ptr<const Target>>
  parse(llvm::StringRef name, const TargetOptions &options) const override {
    if (options.device.empty())
      return make(name, GpuCodeForm::CodeObject);
    if (options.device == platform.driver)
      return make(complete(name), GpuCodeForm::CodeObject);
    if (options.device == "emulated")
      return make(name, GpuCodeForm::Ir);
    return Error{"unknown device '" + options.device + "' of " + name.str() +
                 ", expected " + platform.driver.str() + " or emulated"};
  }

  Result<std::string> allowTf32(llvm::StringRef name) const override {
    Result<GpuTarget> gpu = parseGpuTarget(name);
    if (!gpu)
      return gpu.error();
    if (!gpu->hasTf32())
      return TargetFamily::allowTf32(name);
    return gpu->allowsTf32 ? name.str() : (name + ":" + kTf32Permission).str();
  }

  bool ownsArch(llvm::StringRef arch) const override {
    return arch == platform.arch || arch == getIrArch(platform.arch);
  }

  Result<std::shared_ptr<const Target>>
  getPackageTarget(const runtime::Package &package,
                   llvm::StringRef chip) const override {
    return make(chip, package.arch == getIrArch(platform.arch)
                          ? GpuCodeForm::Ir
                          : GpuCodeForm::CodeObject);
  }

private:
  /// The GPU of this machine decides what the name leaves open. Where there is
  /// none, opening it says so.
  std::string complete(llvm::StringRef name) const {
    Result<std::string> found = platform.findDevice({name.str()});
    return found ? completeGpuName(name, *found) : name.str();
  }

  Result<std::shared_ptr<const Target>> make(llvm::StringRef name,
                                             GpuCodeForm form) const {
    Result<GpuTarget> gpu = parseGpuTarget(name);
    if (!gpu)
      return gpu.error();
    return makeGpuTarget(platform, *gpu, form);
  }

  const GpuPlatform &platform;
};

} // namespace

std::shared_ptr<const Target> tarpon::makeGpuTarget(const GpuPlatform &platform,
                                                    const GpuTarget &gpu,
                                                    GpuCodeForm form) {
  return std::make_shared<PlatformTarget>(platform, gpu, form);
}

void tarpon::registerGpuPlatform(const GpuPlatform &platform) {
  registerSolvers(platform.arch, getGpuSolvers);
  registerSolvers(getIrArch(platform.arch), getGpuSolvers);
  registerTargetFamily(std::make_unique<PlatformFamily>(platform));
}
