//===- HipDeviceTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"

#include "ToyDevice.h"
#include "tarpon/Runtime/Executor.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <numeric>

using namespace tarpon;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {

/// A machine with the stand-in library and a driver that knows an MI300X and an
/// MI250X behind a CPU.
class HipDeviceTest : public testing::Test {
protected:
  HipDeviceTest() {
    std::string text = fs::temp_directory_path() / "tarpon-hip-XXXXXX";
    directory = mkdtemp(text.data());
    addNode(0, 0, 0);
    addNode(1, 90402, 0xc1 << 8);
    addNode(2, 90010, 0xc2 << 8);
    options.library = TARPON_FAKE_HIP;
    options.topology = directory / "nodes";
    setenv("FAKE_HIP_LOG", (directory / "log").c_str(), 1);
    setenv("FAKE_HIP_GPUS", "1", 1);
    unsetenv("FAKE_HIP_FAIL");
  }
  ~HipDeviceTest() override { fs::remove_all(directory); }

  void addNode(int index, int version, int location) {
    fs::path node = directory / "nodes" / std::to_string(index);
    fs::create_directories(node);
    std::ofstream(node / "properties")
        << "cpu_cores_count " << (version ? 0 : 64) << "\ngfx_target_version "
        << version << "\nlocation_id " << location << "\ndomain 0\n";
  }

  std::unique_ptr<runtime::Device> open() {
    auto devices = openHipDevices(options);
    EXPECT_TRUE(devices) << devices.message();
    return devices ? std::move(devices->front()) : nullptr;
  }

  /// The calls since the last time.
  std::vector<std::string> takeLog() {
    std::vector<std::string> lines;
    std::ifstream file(directory / "log");
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
    fs::remove(directory / "log");
    return lines;
  }

  fs::path directory;
  HipOptions options;
};

} // namespace

/// As many bytes, which begin as a code object does.
static std::vector<char> makeElf(size_t bytes) {
  std::vector<char> code(bytes);
  std::memcpy(code.data(),
              "\x7f"
              "ELF\2\1",
              6);
  return code;
}

TEST_F(HipDeviceTest, DevicesAreNamedByTheDriver) {
  setenv("FAKE_HIP_GPUS", "2", 1);
  auto devices = openHipDevices(options);
  ASSERT_TRUE(devices) << devices.message();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0]->target(), "gfx942:cu=304");
  EXPECT_EQ((*devices)[1]->target(), "gfx90a:cu=304");
  EXPECT_EQ((*devices)[0]->name(), "AMD Instinct");
}

TEST_F(HipDeviceTest, CopiesWhatItIsGiven) {
  auto device = open();
  ASSERT_TRUE(device);
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory) << memory.message();
  std::vector<char> in(32), out(32);
  std::iota(in.begin(), in.end(), 0);
  ASSERT_TRUE(device->copyIn(**memory, 16, in));
  ASSERT_TRUE(device->copyOut(out, **memory, 16));
  EXPECT_EQ(in, out);
  auto over = device->copyIn(**memory, 33, in);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.message(),
            "a copy to a GPU takes 32 bytes at 33 of a buffer of 64");
  EXPECT_FALSE(device->copyOut(out, **memory, -1));
}

/// HIP need not survive other bytes.
TEST_F(HipDeviceTest, WhatIsNoElfIsRefused) {
  auto device = open();
  ASSERT_TRUE(device);
  takeLog();
  for (const std::vector<char> &code :
       {std::vector<char>(), std::vector<char>(64), makeElf(63)})
    EXPECT_EQ(device->loadKernel(code, "conv").message(),
              "a code object is not an ELF shared object");
  EXPECT_THAT(takeLog(), ElementsAre());
}

TEST_F(HipDeviceTest, LaunchesAndTimes) {
  auto device = open();
  ASSERT_TRUE(device);
  takeLog();
  std::vector<char> code = makeElf(64);
  auto kernel = device->loadKernel(code, "conv");
  auto again = device->loadKernel(code, "pool");
  ASSERT_TRUE(kernel && again);
  void *buffers[2] = {};
  int64_t params[1] = {};
  runtime::DeviceLaunch launch{buffers, params, /*tasks=*/7, /*workgroup=*/256};
  auto time = device->time([&] { return device->launch(**kernel, launch); });
  ASSERT_TRUE(time) << time.message();
  EXPECT_EQ(*time, 1.5);
  EXPECT_THAT(takeLog(),
              ElementsAre("hipSetDevice 0", "hipModuleLoadData",
                          "hipModuleGetFunction conv", "hipSetDevice 0",
                          "hipModuleGetFunction pool", "hipSetDevice 0",
                          "hipEventRecord", "hipSetDevice 0",
                          "hipModuleLaunchKernel 7 1 1 256 1 1 0 20 bytes",
                          "hipEventRecord", "hipEventSynchronize",
                          "hipEventElapsedTime"));
}

