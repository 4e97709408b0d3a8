//===- DeviceLockTest.cpp - One process per device ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::fleet;

TEST(DeviceLockTest, DeviceHasOneHolderAtATime) {
  std::string device = "test " + std::to_string(getpid());
  DeviceLock first(device), second(device), other(device + " b");
  EXPECT_TRUE(first.tryTake());
  EXPECT_TRUE(first.tryTake());
  EXPECT_FALSE(second.tryTake());
  EXPECT_TRUE(other.tryTake());
  first.release();
  EXPECT_TRUE(second.tryTake());
  EXPECT_FALSE(first.tryTake());
  second.release();
  second.release();
  EXPECT_TRUE(first.tryTake());
}

TEST(DeviceLockTest, WhoWaitsLearnsWhyItWasInVain) {
  using std::chrono::milliseconds;
  std::string device = "test " + std::to_string(getpid());
  DeviceLock first(device), second(device);
  auto isLost = [] { return true; };
  auto isOwned = [] { return false; };
  EXPECT_EQ(first.take(isLost, milliseconds(0)), DeviceWait::Taken);
  EXPECT_EQ(second.take(isOwned, milliseconds(60)), DeviceWait::Busy);
  EXPECT_EQ(second.take(isLost, milliseconds(60)), DeviceWait::Lost);
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(60));
    first.release();
  });
  EXPECT_EQ(second.take(isOwned, std::chrono::minutes(1)), DeviceWait::Taken);
  other.join();
}

/// The stand-in for CUDA's driver has equal GPUs. Each process sees some of
/// them, the first of which it measures on.
TEST(DeviceLockTest, EqualGpusHaveALockEach) {
  auto findName = [](const char *first) {
    setenv("FAKE_CUDA_FIRST", first, 1);
    auto gpu = openCudaDevice({}, {{"sm_90a"}, TARPON_FAKE_CUDA});
    EXPECT_TRUE(gpu) << gpu.message();
    return getLockName(**gpu, "NVIDIA H100") + " of test " +
           std::to_string(getpid());
  };
  setenv("FAKE_CUDA_GPUS", "1", 1);
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  DeviceLock first(findName("0")), second(findName("1"));
  // The same GPU, which Slurm names otherwise.
  setenv("CUDA_VISIBLE_DEVICES", "GPU-a0a0", 1);
  DeviceLock same(findName("0"));
  for (const char *name :
       {"FAKE_CUDA_GPUS", "FAKE_CUDA_FIRST", "CUDA_VISIBLE_DEVICES"})
    unsetenv(name);
  EXPECT_TRUE(first.tryTake());
  EXPECT_TRUE(second.tryTake());
  EXPECT_FALSE(same.tryTake());
}

TEST(DeviceLockTest, DeviceIsFreeAgainAfterItsHolder) {
  std::string device = "test " + std::to_string(getpid());
  {
    EXPECT_TRUE(DeviceLock(device).tryTake());
  }
  EXPECT_TRUE(DeviceLock(device).tryTake());
}
