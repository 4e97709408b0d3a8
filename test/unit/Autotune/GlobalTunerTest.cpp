//===- GlobalTunerTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalTunerFixture.h"
#include "Measure/TopOne.h"

#include "gmock/gmock.h"

using namespace tarpon;
using namespace tarpon::test;
using runtime::Result;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

static std::vector<std::string> getSources(const CandidateRecord &record) {
  std::vector<std::string> sources;
  for (const LayerRecord &layer : record.layers)
    sources.push_back(layer.source);
  return sources;
}

TEST_F(GlobalTunerTest, ChoicesAreMeasuredUntunedBeforeAnythingIsSearched) {
  measurer->times = {{"fp32/nchw", {10, 8}}, {"fp32/nhwc", {15, 6}}};
  run();
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ(log[0], "fp32/nhwc untuned");
  EXPECT_EQ(log[1], "fp32/nchw untuned");
  EXPECT_EQ(log[2], "fp32/nchw compared");
  EXPECT_EQ(log[3], "fp32/nhwc compared");
  EXPECT_THAT(log[4], StartsWith("search "));
}

/// Whichever of close choices was disturbed.
TEST_F(GlobalTunerTest, CloseChoicesAreTimedTwice) {
  measurer->times = {{"fp32/nchw", {10, 10}}, {"fp32/nhwc", {9, 9}}};
  measurer->disturbance = 4;
  GlobalResult result = run();
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ(log[0], "fp32/nhwc untuned");
  EXPECT_EQ(log[1], "fp32/nchw untuned");
  EXPECT_EQ(log[2], "fp32/nhwc untuned");
  EXPECT_EQ(log[3], "fp32/nchw untuned");
  EXPECT_EQ(log[4], "fp32/nhwc compared");
  EXPECT_EQ(result.winner, 1u);
}

/// All later plans would be predicted to be as slow.
TEST_F(GlobalTunerTest, APlanThatHadABadMomentIsTimedTwice) {
  dtypes = {runtime::Precision::F32, runtime::Precision::F16};
  regions = RegionOptions{dtypes, {Layout{Layout::NHWC}}};
  regions->choosesDtypes = true;
  regions->maxError = 2.2 * FakePipelineMeasurer::kRegionError;
  measurer->times = {{"fp32/nchw", {12, 11}},
                     {"fp32/nhwc", {11, 10}},
                     {"fp16/nchw", {6, 6}},
                     {"fp16/nhwc", {6, 6}}};
  measurer->errors = {{"fp16/nchw", 0.9}, {"fp16/nhwc", 0.9}};
  measurer->firstPlanFactor = 10;
  GlobalResult result = run();
  const CandidateRecord &winner = result.candidates[result.winner];
  ASSERT_FALSE(winner.choice.regions.empty());
  Log timings;
  llvm::copy_if(log, std::back_inserter(timings), [](const std::string &line) {
    return line.starts_with("mixed") && !line.ends_with("compared");
  });
  ASSERT_GE(timings.size(), 2U);
  EXPECT_EQ(timings[0], timings[1]);
}

TEST_F(GlobalTunerTest, TunedPlanWins) {
  measurer->times = {{"fp32/nchw", {10, 5}}, {"fp32/nhwc", {30, 30}}};
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.candidates[0].pipeline->median, 5);
  EXPECT_THAT(getSources(result.candidates[0]), Contains("measured"));
}

TEST_F(GlobalTunerTest, TuningNeverEndsSlowerThanItBegan) {
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  // The tuned plan looks faster until both are measured in turn.
  measurer->drift = 2;
  GlobalResult result = run();
  EXPECT_THAT(log, Contains("fp32/nchw tuned"));
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.candidates[0].pipeline->median, 10);
  EXPECT_THAT(getSources(result.candidates[0]), Each("default"));
  EXPECT_FALSE(result.leftOut.empty());
}

TEST_F(GlobalTunerTest, ChoicesThatCannotWinAreNotSearched) {
  measurer->times = {{"fp32/nchw", {100, 10}}, {"fp32/nhwc", {20, 18}}};
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.candidates[0].pipeline->median, 100);
  std::vector<std::string> searched;
  for (const LayerRecord &layer : result.candidates[1].layers)
    searched.push_back("search " + layer.problem);
  int64_t searches = 0;
  for (const std::string &entry : log)
    if (llvm::StringRef(entry).starts_with("search ")) {
      ++searches;
      EXPECT_THAT(searched, Contains(entry));
    }
  EXPECT_GT(searches, 0);
}

