//===- PlanFinalTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/PlanFinal.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <deque>

using namespace tarpon;
using runtime::Status;
using testing::Contains;
using testing::UnorderedElementsAre;

namespace {
class PlanFinalTest : public testing::Test {
protected:
  std::deque<ChoicePlan> plans;

  void add(double milliseconds, double error = 0) {
    ChoicePlan &plan = plans.emplace_back();
    plan.package = "a.tpn";
    plan.record.accuracy = {error, 0.05, true};
    plan.record.pipeline = {milliseconds, /*mad=*/0.02, /*samples=*/20};
  }

  std::vector<ChoicePlan *> getAll() {
    std::vector<ChoicePlan *> all;
    for (ChoicePlan &plan : plans)
      all.push_back(&plan);
    return all;
  }

  /// Returns how often plans were timed.
  int run(const Deadline &deadline = Deadline::never(),
          bool withFront = false) {
    int timed = 0;
    auto timeAgain = [&](ChoicePlan &plan) {
      ++timed;
      ++plan.rounds;
      return runtime::success();
    };
    Status status = runFinal(getAll(), withFront, deadline, timeAgain);
    EXPECT_TRUE(status) << status.message();
    return timed;
  }
};
} // namespace

TEST_F(PlanFinalTest, TwoRoundsAreEnoughWhereOneIsClearlyTheFastest) {
  add(1);
  add(1.1);
  add(1.2);
  EXPECT_EQ(run(), 3 * policy::kPipelineRounds);
}

TEST_F(PlanFinalTest, ClosePlansAreTimedMoreOften) {
  add(1);
  add(1.03);
  EXPECT_EQ(run(), 2 * policy::kMaxPipelineRounds);
  // Another run knows the rounds of the first one.
  EXPECT_EQ(run(), 0);
}

TEST_F(PlanFinalTest, TheFirstTwoAreTimedOnceWhateverTheTime) {
  add(1);
  add(1.03);
  add(1.04);
  EXPECT_EQ(run(Deadline::after(0)), 2);
}

TEST_F(PlanFinalTest, OnePlanNeedsNoFinal) {
  add(1);
  EXPECT_EQ(run(), 0);
}

/// Each may be the fastest within its own error.
TEST_F(PlanFinalTest, TheFrontTakesPart) {
  add(1, 0.04);
  add(1.5, 0.01);
  add(1.55, 0.005);
  add(2, 0.01);
  add(3);
  auto finalists = pickFinalists(getAll(), nullptr, /*withFront=*/true);
  EXPECT_THAT(finalists,
              UnorderedElementsAre(&plans[0], &plans[1], &plans[2], &plans[4]));
  EXPECT_THAT(pickFinalists(getAll(), nullptr, /*withFront=*/false),
              UnorderedElementsAre(&plans[0]));
  // A plan whose package is gone cannot be run.
  plans[2].package.clear();
  EXPECT_THAT(pickFinalists(getAll(), nullptr, /*withFront=*/true),
              UnorderedElementsAre(&plans[0], &plans[1], &plans[4]));
}

TEST_F(PlanFinalTest, TheUntunedPlanAndItsBestRivalTakePart) {
  add(2);
  add(1);
  add(1.01);
  add(1.02);
  add(1.03);
  EXPECT_THAT(pickFinalists(getAll(), &plans[0], /*withFront=*/false),
              UnorderedElementsAre(&plans[0], &plans[1], &plans[2], &plans[3]));
}

/// Many plans that are nearly as fast leave room for those that err less.
TEST_F(PlanFinalTest, ClosePlansDoNotKeepTheFrontOut) {
  for (int i = 0; i < 12; ++i)
    add(1 + 0.001 * i, 0.04);
  add(2, 0.01);
  add(3);
  auto finalists = pickFinalists(getAll(), nullptr, /*withFront=*/true);
  EXPECT_EQ(finalists.size(), policy::kMaxFrontFinalists);
  EXPECT_THAT(finalists, Contains(&plans[12]));
  EXPECT_THAT(finalists, Contains(&plans[13]));
}

