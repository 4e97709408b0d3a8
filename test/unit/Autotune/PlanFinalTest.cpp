//===- PlanFinalTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/PlanFinal.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "gtest/gtest.h"

#include <deque>

using namespace tarpon;
using runtime::Status;

namespace {
class PlanFinalTest : public testing::Test {
protected:
  std::deque<ChoicePlan> plans;

  void add(double milliseconds) {
    ChoicePlan &plan = plans.emplace_back();
    plan.package = "a.tpn";
    plan.record.accuracy = {0, 0.05, true};
    plan.record.pipeline = {milliseconds, /*mad=*/0.02, /*samples=*/20};
  }

  /// Returns how often plans were timed.
  int run(const Deadline &deadline = Deadline::never()) {
    int timed = 0;
    std::vector<ChoicePlan *> finalists;
    for (ChoicePlan &plan : plans)
      finalists.push_back(&plan);
    Status status = runFinal(finalists, deadline, [&](ChoicePlan &plan) {
      ++timed;
      ++plan.rounds;
      return runtime::success();
    });
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

TEST_F(PlanFinalTest, OneRoundIsTimedWhateverTheTime) {
  add(1);
  add(1.03);
  EXPECT_EQ(run(Deadline::after(0)), 2);
}

TEST_F(PlanFinalTest, OnePlanNeedsNoFinal) {
  add(1);
  EXPECT_EQ(run(), 0);
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