TEST_F(HipDeviceTest, CapturesAGraph) {
  auto device = open();
  ASSERT_TRUE(device);
  std::vector<char> code = makeElf(64);
  auto kernel = device->loadKernel(code, "conv");
  ASSERT_TRUE(kernel);
  takeLog();
  {
    runtime::DeviceLaunch launch;
    launch.workgroup = 64;
    auto graph =
        device->capture([&] { return device->launch(**kernel, launch); });
    ASSERT_TRUE(graph) << graph.message();
    ASSERT_TRUE(device->launch(**graph));
  }
  EXPECT_THAT(takeLog(),
              ElementsAre("hipSetDevice 0", "hipStreamBeginCapture 1",
                          "hipSetDevice 0",
                          "hipModuleLaunchKernel 1 1 1 64 1 1 0 0 bytes",
                          "hipStreamEndCapture", "hipGraphInstantiate",
                          "hipGraphDestroy", "hipSetDevice 0", "hipGraphLaunch",
                          "hipGraphExecDestroy"));
  // A capture that fails ends nevertheless.
  auto failed = device->capture(
      [] { return runtime::Status(runtime::Error{"no such kernel"}); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.message(), "no such kernel");
  EXPECT_THAT(takeLog(),
              ElementsAre("hipSetDevice 0", "hipStreamBeginCapture 1",
                          "hipStreamEndCapture", "hipGraphDestroy"));
}

TEST_F(HipDeviceTest, ErrorsNameTheCall) {
  auto device = open();
  ASSERT_TRUE(device);
  std::vector<char> code = makeElf(64);
  auto kernel = device->loadKernel(code, "conv");
  ASSERT_TRUE(kernel);
  setenv("FAKE_HIP_FAIL", "hipMalloc", 1);
  EXPECT_EQ(device->allocate(64).message(),
            "hipMalloc of 64 bytes has failed: out of memory (2)");
  unsetenv("FAKE_HIP_FAIL");
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory) << memory.message();
  setenv("FAKE_HIP_FAIL", "hipMemsetAsync", 1);
  EXPECT_EQ(device->fill(**memory, 0).message(),
            "hipMemsetAsync of 64 bytes has failed: out of memory (2)");
  setenv("FAKE_HIP_FAIL", "hipSetDevice", 1);
  EXPECT_EQ(device->synchronize().message(),
            "hipSetDevice of GPU 0 has failed: out of memory (2)");
  setenv("FAKE_HIP_FAIL", "hipModuleLaunchKernel", 1);
  runtime::DeviceLaunch launch;
  launch.tasks = 3;
  launch.workgroup = 64;
  EXPECT_EQ(device->launch(**kernel, launch).message(),
            "hipModuleLaunchKernel of 'conv' (3 workgroups of 64, 0 bytes "
            "of arguments) has failed: out of memory (2)");
  setenv("FAKE_HIP_FAIL", "hipModuleLoadData", 1);
  std::vector<char> other = makeElf(72);
  EXPECT_EQ(
      device->loadKernel(other, "pool").message(),
      "hipModuleLoadData of 72 bytes for gfx942:cu=304 has failed: out of "
      "memory (2)");
  for (const char *function :
       {"hipStreamCreate", "hipEventCreate", "hipDeviceGetAttribute"}) {
    setenv("FAKE_HIP_FAIL", function, 1);
    auto devices = openHipDevices(options);
    ASSERT_FALSE(devices);
    EXPECT_THAT(devices.message(),
                StartsWith("GPU 0: " + std::string(function)));
  }
}

