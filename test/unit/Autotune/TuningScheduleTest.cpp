//===- TuningScheduleTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TuningSchedule.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <limits>

using namespace tarpon;
using testing::ElementsAre;

static constexpr double kForever = std::numeric_limits<double>::infinity();

namespace {

/// A model in which a search of each problem saves a given share and takes a
/// second.
class FakeTuner {
public:
  std::map<std::string, double> savings;
  TuningSchedule schedule;
  std::vector<std::string> searched;

  void search(const TuningSchedule::Step &step) {
    searched.push_back(step.problem);
    schedule.recordSearch(step.problem, "conv", savings[step.problem], 1);
  }
  /// Searches until nothing is worth it; returns the seconds that were left.
  double run(double seconds = kForever) {
    while (seconds >= 1) {
      auto step = schedule.getNext(seconds);
      if (!step)
        break;
      search(*step);
      seconds -= 1;
    }
    return seconds;
  }
};

} // namespace

TEST(TuningScheduleTest, TimeGoesToTheLayerWithMostToGain) {
  FakeTuner tuner;
  tuner.schedule.setChoice(
      0, 10,
      {{"small", "conv", 1}, {"large", "conv", 6}, {"middle", "conv", 3}});
  tuner.run();
  EXPECT_THAT(tuner.searched, ElementsAre("large", "middle", "small"));
}

TEST(TuningScheduleTest, KindsThatSaveNothingComeLast) {
  TuningSchedule schedule;
  schedule.setChoice(
      0, 10,
      {{"pool 1", "pool", 4}, {"pool 2", "pool", 3.5}, {"conv 1", "conv", 3}});
  EXPECT_EQ(schedule.getNext(kForever)->problem, "pool 1");
  schedule.recordSearch("pool 1", "pool", 0.0, 1);
  EXPECT_EQ(schedule.getNext(kForever)->problem, "conv 1");
}

TEST(TuningScheduleTest, SearchesThatTakeLongComeLast) {
  TuningSchedule schedule;
  schedule.setChoice(
      0, 10,
      {{"gemm 1", "gemm", 4}, {"gemm 2", "gemm", 3.5}, {"conv 1", "conv", 3}});
  schedule.recordSearch("gemm 1", "gemm", 0.2, 100);
  EXPECT_EQ(schedule.getNext(kForever)->problem, "conv 1");
}

TEST(TuningScheduleTest, ChoicesThatCannotWinGetNoTime) {
  FakeTuner tuner;
  tuner.schedule.setChoice(0, 30, {{"slow", "conv", 1}});
  tuner.schedule.setChoice(1, 10, {{"fast", "conv", 1}});
  tuner.run();
  EXPECT_THAT(tuner.searched, ElementsAre("fast"));
}

TEST(TuningScheduleTest, ASlowerChoiceWithMoreToGainGetsTime) {
  FakeTuner tuner;
  tuner.savings = {
      {"fast 1", 0}, {"fast 2", 0}, {"slow 1", 0.5}, {"slow 2", 0.5}};
  std::vector<ScheduledProblem> fast = {{"fast 1", "fast", 1},
                                        {"fast 2", "fast", 1}};
  tuner.schedule.setChoice(0, 10, fast);
  tuner.schedule.setChoice(1, 12,
                           {{"slow 1", "slow", 1}, {"slow 2", "slow", 1}});
  while (auto step = tuner.schedule.getNext(kForever)) {
    tuner.searched.push_back(step->problem);
    tuner.schedule.recordSearch(step->problem, step->problem.substr(0, 4),
                                tuner.savings[step->problem], 1);
  }
  EXPECT_DOUBLE_EQ(tuner.schedule.predict(0), 10);
  EXPECT_DOUBLE_EQ(tuner.schedule.predict(1), 6);
  EXPECT_DOUBLE_EQ(tuner.schedule.predictBest(), 6);
  EXPECT_EQ(tuner.searched.front(), "fast 1");
}

TEST(TuningScheduleTest, AChoiceThatNeedsMoreTimeThanThereIsGetsNone) {
  TuningSchedule schedule;
  std::vector<ScheduledProblem> many(100, {"", "conv", 1});
  for (auto [index, problem] : llvm::enumerate(many))
    problem.key = "slow " + std::to_string(index);
  schedule.setChoice(0, 12, many);
  schedule.setChoice(1, 11, {{"fast", "pool", 1, /*isOpen=*/false}});
  EXPECT_EQ(schedule.getNext(kForever)->choice, 0u);
  EXPECT_FALSE(schedule.getNext(/*seconds=*/10));
  EXPECT_EQ(schedule.getPossibleGain(0), 0);
}

TEST(TuningScheduleTest, ProblemsOfSeveralChoicesAreSearchedOnce) {
  FakeTuner tuner;
  tuner.savings = {{"shared", 0.5}};
  tuner.schedule.setChoice(0, 10, {{"shared", "conv", 1}, {"rest", "conv", 1}});
  tuner.schedule.setChoice(1, 10,
                           {{"shared", "conv", 3}, {"other", "conv", 1}});
  tuner.search({0, "shared"});
  EXPECT_DOUBLE_EQ(tuner.schedule.predict(0), 7.5);
  EXPECT_DOUBLE_EQ(tuner.schedule.predict(1), 6.25);
  tuner.run();
  EXPECT_EQ(llvm::count(tuner.searched, "shared"), 1);
}

TEST(TuningScheduleTest, ARunEndsWhenHalfAPercentCannotBeGained) {
  FakeTuner tuner;
  std::vector<ScheduledProblem> problems = {{"large", "conv", 1000}};
  for (int i = 0; i < 20; ++i)
    problems.push_back({"tiny " + std::to_string(i), "conv", 0.5});
  tuner.schedule.setChoice(0, 10, problems);
  EXPECT_GT(tuner.schedule.getPossibleGain(kForever), 0.1);
  tuner.run();
  EXPECT_THAT(tuner.searched, ElementsAre("large"));
  EXPECT_LT(tuner.schedule.getPossibleGain(kForever), 0.005);
}

TEST(TuningScheduleTest, AFinishedRunIsNotStartedAgainByNoise) {
  // Just more than half a percent may be gained.
  TuningSchedule schedule;
  std::vector<ScheduledProblem> problems = {
      {"large", "conv", 968, /*isOpen=*/false}, {"small", "conv", 32}};
  schedule.setChoice(0, 10, problems);
  EXPECT_FALSE(schedule.getNext(kForever));
  schedule.recordSearch("other", "gemm", 0.0, 1);
  EXPECT_TRUE(schedule.getNext(kForever));
}

TEST(TuningScheduleTest, WhatAnEarlierRunHasSavedCounts) {
  TuningSchedule schedule;
  schedule.setChoice(0, 10,
                     {{"a", "conv", 1, /*isOpen=*/false}, {"b", "conv", 1}});
  double before = schedule.getPossibleGain(kForever);
  schedule.recordEarlier("a", "conv", 0.0);
  double after = schedule.getPossibleGain(kForever);
  EXPECT_LT(after, before);
  schedule.recordEarlier("a", "conv", 0.0);
  EXPECT_EQ(schedule.getPossibleGain(kForever), after);
  EXPECT_DOUBLE_EQ(schedule.predict(0), 10);
}