TEST_F(PlanFinalTest, TheFastestPlanStandsForAChoice) {
  add(1);
  add(2);
  add(3);
  EXPECT_EQ(&pickOfChoice(plans), &plans[0]);
  // Those that were in the final are known better.
  plans[1].rounds = 2;
  EXPECT_EQ(&pickOfChoice(plans), &plans[1]);
  plans[0].record.failure = plans[1].record.failure = "it crashed";
  EXPECT_EQ(&pickOfChoice(plans), &plans[2]);
  plans[2].record.failure = "it crashed";
  EXPECT_EQ(&pickOfChoice(plans), &plans[2]);
}

TEST_F(PlanFinalTest, RoundsGoOnWhileTheFrontIsUnclear) {
  add(1, 0.04);
  add(2, 0.01);
  add(2.03, 0.005);
  EXPECT_EQ(run(Deadline::never(), /*withFront=*/true),
            3 * policy::kMaxPipelineRounds);
}

TEST_F(PlanFinalTest, WithoutTheFrontTheWinnerAloneMatters) {
  add(1, 0.04);
  add(2, 0.01);
  add(2.03, 0.005);
  EXPECT_EQ(run(), 3 * policy::kPipelineRounds);
}

TEST_F(PlanFinalTest, WhatEarlierRunsHaveRacedIsNotRacedAgain) {
  add(1, 0.04);
  add(1.03, 0.04);
  add(2, 0.01);
  for (ChoicePlan &plan : plans)
    plan.isRecorded = true;
  plans[0].rounds = plans[1].rounds = policy::kPipelineRounds;
  // Of them, the third one was never near enough.
  EXPECT_EQ(run(), 0);
  EXPECT_GT(run(Deadline::never(), /*withFront=*/true), 0);
}

TEST_F(PlanFinalTest, AFinalThatWasInterruptedGoesOn) {
  add(1);
  add(1.03);
  for (ChoicePlan &plan : plans)
    plan.isRecorded = true;
  plans[0].rounds = policy::kPipelineRounds;
  plans[1].rounds = policy::kPipelineRounds - 1;
  EXPECT_GT(run(), 0);
}

TEST_F(PlanFinalTest, ANewPlanRacesAgainstRecordedOnes) {
  add(1);
  add(1.03);
  plans[0].isRecorded = true;
  plans[0].rounds = policy::kPipelineRounds;
  EXPECT_GT(run(), 0);
}

/// The next run has the tuned plan in place of the untuned one.
TEST_F(PlanFinalTest, TheUntunedPlanKeepsNoOtherOut) {
  add(1);
  for (int i = 1; i <= 3; ++i)
    add(1 + 0.01 * i);
  EXPECT_EQ(pickFinalists(getAll(), &plans[0], /*withFront=*/false).size(), 4u);
}

/// The untuned plan wins only where it is clearly faster.
TEST_F(PlanFinalTest, TunedPlansWinOverAnUntunedOneThatIsAsFast) {
  add(1);
  add(1.01);
  plans[1].isTuned = true;
  run();
  EXPECT_EQ(pickWinner({&plans[0], &plans[1]}, &plans[0]), &plans[1]);
  plans[1].record.pipeline->median = 1.2;
  EXPECT_EQ(pickWinner({&plans[0], &plans[1]}, &plans[0]), &plans[0]);
}

/// Noise hides how much slower a tuned plan is, and is no reason to take it.
TEST_F(PlanFinalTest, NoiseDoesNotMakeSlowerPlansWin) {
  add(1);
  add(1.05);
  plans[1].isTuned = true;
  for (ChoicePlan &plan : plans)
    plan.record.pipeline->mad = 0.1;
  run();
  EXPECT_EQ(pickWinner(getAll(), &plans[0]), &plans[0]);
  plans[1].record.pipeline->median = 1.015;
  EXPECT_EQ(pickWinner(getAll(), &plans[0]), &plans[1]);
}