/// Copies are asynchronous: who frees an input after a run that failed must not
/// free what the GPU still reads.
TEST_F(HipDeviceTest, ARunThatFailsWaitsForItsCopies) {
  auto device = open();
  ASSERT_TRUE(device);
  runtime::Package package = test::makeToyPackage();
  auto executor = runtime::Executor::create(package, *device);
  ASSERT_TRUE(executor) << executor.message();
  std::vector<float> in(5), out(5);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  takeLog();
  setenv("FAKE_HIP_FAIL", "hipGraphLaunch", 1);
  auto status = (*executor)->run(inputs, outputs);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "hipGraphLaunch has failed: out of memory (2)");
  EXPECT_THAT(takeLog(), ElementsAre("hipSetDevice 0", "hipMemcpyAsync 20 1",
                                     "hipSetDevice 0", "hipGraphLaunch",
                                     "hipSetDevice 0", "hipStreamSynchronize"));
  // The first of two copies may have been queued.
  setenv("FAKE_HIP_FAIL", "hipMemcpyAsync", 1);
  EXPECT_FALSE((*executor)->run(inputs, outputs));
  EXPECT_EQ(takeLog().back(), "hipStreamSynchronize");
  setenv("FAKE_HIP_FAIL", "hipModuleLaunchKernel", 1);
  std::vector<int64_t> nanoseconds;
  EXPECT_FALSE((*executor)->runProfiled(inputs, outputs, nanoseconds));
  EXPECT_EQ(takeLog().back(), "hipStreamSynchronize");
}

/// HIP has a current device per thread.
TEST_F(HipDeviceTest, SelectsTheDeviceOfEachCall) {
  setenv("FAKE_HIP_GPUS", "2", 1);
  auto devices = openHipDevices(options);
  ASSERT_TRUE(devices) << devices.message();
  runtime::Device &second = *(*devices)[1];
  auto memory = second.allocate(8);
  ASSERT_TRUE(memory) << memory.message();
  std::vector<char> bytes(8);
  takeLog();
  EXPECT_TRUE(second.fill(**memory, 0));
  EXPECT_THAT(takeLog(), ElementsAre("hipSetDevice 1", "hipMemsetAsync 8"));
  EXPECT_TRUE(second.copyIn(**memory, 0, bytes));
  EXPECT_THAT(takeLog(), ElementsAre("hipSetDevice 1", "hipMemcpyAsync 8 1"));
  EXPECT_TRUE(second.copyOut(bytes, **memory, 0));
  EXPECT_THAT(takeLog(), ElementsAre("hipSetDevice 1", "hipMemcpyAsync 8 2",
                                     "hipSetDevice 1", "hipStreamSynchronize"));
}

TEST_F(HipDeviceTest, GpuThatTheDriverDoesNotKnow) {
  fs::remove_all(directory / "nodes" / "1");
  auto devices = openHipDevices(options);
  ASSERT_FALSE(devices);
  EXPECT_THAT(devices.message(), HasSubstr("has none at PCI bus 0:193:0"));
}

TEST_F(HipDeviceTest, NoGpuIsOneSentence) {
  setenv("FAKE_HIP_GPUS", "0", 1);
  EXPECT_EQ(openHipDevices(options).message(),
            "HIP finds no GPU on this machine; models can be compiled for AMD "
            "GPUs, but not run on one");
}

TEST_F(HipDeviceTest, LibraryThatLacksAFunction) {
  options.library = "libm.so.6";
  EXPECT_EQ(openHipDevices(options).message(),
            "the HIP runtime has no function hipInit: it is older than ROCm 5");
  options.library = "/nowhere/libamdhip64.so";
  EXPECT_THAT(openHipDevices(options).message(),
              StartsWith("the HIP runtime cannot be loaded: /nowhere/"));
}

/// With Debian's libamdhip64-5 or without it: either sentence.
TEST(HipDeviceOfThisMachine, SaysWhatIsMissing) {
  unsetenv("TARPON_HIP_LIBRARY");
  auto devices = openHipDevices();
  if (devices)
    GTEST_SKIP() << "there is a GPU";
  bool hasLibrary = false;
  for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6",
                           "libamdhip64.so.5", "libamdhip64.so"})
    hasLibrary |= dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr;
  EXPECT_THAT(devices.message(),
              StartsWith(hasLibrary ? "HIP finds no GPU on this machine; "
                                    : "the HIP runtime (libamdhip64.so) is not "
                                      "installed; "));
  EXPECT_THAT(devices.message(), Not(HasSubstr("\n")));
}
