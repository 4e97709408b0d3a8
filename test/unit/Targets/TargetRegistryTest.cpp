//===- TargetRegistryTest.cpp - Targets by name ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AllTargets.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tarpon;
using testing::ElementsAre;
using testing::StartsWith;

static std::shared_ptr<const Target> get(llvm::StringRef name,
                                         const TargetOptions &options = {}) {
  auto target = findTarget(name, options);
  EXPECT_TRUE(target) << target.message();
  return target ? *target : nullptr;
}

TEST(TargetRegistry, TheHostIsThisMachine) {
  auto host = get("host", {3, "x86-64-v2", ""});
  TargetInfo expected = *getHostTarget(3, "x86-64-v2");
  EXPECT_EQ(host->getInfo().name(), expected.name());
  EXPECT_EQ(host->getInfo().features, expected.features);
  EXPECT_EQ(host->getInfo().threads, 3);
  EXPECT_EQ(host->getInfo().traits->getDisplayName(host->getInfo()),
            "the host");
  EXPECT_EQ(host->getSolvers(), getHostSolvers());
  EXPECT_TRUE(host->makeBackend()->describeCostModel().empty());
  EXPECT_FALSE(host->getPeaks());
}

TEST(TargetRegistry, CpusAreAsLlvmDescribesThem) {
  const TargetInfo v3 = get("x86-64-v3", {2, "native", ""})->getInfo();
  EXPECT_EQ(v3.name(), "x86-64/x86-64-v3/256");
  EXPECT_EQ(v3.threads, 2);
  EXPECT_TRUE(v3.hasFma && v3.hasF16c);
  EXPECT_FALSE(v3.hasVnni);
  // Whatever this machine has.
  const TargetInfo wide = get("cascadelake", {1, "native", ""})->getInfo();
  EXPECT_EQ(wide.vectorBits, 512);
  EXPECT_TRUE(wide.hasVnni);
  for (const std::string &feature : wide.features)
    EXPECT_TRUE(runtime::isKnownFeature(feature)) << feature;
}

TEST(TargetRegistry, GpusHaveVariantsAndDevices) {
  auto gpu = get("gfx942:cu=228");
  EXPECT_EQ(gpu->getInfo().name(), "gfx942:cu=228");
  EXPECT_EQ(gpu->getInfo().traits->getProcessor(gpu->getInfo()),
            "gfx942:cu=228");
  EXPECT_EQ(gpu->getInfo().arch, "amdgcn");
  EXPECT_EQ(gpu->getSolvers(), getGpuSolvers());
  ASSERT_TRUE(gpu->getPeaks());
  EXPECT_EQ(gpu->getPeaks()->gbps, 5300);
  EXPECT_EQ(gpu->getPeaks()->gflops(runtime::Precision::F16),
            parseGpuTarget("gfx942:cu=228")->peakGflops(runtime::DType::F16));
  auto emulated = get("gfx942", {0, "native", "emulated"});
  EXPECT_EQ(emulated->getInfo().arch, "amdgcn-ir");
  auto device = emulated->openDevice(/*threads=*/1);
  ASSERT_TRUE(device) << device.message();
  EXPECT_FALSE((*device)->hasTimes());
  EXPECT_NE(emulated->makeBackend()->describe(),
            gpu->makeBackend()->describe());
}

TEST(TargetRegistry, PackagesSayWhatTheyAreFor) {
  runtime::Package package;
  package.arch = "amdgcn-ir";
  package.chip = "gfx1100:cu=96";
  auto target = findPackageTarget(package);
  ASSERT_TRUE(target) << target.message();
  EXPECT_EQ((*target)->getInfo().name(), "gfx1100:cu=96");
  auto other = findPackageTarget(package, "gfx1100:cu=84");
  ASSERT_TRUE(other) << other.message();
  EXPECT_EQ((*other)->getInfo().name(), "gfx1100:cu=84");

  package.arch = "x86-64";
  package.chip = "";
  package.cpuFeatures = get("x86-64-v3")->getInfo().features;
  target = findPackageTarget(package);
  ASSERT_TRUE(target) << target.message();
  EXPECT_EQ((*target)->getInfo().vectorBits, 256);
  EXPECT_EQ((*target)->getInfo().features, package.cpuFeatures);

  package.arch = "vax";
  EXPECT_EQ(findPackageTarget(package).message(),
            "the package is for the architecture 'vax', which no target of "
            "this build has");
}