TEST_F(GlobalTunerTest, ChoiceWithMoreToGainWins) {
  measurer->times = {{"fp32/nchw", {10, 9.5}}, {"fp32/nhwc", {10.5, 5}}};
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.candidates[1].pipeline->median, 5);
}

TEST_F(GlobalTunerTest, WithoutTimeThePromisingUntunedPlanIsTheResult) {
  measurer->times = {{"fp32/nchw", {10, 1}}, {"fp32/nhwc", {5, 1}}};
  deadline = Deadline::after(0);
  GlobalResult result = run();
  EXPECT_EQ(log, (Log{"fp32/nhwc untuned", "fp32/nhwc compared"}));
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.candidates[1].pipeline->median, 5);
  EXPECT_THAT(result.candidates[0].failure, HasSubstr("the time was over"));
  EXPECT_TRUE(result.leftOut.empty());
}

TEST_F(GlobalTunerTest, FastestChoiceIsComparedFirst) {
  measurer->times = {{"fp32/nchw", {10, 5}}, {"fp32/nhwc", {5, 5}}};
  run();
  EXPECT_EQ(log[2], "fp32/nhwc compared");
}

TEST_F(GlobalTunerTest, AFastChoiceThatIsWrongDoesNotWin) {
  measurer->times = {{"fp32/nchw", {10, 10}}, {"fp32/nhwc", {1, 1}}};
  measurer->errors["fp32/nhwc"] = 1;
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_FALSE(result.candidates[1].accuracy->withinBudget);
}

TEST_F(GlobalTunerTest, ASecondRunMeasuresNothing) {
  measurer->times = {{"fp32/nchw", {10, 5}}, {"fp32/nhwc", {30, 30}}};
  GlobalResult first = run();
  EXPECT_EQ(first.candidates[0].pipeline->median, 5);
  auto measured = tuner->getStatistics().measured;
  GlobalResult second = run();
  EXPECT_EQ(tuner->getStatistics().measured, measured);
  EXPECT_EQ(second.winner, first.winner);
  EXPECT_EQ(second.candidates[0].pipeline, first.candidates[0].pipeline);
}

TEST_F(GlobalTunerTest, ASecondRunChoosesTheSameOfNearlyEqualPlans) {
  // Searches save nothing here, so that plans must be nearly as fast untuned
  // for both to be made.
  measurer->times = {{"fp32/nchw", {10, 9.5}}, {"fp32/nhwc", {10, 9.501}}};
  EXPECT_EQ(run().winner, 0u);
  EXPECT_EQ(run().winner, 0u);
}

TEST_F(GlobalTunerTest, AMetricDecidesInPlaceOfTheError) {
  dtypes = {runtime::Precision::F32, runtime::Precision::F16};
  measurer->times = {{"fp32/nchw", {10, 10}},
                     {"fp32/nhwc", {11, 11}},
                     {"fp16/nchw", {6, 6}},
                     {"fp16/nhwc", {5, 5}}};
  measurer->errors = {{"fp16/nchw", 0.9}, {"fp16/nhwc", 0.001}};
  measurer->wrong = {{"fp16/nchw", 1}, {"fp16/nhwc", 2}};
  goal.metric = std::make_unique<TopOne>(std::vector<int64_t>(10, 0), 2);
  goal.maxDrop = 0.1;
  GlobalResult result = run();
  const CandidateRecord &winner = result.candidates[result.winner];
  EXPECT_EQ(winner.choice.name(), "fp16/nchw");
  EXPECT_EQ(winner.accuracy->value, 0.9);
  EXPECT_FALSE(winner.accuracy->budget);
  EXPECT_EQ(winner.accuracy->metric, (MetricRecord{"top-1", 1, 0.9, 0.1}));
  for (const CandidateRecord &candidate : result.candidates)
    EXPECT_EQ(candidate.accuracy->withinBudget,
              candidate.choice.name() != "fp16/nhwc")
        << candidate.choice.name();
  // fp32 is run once for all.
  EXPECT_EQ(llvm::count(log, "fp32 judged"), 1);

  // Errors and times are in the journal, and are not measured again.
  result = run();
  EXPECT_EQ(result.candidates[result.winner].choice.name(), "fp16/nchw");
  EXPECT_EQ(llvm::count_if(log,
                           [](llvm::StringRef entry) {
                             return entry.ends_with("compared");
                           }),
            0);
  EXPECT_THAT(log, Contains("fp16/nchw judged"));
}

