//===- DeadlineTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Deadline.h"

#include "gtest/gtest.h"

#include <cmath>

using tarpon::Deadline;

TEST(DeadlineTest, NeverIsNeverOver) {
  EXPECT_FALSE(Deadline::never().isBounded());
  EXPECT_FALSE(Deadline::never().isOver());
  EXPECT_TRUE(std::isinf(Deadline::never().remainingSeconds()));
  EXPECT_FALSE(Deadline::never().part(0.5).isBounded());
}

TEST(DeadlineTest, NoTimeIsOverAtOnce) {
  EXPECT_TRUE(Deadline::after(0).isOver());
  EXPECT_TRUE(Deadline::after(-5).isOver());
  EXPECT_EQ(Deadline::after(0).remainingSeconds(), 0);
}

TEST(DeadlineTest, CountsDown) {
  Deadline deadline = Deadline::after(100);
  EXPECT_FALSE(deadline.isOver());
  EXPECT_LE(deadline.remainingSeconds(), 100);
  EXPECT_GT(deadline.remainingSeconds(), 90);
  EXPECT_LE(deadline.part(0.5).remainingSeconds(), 50);
}

TEST(DeadlineTest, EndsWhenAConditionHolds) {
  bool isLost = false;
  Deadline::Condition condition = [&] { return isLost; };
  Deadline deadline = Deadline::never().orWhen(condition);
  Deadline part = Deadline::after(100).orWhen(condition).part(0.5);
  EXPECT_FALSE(deadline.isOver());
  EXPECT_FALSE(part.isOver());
  isLost = true;
  EXPECT_TRUE(deadline.isOver());
  EXPECT_TRUE(part.isOver());
  EXPECT_EQ(deadline.remainingSeconds(), 0);
}

TEST(DeadlineTest, TheSoonerOfTwoCounts) {
  bool isLost = false;
  Deadline::Condition condition = [&] { return isLost; };
  Deadline deadline = Deadline::after(100).orWhen(condition);
  EXPECT_LE(deadline.within(1).remainingSeconds(), 1);
  EXPECT_GT(deadline.within(1000).remainingSeconds(), 90);
  EXPECT_LE(deadline.within(1000).remainingSeconds(), 100);
  EXPECT_FALSE(Deadline::never().within(INFINITY).isBounded());
  isLost = true;
  EXPECT_TRUE(deadline.within(1).isOver());
}

TEST(DeadlineTest, TimesBeyondTheClockMeanNever) {
  EXPECT_FALSE(Deadline::after(1e300).isBounded());
  EXPECT_FALSE(Deadline::after(INFINITY).isBounded());
  EXPECT_FALSE(Deadline::after(NAN).isBounded());
}
