//===- GpuExecutorTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuExecutor.h"

#include "ToyDevice.h"
#include "tarpon/Runtime/KernelABI.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <filesystem>

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

class GpuExecutorTest : public testing::Test {
protected:
  GpuExecutorTest() { device.bodies["scale"] = scale; }

  /// scale(scale(x, 2) + 1, 2) + 1 of five elements.
  static Package makePackage() {
    Package package;
    package.modelName = "toy";
    package.arch = "amdgcn";
    package.gpuTarget = "gfx942:cu=304";
    TensorInfo tensor;
    tensor.name = "x";
    tensor.shape = {5};
    package.inputs = {tensor};
    package.outputs = {tensor};
    package.arenaBytes = 64;
    std::vector<float> factors(5, 2.0F);
    const char *bytes = reinterpret_cast<const char *>(factors.data());
    package.constants.assign(bytes, bytes + 20);
    package.kernels.assign(64, 0);
    std::memcpy(package.kernels.data(),
                "\x7f"
                "ELF\2\1",
                6);
    package.codeObjects = {{"scale", 0, 64, 256}};
    Launch first;
    first.symbol = "scale";
    first.buffers = {{BufferSpace::Input, 0},
                     {BufferSpace::Constant, 0},
                     {BufferSpace::Arena, 0}};
    first.params = {5, floatParam(1.0F)};
    first.tasks = 3;
    Launch second = first;
    second.buffers[0] = {BufferSpace::Arena, 0};
    second.buffers[2] = {BufferSpace::Output, 0};
    for (const Launch &launch : {first, second}) {
      Layer layer;
      layer.name = "layer";
      layer.launches = {launch};
      package.layers.push_back(layer);
    }
    return package;
  }

  ToyDevice device;
};

} // namespace

TEST_F(GpuExecutorTest, RunsAndTimes) {
  auto executor = GpuExecutor::create(makePackage(), device);
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
  EXPECT_THAT(*(*executor)->timeLayers(), ElementsAre(1.0, 1.0));
}

TEST_F(GpuExecutorTest, WhatNobodyWritesIsSeen) {
  Package package = makePackage();
  // Four of the five elements.
  package.layers[1].launches[0].tasks = 2;
  auto executor = GpuExecutor::create(package, device);
  ASSERT_TRUE(executor) << executor.message();
  std::vector<float> in = {0, 1, 2, 3, 4}, out(5);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  ASSERT_TRUE((*executor)->poison());
  ASSERT_TRUE((*executor)->run(inputs, outputs));
  EXPECT_EQ(out[3], 15);
  EXPECT_TRUE(std::isnan(out[4]));
}

TEST_F(GpuExecutorTest, SurvivesItsFile) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("tarpon-gpu-" + std::to_string(getpid()) + ".tpn");
  ASSERT_TRUE(writePackage(makePackage(), path));
  auto package = readPackage(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->gpuTarget, "gfx942:cu=304");
  ASSERT_EQ(package->codeObjects.size(), 1u);
  EXPECT_EQ(package->codeObjects[0].workgroup, 256);
  EXPECT_EQ(package->kernelVersion, "");
  EXPECT_TRUE(GpuExecutor::create(std::move(*package), device));
}

TEST_F(GpuExecutorTest, OtherChipsAreRefused) {
  Package package = makePackage();
  package.gpuTarget = "gfx1100:cu=96";
  EXPECT_EQ(GpuExecutor::create(package, device).message(),
            "it was compiled for gfx1100:cu=96, and this GPU is gfx942:cu=228");
  package.gpuTarget = "";
  package.arch = "x86-64";
  EXPECT_EQ(GpuExecutor::create(package, device).message(),
            "it was compiled for x86-64, not for a GPU");
}

TEST_F(GpuExecutorTest, MalformedPackagesAreRefused) {
  auto expectFault = [&](void (*spoil)(Package &), const char *message) {
    Package package = makePackage();
    spoil(package);
    auto executor = GpuExecutor::create(package, device);
    ASSERT_FALSE(executor) << message;
    EXPECT_THAT(executor.message(), HasSubstr(message));
  };
  expectFault([](Package &p) { p.codeObjects.clear(); },
              "has a launch without a code object");
  expectFault([](Package &p) { p.kernels[1] = 0; },
              "is not an ELF shared object");
  expectFault([](Package &p) { p.codeObjects[0].bytes = 65; },
              "is not among the kernels");
  expectFault([](Package &p) { p.codeObjects[0].offset = -64; },
              "is not among the kernels");
  expectFault([](Package &p) { p.codeObjects[0].workgroup = 2048; },
              "has workgroups of 2048");
  expectFault([](Package &p) { p.layers[0].launches[0].tasks = 1LL << 31; },
              "has a launch of 2147483648 workgroups");
  expectFault([](Package &p) { p.layers[0].launches[0].params[0] = 1LL << 32; },
              "has the parameter 4294967296");
}

TEST_F(GpuExecutorTest, DeviceErrorsComeThrough) {
  device.bodies.clear();
  EXPECT_EQ(GpuExecutor::create(makePackage(), device).message(),
            "no kernel scale");
}
