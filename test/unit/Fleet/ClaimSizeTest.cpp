//===- ClaimSizeTest.cpp - How many jobs a worker takes at once -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClaimSize.h"

#include <gtest/gtest.h>

using tarpon::fleet::ClaimSize;
using Seconds = ClaimSize::Seconds;

/// The size after many jobs of as many seconds.
static int64_t getSizeAfter(double seconds, double lease = 60) {
  ClaimSize size(lease);
  for (int i = 0; i < 20; ++i)
    size.note(Seconds(seconds));
  return size.get();
}

TEST(ClaimSizeTest, ShortJobsAreTakenTogether) {
  EXPECT_EQ(getSizeAfter(100), 1);
  EXPECT_EQ(getSizeAfter(2.1), 1);
  EXPECT_EQ(getSizeAfter(1.9), 2);
  EXPECT_EQ(getSizeAfter(0.9), 4);
  EXPECT_EQ(getSizeAfter(0.3), 13);
  EXPECT_EQ(getSizeAfter(0), 16);
}

TEST(ClaimSizeTest, OneShortJobSaysNothing) {
  ClaimSize size(60);
  EXPECT_EQ(size.get(), 1);
  for (int i = 0; i < 7; ++i) {
    size.note(Seconds(0.001));
    EXPECT_EQ(size.get(), 1);
  }
  size.note(Seconds(0.001));
  EXPECT_EQ(size.get(), 16);
}

/// What a worker holds when it dies waits for its lease.
TEST(ClaimSizeTest, ShortLeasesHoldFewJobs) {
  EXPECT_EQ(getSizeAfter(0.1, /*lease=*/6), 4);
  EXPECT_EQ(getSizeAfter(1, /*lease=*/3), 1);
}

/// As where a search that is over takes milliseconds, and a round half a
/// minute.
TEST(ClaimSizeTest, LongJobsAmongShortOnesCount) {
  ClaimSize size(60);
  for (int i = 0; i < 40; ++i) {
    size.note(Seconds(i % 5 ? 0.005 : 30));
    EXPECT_EQ(size.get(), 1);
  }
}

TEST(ClaimSizeTest, JobsThatWaitTooLongAreGivenBack) {
  ClaimSize size(60);
  EXPECT_FALSE(size.isLate(5, Seconds(7)));
  EXPECT_TRUE(size.isLate(5, Seconds(9)));
  EXPECT_FALSE(size.isLate(1, Seconds(7)));
  EXPECT_TRUE(size.isLate(1, Seconds(9)));
  // Somebody has to begin the first one.
  EXPECT_FALSE(size.isLate(0, Seconds(900)));
}

/// Nobody is idle while another one has two jobs of minutes.
TEST(ClaimSizeTest, FewLongJobsAreSharedByAll) {
  constexpr int kWorkers = 40;
  int jobs = kWorkers, busy = 0;
  for (; jobs > 0; ++busy)
    jobs -= static_cast<int>(ClaimSize(/*leaseSeconds=*/60).get());
  EXPECT_EQ(busy, kWorkers);
}
