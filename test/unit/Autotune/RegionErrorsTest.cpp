//===- RegionErrorsTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionErrors.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace tarpon;
using runtime::Error;
using runtime::Precision;
using runtime::Result;

namespace {

/// Regions have errors of their own; neighbours share what they read, so that
/// two of them have the square of one and a half.
class FakeErrors final : public RegionMeasurer {
public:
  std::vector<double> errors;
  std::optional<size_t> unusable;
  int comparisons = 0;
  /// The factor of the square of several regions.
  double together = 1;

  Result<Solution> solve(const Problem &) override { return Error{"no"}; }
  ExpectedTime expectTime(const Problem &, const Solution &) override {
    return {};
  }
  Result<Solution> tune(const Problem &, double) override {
    return Error{"no"};
  }
  Result<std::optional<RegionPlan>>
  measure(const GlobalChoice &, const PredictionRecord &, double) override {
    return Error{"no"};
  }
  void notePrediction(const GlobalChoice &, const PredictionRecord &) override {
  }
  Result<std::optional<double>>
  measureError(const GlobalChoice &choice) override {
    ++comparisons;
    double sum = 0;
    int count = 0;
    for (auto [index, region] : llvm::enumerate(choice.regions)) {
      if (region.dtype == Precision::F32)
        continue;
      if (unusable == index)
        return std::optional<double>();
      bool isShared =
          index > 0 && choice.regions[index - 1].dtype == region.dtype;
      sum += (isShared ? 0.5 : 1) * errors[index] * errors[index];
      ++count;
    }
    return std::optional<double>(std::sqrt((count > 1 ? together : 1) * sum));
  }
};

class RegionErrorsTest : public testing::Test {
protected:
  FakeErrors measurer;
  RegionErrors errors;

  void SetUp() override { measurer.errors.assign(8, 0.01); }

  void add() {
    ASSERT_TRUE(errors.add(measurer, Precision::I8, {Layout::NHWC}, Fusion::On,
                           measurer.errors.size()));
  }
  /// Halves groups with more than a negligible error.
  void refine(double negligible) {
    ASSERT_TRUE(errors.refine(measurer,
                              negligible / policy::kNegligibleErrorShare,
                              Deadline::never()));
  }
  double getSum() const {
    double sum = 0;
    for (size_t region = 0; region < measurer.errors.size(); ++region)
      sum += *errors.getSquare(Precision::I8, region);
    return sum;
  }
};

} // namespace

TEST_F(RegionErrorsTest, RegionsShareTheSquareOfTheirGroup) {
  add();
  refine(0.1);
  EXPECT_EQ(measurer.comparisons, 1);
  EXPECT_NEAR(getSum(), 1e-4 * 4.5, 1e-9);
  EXPECT_EQ(errors.getSquare(Precision::F32, 3), 0);
  EXPECT_FALSE(errors.getSquare(Precision::F16, 3));
}

TEST_F(RegionErrorsTest, ASmallerBudgetHalvesGroupsOnce) {
  add();
  refine(0.012);
  EXPECT_EQ(measurer.comparisons, 15) << "of eight regions one by one";
  refine(0.012);
  EXPECT_EQ(measurer.comparisons, 15);
}

TEST_F(RegionErrorsTest, TheRegionThatErrsMostIsFoundFirst) {
  measurer.errors.assign(8, 0.001);
  measurer.errors[5] = 0.1;
  add();
  refine(0.05);
  EXPECT_EQ(measurer.comparisons, 7) << "a path of three halvings";
  EXPECT_NEAR(*errors.getSquare(Precision::I8, 5), 0.01 / 2, 1e-4)
      << "it shares what it reads";
  EXPECT_LT(*errors.getSquare(Precision::I8, 4), 1e-4);
}

static std::vector<Precision> makeDtypes(std::initializer_list<int> inInt8) {
  std::vector<Precision> dtypes;
  for (int isInt8 : inInt8)
    dtypes.push_back(isInt8 ? Precision::I8 : Precision::F32);
  return dtypes;
}

/// Each region is as large a part of what all err together as of what they err
/// one by one, whether the others are there or not.
TEST_F(RegionErrorsTest, RegionsAddUpToTheirGroup) {
  add();
  refine(0.001);
  EXPECT_NEAR(getSum(), 1e-4 * 4.5, 1e-9);
  std::vector<Precision> some = makeDtypes({1, 1, 1, 1, 0, 0, 1, 0});
  EXPECT_NEAR(errors.getModelSquare(some), 1e-4 * 4.5 * 5 / 8, 1e-9);
  EXPECT_EQ(errors.getModelSquare(std::vector(8, Precision::F32)), 0);
}