TEST(TargetRegistry, WhatIsUnknownIsAnError) {
  EXPECT_EQ(findTarget("vax").message(),
            "unknown target 'vax', expected host, gfx90a, gfx942, gfx950, "
            "gfx1100, gfx1201, sm_80, sm_89, sm_90a or sm_100a");
  EXPECT_EQ(findTarget("gfx000").message(),
            "unknown GPU 'gfx000', expected gfx90a, gfx942, gfx950, gfx1100, "
            "gfx1201, sm_80, sm_89, sm_90a, sm_100a");
  EXPECT_EQ(findTarget("i486").message(), "CPU 'i486' is not a 64-bit CPU");
  EXPECT_EQ(findTarget("host", {0, "vax", ""}).message(), "unknown CPU 'vax'");
  EXPECT_EQ(findTarget("host", {0, "native", "hip"}).message(),
            "the target 'host' runs on CPUs alone, and has no device 'hip'");
  EXPECT_EQ(findTarget("gfx942", {0, "native", "tube"}).message(),
            "unknown device 'tube' of gfx942, expected hip or emulated");
}

TEST(TargetRegistry, Tf32IsAllowedWhereThereIsSome) {
  auto allowed = allowTf32("sm_90a:bw=3352");
  ASSERT_TRUE(allowed) << allowed.message();
  EXPECT_EQ(*allowed, "sm_90a:bw=3352:tf32");
  EXPECT_EQ(get(*allowed)->getInfo().name(), "sm_90a:cu=132:bw=3352:tf32");
  EXPECT_EQ(*allowTf32(*allowed), *allowed);
  for (const char *name : {"host", "x86-64-v3", "gfx942"})
    EXPECT_EQ(allowTf32(name).message(),
              "the target '" + std::string(name) +
                  "' has no instructions for TF32, which NVIDIA's GPUs have "
                  "from sm_80 on");
  EXPECT_THAT(allowTf32("sm_75").message(), StartsWith("unknown GPU 'sm_75'"));
  EXPECT_THAT(allowTf32("vax").message(), StartsWith("unknown target 'vax'"));
}

TEST(TargetRegistry, RegisteringAgainChangesNothing) {
  std::vector<std::string> before = getTargetNames();
  registerAllTargets();
  EXPECT_EQ(getTargetNames(), before);
  EXPECT_EQ(before.front(), "host");
  EXPECT_THAT(getTargetDevices(), ElementsAre("hip", "emulated", "cuda"));
}

namespace {

/// Has forgotten to register solvers.
class IdleFamily final : public TargetFamily {
public:
  std::vector<std::string> getNames() const override { return {"idle"}; }
  bool ownsName(llvm::StringRef name) const override { return name == "idle"; }
  bool ownsArch(llvm::StringRef arch) const override { return arch == "idle"; }
  runtime::Result<std::shared_ptr<const Target>>
  parse(llvm::StringRef, const TargetOptions &) const override {
    TargetInfo info;
    info.arch = "idle";
    return makeHostTarget(info);
  }
  runtime::Result<std::shared_ptr<const Target>>
  getPackageTarget(const runtime::Package &, llvm::StringRef) const override {
    return parse("idle", {});
  }
};

} // namespace

/// It does not get those of the host, whose kernels mean nothing to it. The
/// last test, as families stay registered.
TEST(TargetRegistry, TargetsWithoutSolversAreErrors) {
  TargetInfo info;
  info.arch = "idle";
  EXPECT_TRUE(getSolvers(info).empty());
  registerTargetFamily(std::make_unique<IdleFamily>());
  const char *message = "the target idle/x86-64/128 has no solvers: none are "
                        "registered for the architecture 'idle'";
  EXPECT_EQ(findTarget("idle").message(), message);
  runtime::Package package;
  package.arch = "idle";
  EXPECT_EQ(findPackageTarget(package).message(), message);
}
