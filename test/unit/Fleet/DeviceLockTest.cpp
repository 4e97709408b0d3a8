//===- DeviceLockTest.cpp - One process per device ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "gtest/gtest.h"

#include <string>
#include <unistd.h>

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

TEST(DeviceLockTest, DeviceIsFreeAgainAfterItsHolder) {
  std::string device = "test " + std::to_string(getpid());
  {
    EXPECT_TRUE(DeviceLock(device).tryTake());
  }
  EXPECT_TRUE(DeviceLock(device).tryTake());
}
