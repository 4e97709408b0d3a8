//===- AmdGpuFamily.cpp - Finds AMD GPUs by name --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/AmdGpuTarget.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

/// Opens the first GPU of this chip, whatever its variant.
static Result<std::unique_ptr<runtime::Device>>
openFirstHipDevice(const GpuTarget &gpu) {
  Result<std::vector<std::unique_ptr<runtime::Device>>> devices =
      openHipDevices();
  if (!devices)
    return devices.error();
  for (std::unique_ptr<runtime::Device> &device : *devices)
    if (llvm::StringRef(device->target()).split(':').first == gpu.chip)
      return std::move(device);
  return Error{"the package is for " + gpu.name() + ", and this machine has " +
               devices->front()->target()};
}

namespace {

class AmdGpuTarget final : public Target {
public:
  AmdGpuTarget(const GpuTarget &gpu, GpuCodeForm form)
      : Target(makeGpuTargetInfo(gpu, form), getGpuTraits()), form(form) {}

  std::unique_ptr<KernelBackend> makeBackend() const override {
    return makeAmdGpuBackend(*getInfo().gpu, form);
  }

  Result<std::unique_ptr<runtime::Device>>
  openDevice(int64_t /*threads*/) const override {
    if (form == GpuCodeForm::Ir)
      return makeEmulatedDevice(*getInfo().gpu);
    return openFirstHipDevice(*getInfo().gpu);
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
  GpuCodeForm form;
};

class AmdGpuFamily final : public TargetFamily {
public:
  std::vector<std::string> getNames() const override { return getGpuChips(GpuVendor::AMD); }

  std::vector<std::string> getDevices() const override {
    return {"hip", "emulated"};
  }

  bool ownsName(llvm::StringRef name) const override {
    return name.starts_with("gfx");
  }

  Result<std::shared_ptr<const Target>>
  parse(llvm::StringRef name, const TargetOptions &options) const override {
    if (options.device.empty() || options.device == "hip")
      return make(name, GpuCodeForm::CodeObject);
    if (options.device == "emulated")
      return make(name, GpuCodeForm::Ir);
    return Error{"unknown device '" + options.device + "' of " + name.str() +
                 ", expected hip or emulated"};
  }

  bool ownsArch(llvm::StringRef arch) const override {
    return arch == kAmdGpuArch || arch == getIrArch(kAmdGpuArch);
  }

  Result<std::shared_ptr<const Target>>
  getPackageTarget(const runtime::Package &package,
                   llvm::StringRef chip) const override {
    return make(chip, package.arch == getIrArch(kAmdGpuArch) ? GpuCodeForm::Ir
                                                 : GpuCodeForm::CodeObject);
  }

private:
  static Result<std::shared_ptr<const Target>> make(llvm::StringRef name,
                                                    GpuCodeForm form) {
    Result<GpuTarget> gpu = parseGpuTarget(name);
    if (!gpu)
      return gpu.error();
    return makeAmdGpuTarget(*gpu, form);
  }
};

} // namespace

std::shared_ptr<const Target> tarpon::makeAmdGpuTarget(const GpuTarget &gpu,
                                                       GpuCodeForm form) {
  return std::make_shared<AmdGpuTarget>(gpu, form);
}

void tarpon::registerAmdGpuTargets() {
  registerSolvers(kAmdGpuArch, getGpuSolvers);
  registerSolvers(getIrArch(kAmdGpuArch), getGpuSolvers);
  registerTargetFamily(std::make_unique<AmdGpuFamily>());
}
