//===- CudaDeviceTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rest is in StreamDeviceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include "../GPU/TestFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <thread>

using namespace tarpon;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

class CudaDeviceTest : public testing::Test {
protected:
  CudaDeviceTest() {
    setenv("FAKE_CUDA_LOG", (folder.path / "log").c_str(), 1);
    setenv("FAKE_CUDA_GPUS", "1", 1);
    unsetenv("FAKE_CUDA_FAIL");
    unsetenv("FAKE_CUDA_CAPABILITY");
    unsetenv("FAKE_CUDA_CLOCK");
  }

  std::unique_ptr<runtime::Device> open() {
    auto device = openCudaDevice({}, options);
    EXPECT_TRUE(device) << device.message();
    return device ? std::move(*device) : nullptr;
  }
  std::vector<std::string> takeLog() { return folder.takeLines("log"); }

  test::TestFolder folder;
  CudaOptions options = {{"sm_80", "sm_89", "sm_90a", "sm_100a"},
                         TARPON_FAKE_CUDA};
};

} // namespace

TEST_F(CudaDeviceTest, ChipsAreFoundByCapability) {
  EXPECT_EQ(open()->target(), "sm_90a:cu=132:bw=3352");
  EXPECT_EQ(open()->name(), "NVIDIA H100");
  setenv("FAKE_CUDA_CAPABILITY", "89", 1);
  EXPECT_EQ(open()->target(), "sm_89:cu=132:bw=3352");
  setenv("FAKE_CUDA_CAPABILITY", "100", 1);
  EXPECT_EQ(open()->target(), "sm_100a:cu=132:bw=3352");
  // "sm_100a" begins with "sm_10", too.
  setenv("FAKE_CUDA_CAPABILITY", "10", 1);
  EXPECT_EQ(open()->target(), "sm_10:cu=132:bw=3352");
}

/// An H100 and an H200 have the same chip and as many units.
TEST_F(CudaDeviceTest, GpusAreToldApartByTheirMemory) {
  setenv("FAKE_CUDA_CLOCK", "3841000", 1);
  EXPECT_EQ(open()->target(), "sm_90a:cu=132:bw=4916");
  options.normalise = [](const std::string &name) { return name + "!"; };
  EXPECT_EQ(open()->target(), "sm_90a:cu=132:bw=4916!");
  auto found = findCudaDevice({}, options);
  ASSERT_TRUE(found) << found.message();
  EXPECT_EQ(*found, "sm_90a:cu=132:bw=4916!");
  setenv("FAKE_CUDA_CLOCK", "0", 1);
  options.normalise = nullptr;
  EXPECT_EQ(open()->target(), "sm_90a:cu=132");
  setenv("FAKE_CUDA_FAIL", "cuDeviceGetAttribute", 1);
  EXPECT_THAT(findCudaDevice({}, options).message(),
              StartsWith("GPU 0: cuDeviceGetAttribute of the "));
}

/// Equal GPUs of a machine are told apart, whatever the number is that a
/// process sees them by.
TEST_F(CudaDeviceTest, GpusAreToldApartByTheirUuid) {
  setenv("FAKE_CUDA_GPUS", "2", 1);
  EXPECT_EQ(open()->identity(), "GPU-a0a0a0a0a0a0a0a0a0a0a0a0a0a0a000");
  auto second = openCudaDevice({"", 1}, options);
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ((*second)->identity(), "GPU-a0a0a0a0a0a0a0a0a0a0a0a0a0a0a001");
  setenv("FAKE_CUDA_FIRST", "1", 1);
  EXPECT_EQ(open()->identity(), (*second)->identity());
  unsetenv("FAKE_CUDA_FIRST");
  setenv("FAKE_CUDA_FAIL", "cuDeviceGetUuid", 1);
  EXPECT_THAT(openCudaDevice({}, options).message(),
              HasSubstr("cuDeviceGetUuid has failed"));
}

/// The driver takes text up to a NUL, and says what is wrong with it.
TEST_F(CudaDeviceTest, PtxIsTerminated) {
  auto device = open();
  ASSERT_TRUE(device);
  takeLog();
  std::string ptx = "//\n.version 8.0\n.target sm_90a\n";
  auto kernel = device->loadKernel(ptx, "conv");
  ASSERT_TRUE(kernel) << kernel.message();
  EXPECT_THAT(takeLog(),
              ElementsAre("cuCtxSetCurrent 0", "cuModuleLoadDataEx 31 of PTX",
                          "cuModuleGetFunction conv"));
  setenv("FAKE_CUDA_FAIL", "cuModuleLoadDataEx", 1);
  EXPECT_EQ(device->loadKernel(ptx + "}", "conv").message(),
            "cuModuleLoadDataEx of 32 bytes for sm_90a:cu=132:bw=3352 has "
            "failed: out of memory (2): ptxas fatal line 7");
}

