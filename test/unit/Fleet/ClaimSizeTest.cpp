//===- ClaimSizeTest.cpp - How many jobs a worker takes at once -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClaimSize.h"

#include <gtest/gtest.h>

using tarpon::fleet::ClaimSize;

/// The size after many jobs of as many seconds.
static int64_t getSizeAfter(double seconds, double lease = 60) {
  ClaimSize size(lease);
  for (int i = 0; i < 100; ++i)
    size.note(seconds);
  return size.get();
}

TEST(ClaimSizeTest, ShortJobsAreTakenTogether) {
  EXPECT_EQ(ClaimSize(60).get(), 2);
  EXPECT_EQ(getSizeAfter(100), 2);
  EXPECT_EQ(getSizeAfter(0.9), 4);
  EXPECT_EQ(getSizeAfter(0.3), 13);
  EXPECT_EQ(getSizeAfter(0), 16);
}

/// What a worker holds when it dies waits for its lease.
TEST(ClaimSizeTest, ShortLeasesHoldFewJobs) {
  EXPECT_EQ(getSizeAfter(0.1, /*lease=*/6), 4);
  EXPECT_EQ(getSizeAfter(1, /*lease=*/3), 2);
}

TEST(ClaimSizeTest, OneLongJobDoesNotHideShortOnes) {
  ClaimSize size(60);
  for (int i = 0; i < 100; ++i)
    size.note(0.1);
  size.note(10);
  EXPECT_EQ(size.get(), 2);
  for (int i = 0; i < 20; ++i)
    size.note(0.1);
  EXPECT_GT(size.get(), 16 / 2);
}
