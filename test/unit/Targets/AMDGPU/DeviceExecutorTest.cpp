//===- DeviceExecutorTest.cpp
//------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Executor.h"

#include "ToyDevice.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Measure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

using namespace tarpon;
using namespace tarpon::runtime;
using namespace tarpon::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct ScaleArguments {
  const float *in;
  const float *factors;
  float *out;
  uint32_t count;
  uint32_t bias;
};

/// Two elements per workgroup: out = in * factor + bias.
void scale(const char *bytes, uint32_t task) {
  ScaleArguments a;
  std::memcpy(&a, bytes, sizeof(a));
  for (uint32_t i = 2 * task; i < std::min(2 * task + 2, a.count); ++i)
    a.out[i] = a.in[i] * a.factors[i] + std::bit_cast<float>(a.bias);
}

class DeviceExecutorTest : public testing::Test {
protected:
  DeviceExecutorTest() { device.bodies["scale"] = scale; }

  ToyDevice device;
};

} // namespace

TEST_F(DeviceExecutorTest, RunsAndTimes) {
  auto executor = Executor::create(makeToyPackage(), device);
  ASSERT_TRUE(executor) << executor.message();
  EXPECT_THAT(device.log, ElementsAre("load scale 64", "launch scale 3x256",
                                      "launch scale 3x256"));
  std::vector<float> in = {0, 1, 2, 3, 4}, out(5);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE((*executor)->run(inputs, outputs));
    EXPECT_THAT(out, ElementsAre(3, 7, 11, 15, 19));
    in[0] = 0;
  }
  EXPECT_EQ(*(*executor)->timeRun(), 1.0);
  std::vector<int64_t> nanoseconds;
  ASSERT_TRUE((*executor)->runProfiled(inputs, outputs, nanoseconds));
  EXPECT_THAT(nanoseconds, ElementsAre(1000000, 1000000));
}

TEST_F(DeviceExecutorTest, WhatNobodyWritesIsSeen) {
  Package package = makeToyPackage();
  // Four of the five elements.
  package.layers[1].launches[0].tasks = 2;
  auto executor = Executor::create(package, device);
  ASSERT_TRUE(executor) << executor.message();
  std::vector<float> in = {0, 1, 2, 3, 4}, out(5);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  ASSERT_TRUE((*executor)->poison());
  ASSERT_TRUE((*executor)->run(inputs, outputs));
  EXPECT_EQ(out[3], 15);
  EXPECT_TRUE(std::isnan(out[4]));
}

TEST_F(DeviceExecutorTest, SurvivesItsFile) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("tarpon-gpu-" + std::to_string(getpid()) + ".tpn");
  ASSERT_TRUE(writePackage(makeToyPackage(), path));
  auto package = readPackage(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->chip, "gfx942:cu=304");
  ASSERT_EQ(package->codeObjects.size(), 1u);
  EXPECT_EQ(package->codeObjects[0].workgroup, 256);
  EXPECT_EQ(package->kernelVersion, "");
  EXPECT_TRUE(Executor::create(std::move(*package), device));
}

