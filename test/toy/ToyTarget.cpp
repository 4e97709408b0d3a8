//===- ToyTarget.cpp - A target that is not in lib/ -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target needs a description, answers about itself, solvers, a backend, and a
// family that finds it; to be tuned, a way to measure.
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "tarpon/Targets/Registry/TargetRegistry.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

static constexpr llvm::StringLiteral kToy = "toy";

static TargetInfo makeInfo() {
  TargetInfo info;
  info.arch = kToy.str();
  info.cpu = kToy.str();
  return info;
}

namespace {

/// Its memory is all of one kind.
class ToyTraits final : public TargetTraits {
public:
  std::string getName(const TargetInfo & /*target*/) const override {
    return kToy.str();
  }
  llvm::StringRef getCodegenPart() const override { return "toy-codegen"; }
  std::string printCacheSizes(const TargetInfo & /*target*/) const override {
    return "toy memory";
  }
  llvm::StringRef getArbiter() const override { return "toy-naive-v1"; }
  runtime::Precision
  getArithmetic(const Problem & /*problem*/,
                const TargetInfo & /*target*/) const override {
    return runtime::Precision::F32;
  }
};

class ToyTarget final : public Target {
public:
  ToyTarget() : Target(makeInfo(), traits) {}

  std::unique_ptr<KernelBackend> makeBackend() const override {
    return toy::makeBackend();
  }
  Result<std::unique_ptr<runtime::Device>>
  openDevice(int64_t /*threads*/) const override {
    return toy::makeDevice();
  }
  std::optional<TargetPeaks> getPeaks() const override {
    return TargetPeaks{[](runtime::Precision) { return 2.0; }, /*gbps=*/1};
  }

private:
  inline static const ToyTraits traits;
};

class ToyFamily final : public TargetFamily {
public:
  std::vector<std::string> getNames() const override { return {kToy.str()}; }
  bool ownsName(llvm::StringRef name) const override { return name == kToy; }
  bool ownsArch(llvm::StringRef arch) const override { return arch == kToy; }

  Result<std::shared_ptr<const Target>>
  parse(llvm::StringRef /*name*/, const TargetOptions &options) const override {
    if (!options.device.empty())
      return Error{"the toy has no device '" + options.device + "'"};
    return std::shared_ptr<const Target>(std::make_shared<ToyTarget>());
  }
  Result<std::shared_ptr<const Target>>
  getPackageTarget(const runtime::Package & /*package*/,
                   llvm::StringRef /*chip*/) const override {
    return std::shared_ptr<const Target>(std::make_shared<ToyTarget>());
  }
};

} // namespace

void toy::registerToyTarget() {
  registerSolvers(kToy, getSolvers);
  registerMeasurerFactory(kToy.str(), makeMeasurerFactory);
  registerTargetFamily(std::make_unique<ToyFamily>());
}