TEST_F(RegionErrorsTest, RegionsMayErrMoreTogether) {
  measurer.together = 9;
  measurer.errors.assign(8, 0.001);
  measurer.errors[5] = 0.01;
  add();
  refine(0.0001);
  EXPECT_NEAR(getSum(), 9 * 54e-6, 1e-9);
  // Each half has, as a part of the whole, what it has of both.
  double four = errors.getModelSquare(makeDtypes({1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_NEAR(four / getSum(), 2.5 / (2.5 + 52), 1e-3);
}

/// One region is the whole of what a model errs; it says nothing of the others.
TEST_F(RegionErrorsTest, ARegionThatSpoilsAModelLeavesTheOthers) {
  measurer.errors[2] = 2;
  measurer.together = 0.25;
  add();
  refine(0.001);
  measurer.together = 1;
  EXPECT_NEAR(*errors.getSquare(Precision::I8, 2), 4, 1e-9);
  EXPECT_NEAR(*errors.getSquare(Precision::I8, 3), 1e-4, 1e-9);
}

/// A single model does not tell its regions apart, nor from those of others.
TEST_F(RegionErrorsTest, AModelCorrectsAllRegions) {
  add();
  refine(0.001);
  std::vector<Precision> some = makeDtypes({1, 0, 1, 0, 1, 0, 1, 0});
  std::vector<Precision> others = makeDtypes({0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_NEAR(errors.getModelSquare(some), 2.25e-4, 1e-9);
  errors.fit({{some, 9e-4}});
  EXPECT_NEAR(errors.getModelSquare(some), 9e-4, 1e-9);
  EXPECT_NEAR(errors.getModelSquare(others), 9e-4, 1e-9);
  EXPECT_NEAR(*errors.getSquare(Precision::I8, 1), 2.25e-4, 1e-9);
  errors.fit({});
  EXPECT_NEAR(errors.getModelSquare(some), 2.25e-4, 1e-9);
}

TEST_F(RegionErrorsTest, WhatModelsDifferInIsCorrected) {
  add();
  refine(0.001);
  std::vector<Precision> without = makeDtypes({1, 0, 1, 0, 1, 0, 0, 0});
  std::vector<Precision> with = makeDtypes({1, 0, 1, 0, 1, 0, 1, 0});
  errors.fit({{without, 3e-4}, {with, 16e-4}});
  EXPECT_NEAR(std::sqrt(errors.getModelSquare(without)), std::sqrt(3e-4),
              0.021 * std::sqrt(3e-4));
  EXPECT_NEAR(std::sqrt(errors.getModelSquare(with)), 0.04, 0.021 * 0.04);
  EXPECT_GT(*errors.getSquare(Precision::I8, 6),
            5 * *errors.getSquare(Precision::I8, 2));
}

/// What is learnt of int8 says nothing of fp16.
TEST_F(RegionErrorsTest, PrecisionsAreCorrectedApart) {
  add();
  ASSERT_TRUE(errors.add(measurer, Precision::F16, {Layout::NHWC}, Fusion::On,
                         measurer.errors.size()));
  refine(0.001);
  errors.fit({{makeDtypes({1, 0, 1, 0, 1, 0, 1, 0}), 16e-4}});
  EXPECT_NEAR(*errors.getSquare(Precision::I8, 1), 4e-4, 1e-9);
  EXPECT_NEAR(*errors.getSquare(Precision::F16, 1), 4.5e-4 / 8, 1e-9);
}

TEST_F(RegionErrorsTest, ARegionThatCannotBeUsedLeavesTheOthers) {
  measurer.unusable = 2;
  add();
  refine(0.05);
  EXPECT_FALSE(errors.getSquare(Precision::I8, 2));
  EXPECT_TRUE(errors.getSquare(Precision::I8, 3));
  EXPECT_TRUE(errors.getSquare(Precision::I8, 7));
}

/// A metric of the user's begins without a budget of errors.
TEST_F(RegionErrorsTest, WhatCannotBeUsedIsHalvedWithoutABudget) {
  measurer.unusable = 2;
  add();
  refine(std::numeric_limits<double>::infinity());
  EXPECT_EQ(measurer.comparisons, 7) << "a path of three halvings";
  EXPECT_FALSE(errors.getSquare(Precision::I8, 2));
  EXPECT_TRUE(errors.getSquare(Precision::I8, 3));
}

TEST_F(RegionErrorsTest, NothingIsHalvedAfterTheDeadline) {
  add();
  ASSERT_TRUE(errors.refine(measurer, 0.001, Deadline::after(0)));
  EXPECT_EQ(measurer.comparisons, 1);
}
