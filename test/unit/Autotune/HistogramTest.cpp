//===- HistogramTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choice/Histogram.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace tarpon;

namespace {

struct Sample {
  std::vector<float> values;
  float lo = 0, hi = 0;

  void add(float value) {
    values.push_back(value);
    lo = std::min(lo, value);
    hi = std::max(hi, value);
  }
  Histogram count() const {
    Histogram histogram(lo, hi);
    for (float value : values)
      histogram.add(value);
    return histogram;
  }
};

/// Normal numbers behind a rectifier or not, with one outlier.
Sample makeNormal(bool rectified, float outlier, int count = 50000) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Sample sample;
  for (int i = 0; i < count; ++i) {
    float value = normal(random);
    sample.add(rectified ? std::max(value, 0.0f) : value);
  }
  sample.add(outlier);
  return sample;
}

/// The mean squared error of all values, each stored in 8 bits.
double computeError(const Sample &sample, Bounds range) {
  float lo = std::min(range.lo, 0.0f), hi = std::max(range.hi, 0.0f);
  float scale = (hi - lo) / 255, zero = std::nearbyint(-lo / scale);
  double sum = 0;
  for (float value : sample.values) {
    float stored =
        std::clamp(std::nearbyint(value / scale) + zero, 0.0f, 255.0f);
    sum += std::pow((stored - zero) * scale - value, 2);
  }
  return sum / static_cast<double>(sample.values.size());
}

} // namespace

TEST(HistogramTest, MinMaxKeepsTheBounds) {
  Bounds range = makeNormal(false, 40).count().getRange(RangeMethod::MinMax);
  EXPECT_EQ(range.hi, 40);
  EXPECT_LT(range.lo, -3);
}

TEST(HistogramTest, OtherMethodsLeaveOutAnOutlier) {
  // The error of one clipped value is made good by that of so many others.
  constexpr int kCount = 8000000;
  for (bool rectified : {false, true}) {
    Histogram histogram = makeNormal(rectified, 40, kCount).count();
    for (RangeMethod method :
         {RangeMethod::Percentile, RangeMethod::Mse, RangeMethod::Entropy}) {
      Bounds range = histogram.getRange(method);
      EXPECT_LT(range.hi, 10) << getRangeMethodName(method);
      EXPECT_GT(range.hi, 2) << getRangeMethodName(method);
      EXPECT_EQ(range.lo < 0, !rectified) << getRangeMethodName(method);
    }
  }
}

TEST(HistogramTest, LeastErrorKeepsAnOutlierOfFewValues) {
  Sample sample = makeNormal(false, 40, 1000);
  EXPECT_GT(sample.count().getRange(RangeMethod::Mse).hi, 35);
  EXPECT_LT(sample.count().getRange(RangeMethod::Entropy).hi, 10);
}

TEST(HistogramTest, PercentileIsOfAllValues) {
  Sample sample;
  for (int i = 1; i <= 100000; ++i)
    sample.add(static_cast<float>(i));
  Bounds range = sample.count().getRange(RangeMethod::Percentile);
  EXPECT_NEAR(range.hi, 99990, 2 * 100000.0 / 2048);
  EXPECT_EQ(range.lo, 0);
}

TEST(HistogramTest, ErrorIsThatOfStoredValues) {
  for (float outlier : {5.0f, 12.0f}) {
    Sample sample = makeNormal(true, outlier);
    Histogram histogram = sample.count();
    for (float hi : {1.0f, 2.0f, 4.0f, outlier}) {
      double exact = computeError(sample, {0, hi});
      EXPECT_NEAR(histogram.getError({0, hi}), exact, 0.05 * exact) << hi;
    }
  }
}

TEST(HistogramTest, MseHasTheLeastError) {
  Sample sample = makeNormal(false, 12);
  Histogram histogram = sample.count();
  double least = computeError(sample, histogram.getRange(RangeMethod::Mse));
  for (RangeMethod method : kRangeMethods)
    EXPECT_LE(least, 1.02 * computeError(sample, histogram.getRange(method)))
        << getRangeMethodName(method);
}

TEST(HistogramTest, NoExtentIsNoProblem) {
  Histogram histogram(3, 3);
  histogram.add(3);
  for (RangeMethod method : kRangeMethods) {
    EXPECT_EQ(histogram.getRange(method).lo, 3);
    EXPECT_EQ(histogram.getRange(method).hi, 3);
  }
}

TEST(HistogramTest, NamesAreParsed) {
  for (RangeMethod method : kRangeMethods)
    EXPECT_EQ(parseRangeMethod(getRangeMethodName(method)), method);
  EXPECT_FALSE(parseRangeMethod("median"));
}
