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

  void add(const std::string &kind, double numerator, double denominator) {
    ratios.add("", kind, numerator, denominator);
  }
  TypicalRatio find(const std::string &kind) const {
    return ratios.find("", kind);
  }
};

} // namespace

TEST_F(TypicalRatiosTest, NothingIsTypicalAtFirst) {
  EXPECT_EQ(find(relu).ratio, 1);
  EXPECT_EQ(find(relu).deviation, kPrior);
  add(relu, 5, 0);
  add(relu, 0, 5);
  EXPECT_EQ(find(relu).ratio, 1);
}

TEST_F(TypicalRatiosTest, LongOnesCountMost) {
  add(relu, 30, 10);
  add(relu, 1, 1);
  add(relu, 2, 1);
  EXPECT_EQ(find(relu).ratio, 3);
}

/// Ratios of 2 and 4, the longer one first: on average half of the first one
/// off in three tenths of the time.
TEST_F(TypicalRatiosTest, DeviationsComeFromWhatIsKnown) {
  add(relu, 14, 7);
  add(relu, 12, 3);
  TypicalRatio typical = find(relu);
  EXPECT_EQ(typical.ratio, 2);
  EXPECT_NEAR(typical.deviation,
              std::sqrt((2 * 0.3 * 0.3 + kPrior * kPrior) / 3), 1e-12);
}

TEST_F(TypicalRatiosTest, ManyEqualRatiosAreTrusted) {
  for (int i = 0; i < 99; ++i)
    add(relu, 2, 1);
  EXPECT_NEAR(find(relu).deviation, kPrior / 10, 1e-12);
}

TEST_F(TypicalRatiosTest, OtherKindsTellTheRatioAndNotItsDeviation) {
  for (int i = 0; i < 99; ++i)
    add(relu, 2, 1);
  EXPECT_EQ(find(gelu).ratio, 2);
  EXPECT_EQ(find(gelu).deviation, kPrior);
  add(gelu, 5, 1);
  EXPECT_EQ(find(gelu).ratio, 5);
}

/// Guesses of a learned model are times, and expected fractions' only ratios.
TEST_F(TypicalRatiosTest, ScalesAreApart) {
  ratios.add("learned", relu, 1.1, 1);
  EXPECT_EQ(ratios.find("learned", gelu).ratio, 1.1);
  EXPECT_EQ(ratios.find("expected", relu).ratio, 1);
  EXPECT_EQ(ratios.find("expected", relu).deviation, kPrior);
}

TEST_F(TypicalRatiosTest, KindsSayWhatIsReadAndWritten) {
  EXPECT_EQ(getKind(*parseProblem("relu(1x8xf32)->1x8xf32")), "relu f32 f32");
}
