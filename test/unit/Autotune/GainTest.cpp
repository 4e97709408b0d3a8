//===- GainTest.cpp -------------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Gain.h"

#include "gtest/gtest.h"

#include <limits>

using tarpon::describeGain;

TEST(GainTest, SaysWhatWasGainedAndWhatMayBe) {
  EXPECT_EQ(describeGain(10, 9.4, 0.031), ", 6 % gained, at most 3 % left");
  EXPECT_EQ(describeGain(10, 11, -0.1), ", 0 % gained, at most 0 % left");
}

TEST(GainTest, SaysNothingBeforeThereIsAPlan) {
  EXPECT_EQ(describeGain(0, 9, 0.1), "");
  EXPECT_EQ(describeGain(10, std::numeric_limits<double>::infinity(), 0.1), "");
}