/// A kernel needs permission for more than 48 KiB, once.
TEST_F(CudaDeviceTest, DynamicLdsIsAskedForOnce) {
  auto device = open();
  ASSERT_TRUE(device);
  auto kernel = device->loadKernel(test::makeElf(64), "conv");
  ASSERT_TRUE(kernel);
  runtime::DeviceLaunch launch;
  launch.workgroup = 128;
  launch.ldsBytes = 48 << 10;
  takeLog();
  ASSERT_TRUE(device->launch(**kernel, launch));
  EXPECT_THAT(takeLog(),
              ElementsAre("cuCtxSetCurrent 0",
                          "cuLaunchKernel 1 1 1 128 1 1 49152 0 bytes"));
  launch.ldsBytes = 200 << 10;
  ASSERT_TRUE(device->launch(**kernel, launch));
  ASSERT_TRUE(device->launch(**kernel, launch));
  EXPECT_THAT(takeLog(),
              ElementsAre("cuCtxSetCurrent 0", "cuFuncSetAttribute 8 204800",
                          "cuLaunchKernel 1 1 1 128 1 1 204800 0 bytes",
                          "cuCtxSetCurrent 0",
                          "cuLaunchKernel 1 1 1 128 1 1 204800 0 bytes"));
  setenv("FAKE_CUDA_FAIL", "cuFuncSetAttribute", 1);
  launch.ldsBytes = 300 << 10;
  EXPECT_EQ(device->launch(**kernel, launch).message(),
            "cuFuncSetAttribute of 'conv' to 307200 bytes of LDS has failed: "
            "out of memory (2)");
  setenv("FAKE_CUDA_FAIL", "cuLaunchKernel", 1);
  launch.ldsBytes = 1024;
  EXPECT_EQ(device->launch(**kernel, launch).message(),
            "cuLaunchKernel of 'conv' (1 workgroups of 128, 0 bytes of "
            "arguments, 1024 bytes of dynamic LDS) has failed: out of memory "
            "(2)");
}

/// A thread begins without a context, and memory outlives the device.
TEST_F(CudaDeviceTest, TheContextIsEveryThreadsAndReleasedLast) {
  auto device = open();
  ASSERT_TRUE(device);
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory);
  device.reset();
  EXPECT_THAT(takeLog(), Not(Contains("cuDevicePrimaryCtxRelease 0")));
  std::thread([&] { memory->reset(); }).join();
  EXPECT_THAT(takeLog(), ElementsAre("cuCtxSetCurrent 0", "cuMemFree",
                                     "cuDevicePrimaryCtxRelease 0"));
}

TEST_F(CudaDeviceTest, WithoutAGpuOrADriver) {
  setenv("FAKE_CUDA_GPUS", "0", 1);
  EXPECT_EQ(openCudaDevice({}, options).message(),
            "CUDA finds no GPU on this machine; models can be compiled for "
            "NVIDIA GPUs, but not run on one");
  setenv("FAKE_CUDA_GPUS", "1", 1);
  setenv("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain", 1);
  EXPECT_EQ(openCudaDevice({}, options).message(),
            "GPU 0: cuDevicePrimaryCtxRetain has failed: out of memory (2)");
  setenv("FAKE_CUDA_FAIL", "cuInit", 1);
  EXPECT_EQ(openCudaDevice({}, options).message(),
            "cuInit or cuDeviceGetCount has failed: out of memory (2)");
  options.library = "libm.so.6";
  EXPECT_EQ(openCudaDevice({}, options).message(),
            "the CUDA driver has no function cuInit: it is older than CUDA 12");
  options.library = "/nowhere/libcuda.so.1";
  EXPECT_THAT(openCudaDevice({}, options).message(),
              StartsWith("the CUDA driver cannot be loaded: /nowhere/"));
}

/// With a driver or without it: either sentence.
TEST(CudaDeviceOfThisMachine, SaysWhatIsMissing) {
  unsetenv("TARPON_CUDA_LIBRARY");
  auto device = openCudaDevice({}, {{"sm_90a"}, ""});
  if (device)
    GTEST_SKIP() << "there is a GPU";
  bool hasLibrary = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
  EXPECT_THAT(device.message(),
              StartsWith(hasLibrary ? "CUDA finds no GPU on this machine; "
                                    : "the CUDA driver (libcuda.so.1) is not "
                                      "installed; "));
  EXPECT_THAT(device.message(), Not(HasSubstr("\n")));
}