TEST_F(GlobalTunerTest, AFailedJudgementIsTheChoices) {
  dtypes = {runtime::Precision::F16};
  measurer->times = {{"fp16/nchw", {6, 6}}, {"fp16/nhwc", {5, 5}}};
  measurer->crashes = "fp16/nhwc";
  goal.metric = std::make_unique<TopOne>(std::vector<int64_t>(10, 0), 2);
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.candidates[1].failure, "it crashed");
}

/// A busy machine is no fault of the plan.
TEST_F(GlobalTunerTest, APlanThatTheFinalGetsNoAnswerOfLosesInThisRunAlone) {
  dtypes = {runtime::Precision::F16};
  measurer->times = {{"fp16/nchw", {6, 6}}, {"fp16/nhwc", {5.8, 5.8}}};
  measurer->hangs = "fp16/nhwc";
  GlobalResult result = run();
  EXPECT_EQ(result.candidates[result.winner].choice.name(), "fp16/nchw");
  EXPECT_EQ(result.candidates[1].failure, "it took too long");
  measurer->hangs = "";
  result = run();
  EXPECT_EQ(result.candidates[result.winner].choice.name(), "fp16/nhwc");
}

namespace {

/// Knows no number for outputs whose first element is not the largest.
class PickyMetric final : public OutputMetric {
public:
  std::string getName() const override { return "picky"; }
  Result<double> compute(const SampleResults &results) const override {
    for (const auto &outputs : results)
      for (const std::vector<double> &output : outputs)
        if (output[0] < output[1])
          return std::nan("");
    return 1;
  }
};

} // namespace

TEST_F(GlobalTunerTest, WhatAMetricCannotJudgeLosesAlone) {
  dtypes = {runtime::Precision::F32, runtime::Precision::F16};
  measurer->times = {{"fp32/nchw", {10, 10}},
                     {"fp32/nhwc", {11, 11}},
                     {"fp16/nchw", {6, 6}},
                     {"fp16/nhwc", {5, 5}}};
  measurer->wrong = {{"fp16/nhwc", 1}};
  goal.metric = std::make_unique<PickyMetric>();
  GlobalResult result = run();
  EXPECT_EQ(result.candidates[result.winner].choice.name(), "fp16/nchw");
  EXPECT_FALSE(result.candidates[3].accuracy->withinBudget);
  EXPECT_FALSE(result.candidates[3].accuracy->metric);

  // Another metric may judge it.
  goal.metric = std::make_unique<TopOne>(std::vector<int64_t>(10, 0), 2);
  goal.maxDrop = 0.2;
  result = run();
  EXPECT_EQ(result.candidates[result.winner].choice.name(), "fp16/nhwc");
}

TEST_F(GlobalTunerTest, NothingIsPreparedForRegionsWhenTheTimeIsOver) {
  measurer->times = {{"fp32/nchw", {10, 8}}, {"fp32/nhwc", {15, 6}}};
  regions = RegionOptions{{runtime::Precision::F32, runtime::Precision::I8},
                          {Layout{Layout::NCHW}}};
  regions->choosesDtypes = true;
  regions->maxError = 0.05;
  deadline = Deadline::after(0);
  run();
  EXPECT_THAT(log, Not(Contains("calibrated")));
  deadline = Deadline::never();
  run();
  EXPECT_THAT(log, Contains("calibrated"));
}

TEST_F(GlobalTunerTest, ASecondRunChoosesTheGuessesThatHaveWon) {
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  measurer->drift = 2;
  GlobalResult first = run();
  EXPECT_THAT(getSources(first.candidates[0]), Each("default"));
  EXPECT_GT(tuner->getStatistics().measured, 0);
  start(/*withoutRecords=*/false);
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  GlobalResult second = run();
  EXPECT_EQ(second.winner, first.winner);
  EXPECT_THAT(getSources(second.candidates[0]), Each("default"));
  EXPECT_EQ(second.candidates[0].pipeline->median, 10);
  EXPECT_EQ(tuner->getStatistics().measured, 0);

  // With a limit it knows at once what was measured.
  start(/*withoutRecords=*/false);
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  deadline = Deadline::after(1000);
  GlobalResult third = run();
  EXPECT_THAT(getSources(third.candidates[0]), Contains("measured"));
}
