//===- ForestTest.cpp -----------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/ForestTraining.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace tarpon;
using testing::HasSubstr;

namespace {

/// A function with a step, a slope and a product; the last feature is noise.
float compute(llvm::ArrayRef<float> row) {
  return (row[0] > 0.5F ? 2.0F : 0.0F) + row[1] + row[0] * row[2];
}

TrainingRows makeRows(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  TrainingRows rows;
  rows.columns = 4;
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < rows.columns; ++c)
      rows.features.push_back(static_cast<float>(random() % 10000) / 10000);
    rows.targets.push_back(
        compute(llvm::ArrayRef(rows.features).take_back(rows.columns)));
    rows.weights.push_back(1);
  }
  return rows;
}

/// Root mean square.
double getError(const Forest &forest, const TrainingRows &rows) {
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    llvm::ArrayRef<float> row(rows.features.data() + i * rows.columns,
                              rows.columns);
    sum += std::pow(forest.predict(row) - rows.targets[i], 2);
  }
  return std::sqrt(sum / static_cast<double>(rows.size()));
}

std::string getFault(std::vector<uint32_t> roots, std::vector<TreeNode> nodes,
                     float base = 0) {
  auto forest = Forest::create(base, 2, std::move(roots), std::move(nodes));
  return forest ? "" : forest.message();
}

} // namespace

TEST(ForestTest, LearnsAFunctionOnRowsThatItNeverSaw) {
  Forest forest = growForest(makeRows(2000, 1), {});
  TrainingRows unseen = makeRows(500, 2);
  // The standard deviation of the function is 1.2.
  EXPECT_LT(getError(forest, unseen), 0.08);
}

TEST(ForestTest, TheSameSeedGrowsTheSameForest) {
  TrainingRows rows = makeRows(300, 3);
  BoostingOptions options;
  Forest first = growForest(rows, options), second = growForest(rows, options);
  options.seed = 2;
  Forest other = growForest(rows, options);
  ASSERT_EQ(first.getNodes().size(), second.getNodes().size());
  bool isOther = first.getNodes().size() != other.getNodes().size();
  for (size_t i = 0; i < first.getNodes().size(); ++i) {
    EXPECT_EQ(first.getNodes()[i].value, second.getNodes()[i].value);
    EXPECT_EQ(first.getNodes()[i].feature, second.getNodes()[i].feature);
    isOther |=
        !isOther && first.getNodes()[i].value != other.getNodes()[i].value;
  }
  EXPECT_TRUE(isOther);
}

TEST(ForestTest, WeightsSayWhichRowsCount) {
  // Two rows of the same features disagree.
  TrainingRows rows;
  rows.columns = 1;
  rows.features = {1, 1};
  rows.targets = {0, 10};
  rows.weights = {0.2F, 1.8F};
  EXPECT_NEAR(growForest(rows, {}).predict({1.0F}), 9, 1e-3);
}

TEST(ForestTest, ConstantFeaturesAndTargetsAreNoTrouble) {
  TrainingRows rows;
  rows.columns = 2;
  rows.features.assign(20, 3);
  rows.targets.assign(10, 7);
  rows.weights.assign(10, 1);
  EXPECT_FLOAT_EQ(growForest(rows, {}).predict({3.0F, 3.0F}), 7);
}

TEST(ForestTest, ManyRowsAtOnceGiveTheSame) {
  TrainingRows rows = makeRows(100, 4);
  Forest forest = growForest(rows, {});
  std::vector<float> answers(rows.size());
  forest.predict(rows.features, answers);
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(answers[i],
              forest.predict(llvm::ArrayRef(
                  rows.features.data() + i * rows.columns, rows.columns)));
}

TEST(ForestTest, UnsoundTreesAreRefused) {
  TreeNode leaf;
  TreeNode test;
  test.feature = 0;
  test.yes = 1;
  EXPECT_EQ(getFault({0}, {test, leaf, leaf}), "");
  EXPECT_EQ(getFault({}, {}), "");
  EXPECT_THAT(getFault({0}, {test, leaf}), HasSubstr("out of its tree"));
  TreeNode loop = test;
  loop.yes = 0;
  EXPECT_THAT(getFault({0}, {loop, leaf, leaf}), HasSubstr("out of its tree"));
  TreeNode unknown = test;
  unknown.feature = 2;
  EXPECT_THAT(getFault({0}, {unknown, leaf, leaf}),
              HasSubstr("feature 2 of 2"));
  TreeNode infinite;
  infinite.value = HUGE_VALF;
  EXPECT_THAT(getFault({0}, {infinite}), HasSubstr("not finite"));
  EXPECT_THAT(getFault({0}, {leaf}, NAN), HasSubstr("not finite"));
  EXPECT_THAT(getFault({0, 3}, {test, leaf, leaf}), HasSubstr("no nodes"));
  EXPECT_THAT(getFault({1}, {leaf, leaf}), HasSubstr("no tree"));
}
