//===- AxisTest.cpp - Axes of plots -------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Page/Axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tarpon::page;
using testing::ElementsAre;
using testing::SizeIs;

/// Fails unless the axis is one that can be printed.
static void expectSound(const Axis &axis) {
  EXPECT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high));
  EXPECT_LT(axis.low, axis.high);
  EXPECT_THAT(axis.ticks,
              SizeIs(testing::AllOf(testing::Ge(1u), testing::Le(12u))));
  for (double tick : axis.ticks) {
    EXPECT_GE(axis.getPosition(tick), 0);
    EXPECT_LE(axis.getPosition(tick), 1);
  }
}

TEST(AxisTest, closeValuesAreLinear) {
  Axis axis = makeAxis({4, 6, 5});
  EXPECT_FALSE(axis.isLogarithmic);
  expectSound(axis);
  EXPECT_GT(axis.low, 3);
  EXPECT_THAT(axis.ticks, ElementsAre(4, 4.5, 5, 5.5, 6));
  EXPECT_LT(axis.getPosition(4), axis.getPosition(5));
}

TEST(AxisTest, distantValuesAreLogarithmic) {
  Axis axis = makeAxis({1e-7, 0.05});
  EXPECT_TRUE(axis.isLogarithmic);
  expectSound(axis);
  EXPECT_GT(axis.getPosition(1e-7), 0);
  EXPECT_LT(axis.getPosition(0.05), 1);
  EXPECT_NEAR(axis.getPosition(std::sqrt(1e-7 * 0.05)), 0.5, 1e-9);
}

TEST(AxisTest, shortLogarithmicAxesHaveMoreTicks) {
  EXPECT_THAT(makeAxis({1, 20}).ticks, ElementsAre(1, 2, 5, 10, 20));
}

TEST(AxisTest, zeroHasAPlaceBesideLogarithms) {
  Axis axis = makeAxis({0, 1e-7, 0.05});
  EXPECT_TRUE(axis.isLogarithmic);
  expectSound(axis);
  EXPECT_EQ(axis.getPosition(0), 0);
  EXPECT_GT(axis.getPosition(1e-7), axis.zeroPart);
  EXPECT_EQ(axis.ticks.front(), 0);
  EXPECT_EQ(makeAxis({0, 4, 5}).low, 0);
}

TEST(AxisTest, everyValueHasAPlace) {
  constexpr double kMax = std::numeric_limits<double>::max(),
                   kMin = std::numeric_limits<double>::denorm_min(),
                   kInfinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double> &values :
       std::vector<std::vector<double>>{{},
                                        {0},
                                        {0, 0},
                                        {1},
                                        {kMin},
                                        {kMax},
                                        {kMin, kMax},
                                        {0, kMin, 1, kMax},
                                        {1, std::nextafter(1, 2)},
                                        {kInfinity},
                                        {0, kInfinity, 1}}) {
    Axis axis = makeAxis(values);
    expectSound(axis);
    for (double value : values) {
      EXPECT_GE(axis.getPosition(value), 0) << value;
      EXPECT_LE(axis.getPosition(value), 1) << value;
    }
  }
}

TEST(AxisTest, numbersAreShort) {
  EXPECT_EQ(showNumber(0), "0");
  EXPECT_EQ(showNumber(0.125), "0.125");
  EXPECT_EQ(showNumber(1e-7), "1e-07");
}
