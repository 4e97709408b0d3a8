//===- TypicalRatiosTest.cpp ----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TypicalRatios.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace tarpon;

namespace {

class TypicalRatiosTest : public testing::Test {
protected:
  static constexpr double kPrior = 0.3;
  TypicalRatios ratios{kPrior};
  const std::string relu = "relu f32 f32", gelu = "gelu f32 f32";
};

} // namespace

TEST_F(TypicalRatiosTest, NothingIsTypicalAtFirst) {
  EXPECT_EQ(ratios.find(relu).ratio, 1);
  EXPECT_EQ(ratios.find(relu).deviation, kPrior);
  ratios.add(relu, 5, 0);
  ratios.add(relu, 0, 5);
  EXPECT_EQ(ratios.find(relu).ratio, 1);
}

TEST_F(TypicalRatiosTest, LongOnesCountMost) {
  ratios.add(relu, 30, 10);
  ratios.add(relu, 1, 1);
  ratios.add(relu, 2, 1);
  EXPECT_EQ(ratios.find(relu).ratio, 3);
}

/// Seven tenths of the time have a ratio of 2. Three tenths have 4, which is
/// off by all of that: by 0.3 on average.
TEST_F(TypicalRatiosTest, DeviationsComeFromWhatIsKnown) {
  ratios.add(relu, 14, 7);
  ratios.add(relu, 12, 3);
  TypicalRatio typical = ratios.find(relu);
  EXPECT_EQ(typical.ratio, 2);
  EXPECT_NEAR(typical.deviation,
              std::sqrt((2 * 0.3 * 0.3 + kPrior * kPrior) / 3), 1e-12);
}

TEST_F(TypicalRatiosTest, ManyEqualRatiosAreTrusted) {
  for (int i = 0; i < 99; ++i)
    ratios.add(relu, 2, 1);
  EXPECT_NEAR(ratios.find(relu).deviation, kPrior / 10, 1e-12);
}

TEST_F(TypicalRatiosTest, OtherKindsTellTheRatioAndNotItsDeviation) {
  for (int i = 0; i < 99; ++i)
    ratios.add(relu, 2, 1);
  EXPECT_EQ(ratios.find(gelu).ratio, 2);
  EXPECT_EQ(ratios.find(gelu).deviation, kPrior);
  ratios.add(gelu, 5, 1);
  EXPECT_EQ(ratios.find(gelu).ratio, 5);
}

TEST_F(TypicalRatiosTest, KindsSayWhatIsReadAndWritten) {
  EXPECT_EQ(getKind(*parseProblem("relu(1x8xf32)->1x8xf32")), "relu f32 f32");
  EXPECT_EQ(getKind(*parseProblem("convert(1x8xf32)->1x8xu8q")),
            "convert f32 u8q");
}