/// The LDS that launches ask for comes from the package's file.
TEST_F(DeviceExecutorTest, DynamicLdsReachesTheLaunch) {
  Package toy = makeToyPackage();
  toy.codeObjects[0].ldsBytes = 65536;
  std::string path = std::filesystem::temp_directory_path() /
                     ("tarpon-lds-" + std::to_string(getpid()) + ".tpn");
  ASSERT_TRUE(writePackage(toy, path));
  auto package = readPackage(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(package) << package.message();
  auto executor = Executor::create(std::move(*package), device);
  ASSERT_TRUE(executor) << executor.message();
  EXPECT_EQ(device.log.back(), "launch scale 3x256, 65536 bytes of LDS");
}

TEST_F(DeviceExecutorTest, OtherChipsAreRefused) {
  Package package = makeToyPackage();
  package.chip = "gfx1100:cu=96";
  EXPECT_EQ(Executor::create(package, device).message(),
            "cannot run the package of model 'toy': it was compiled for "
            "gfx1100:cu=96, and this GPU is gfx942:cu=228");
  package.chip = "";
  package.arch = "x86-64";
  EXPECT_EQ(Executor::create(package, device).message(),
            "cannot run the package of model 'toy': it was compiled for "
            "x86-64, not for a GPU");
}

TEST_F(DeviceExecutorTest, MalformedPackagesAreRefused) {
  auto expectFault = [&](void (*spoil)(Package &), const char *message) {
    Package package = makeToyPackage();
    spoil(package);
    auto executor = Executor::create(package, device);
    ASSERT_FALSE(executor) << message;
    EXPECT_THAT(executor.message(), HasSubstr(message));
  };
  expectFault([](Package &p) { p.codeObjects.clear(); },
              "has a launch without a code object");
  expectFault([](Package &p) { p.codeObjects[0].bytes = 65; },
              "is not among the kernels");
  // It begins within the kernels and ends behind them.
  expectFault(
      [](Package &p) {
        p.kernels.resize(128);
        p.codeObjects[0].offset = 64;
        p.codeObjects[0].bytes = 65;
      },
      "is not among the kernels");
  expectFault([](Package &p) { p.codeObjects[0].offset = -64; },
              "is not among the kernels");
  expectFault([](Package &p) { p.codeObjects[0].workgroup = 2048; },
              "has workgroups of 2048");
  expectFault([](Package &p) { p.codeObjects[0].ldsBytes = -1; },
              "needs -1 bytes of LDS");
  expectFault([](Package &p) { p.codeObjects[0].ldsBytes = 1 << 21; },
              "needs 2097152 bytes of LDS");
  expectFault([](Package &p) { p.layers[0].launches[0].tasks = 1LL << 31; },
              "has a launch of 2147483648 workgroups");
  expectFault([](Package &p) { p.layers[0].launches[0].params[0] = 1LL << 32; },
              "has the parameter 4294967296");
}

TEST_F(DeviceExecutorTest, DeviceErrorsComeThrough) {
  device.bodies.clear();
  EXPECT_EQ(Executor::create(makeToyPackage(), device).message(),
            "cannot run the package of model 'toy': no kernel scale");
}

/// Memory of the toy holds something at first, as that of GPUs does.
TEST_F(DeviceExecutorTest, WhatNoKernelWritesIsZero) {
  Package package = makeToyPackage();
  package.layers[1].launches[0].tasks = 2;
  auto executor = Executor::create(package, device);
  ASSERT_TRUE(executor) << executor.message();
  std::vector<float> in = {0, 1, 2, 3, 4}, out(5, 1.0F);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  ASSERT_TRUE((*executor)->run(inputs, outputs));
  EXPECT_THAT(out, ElementsAre(3, 7, 11, 15, 0));
}

TEST_F(DeviceExecutorTest, ReplicasHaveTheConstantsOfTheDevice) {
  auto executor = Executor::create(makeToyPackage(), device);
  ASSERT_TRUE(executor) << executor.message();
  auto replica = (*executor)->replicate();
  ASSERT_TRUE(replica) << replica.message();
  executor->reset();
  std::vector<float> in = {0, 1, 2, 3, 4}, out(5);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  ASSERT_TRUE((*replica)->run(inputs, outputs));
  EXPECT_THAT(out, ElementsAre(3, 7, 11, 15, 19));
}

TEST_F(DeviceExecutorTest, ItsArenaIsOnTheDevice) {
  ExecutorOptions options;
  options.callerArena = true;
  EXPECT_EQ(Executor::create(makeToyPackage(), device, options).message(),
            "cannot run the package of model 'toy': an arena of the caller's "
            "is not memory of gfx942:cu=228");
}

TEST_F(DeviceExecutorTest, InstancesAreTimedByTheDevice) {
  device.milliseconds["scale"] = 2;
  auto inputs = makeRandomInputs(makeToyPackage(), /*seed=*/0);
  ASSERT_TRUE(inputs) << inputs.message();
  auto instance =
      Instance::create(makeToyPackage(), device, std::move(*inputs));
  ASSERT_TRUE(instance) << instance.message();
  auto rotation = makeRotation(std::move(*instance), /*rotateBytes=*/300);
  ASSERT_TRUE(rotation) << rotation.message();
  EXPECT_EQ(rotation->size(), 3u);
  // Two launches of two milliseconds each.
  EXPECT_EQ(measure(*rotation, {}).medianMs, 4);
  EXPECT_TRUE(rotation->front().failure());
  device.failure = "the GPU is gone";
  EXPECT_EQ(measure(*rotation, {}).medianMs,
            std::numeric_limits<double>::infinity());
  ASSERT_FALSE(rotation->front().failure());
  EXPECT_EQ(rotation->front().failure().message(), "the GPU is gone");
}
