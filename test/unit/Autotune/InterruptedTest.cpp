//===- InterruptedTest.cpp - Tunings that were killed or stopped ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalTunerFixture.h"

#include "gmock/gmock.h"

using namespace tarpon;
using namespace tarpon::test;
using testing::StartsWith;

namespace {

/// A precision for each region, of which some may be in fp16.
class InterruptedTest : public GlobalTunerTest {
protected:
  void prepare(bool withoutRecords) {
    dtypes = {runtime::Precision::F32, runtime::Precision::F16};
    regions = RegionOptions{dtypes, {Layout{Layout::NHWC}}};
    regions->choosesDtypes = true;
    regions->maxError = 2.2 * FakePipelineMeasurer::kRegionError;
    start(withoutRecords);
    measurer->times = {{"fp32/nchw", {12, 11}},
                       {"fp32/nhwc", {11, 10}},
                       {"fp16/nchw", {6, 6}},
                       {"fp16/nhwc", {6, 6}}};
    measurer->errors = {{"fp16/nchw", 0.9}, {"fp16/nhwc", 0.9}};
  }

  static std::vector<std::string> describe(const GlobalResult &result) {
    const CandidateRecord &winner = result.candidates[result.winner];
    std::vector<std::string> lines = {winner.choice.name()};
    for (const RegionChoice &region : winner.choice.regions)
      lines.push_back(printRegionChoice(region));
    for (const LayerRecord &layer : winner.layers)
      lines.push_back(layer.problem + " " + layer.solver + " " +
                      layer.config.str());
    return lines;
  }
};

} // namespace

TEST_F(InterruptedTest, AnInterruptedRunEndsWithTheSamePlan) {
  prepare(/*withoutRecords=*/true);
  constexpr int kMany = 1000, kInterruptions = 5;
  measurer->measurementsLeft = factory->searchesLeft = kMany;
  std::vector<std::string> whole = describe(run());
  EXPECT_THAT(whole.front(), StartsWith("mixed"));
  int measurements = kMany - measurer->measurementsLeft;
  int searches = kMany - factory->searchesLeft;
  ASSERT_GT(measurements, kInterruptions);
  ASSERT_GT(searches, kInterruptions);
  factory->searchesLeft = INT_MAX;
  auto runAgain = [&](int steps) {
    EXPECT_FALSE(tryRun()) << steps;
    factory->searchesLeft = INT_MAX;
    prepare(/*withoutRecords=*/false);
    EXPECT_EQ(describe(run()), whole) << "after " << steps << " steps";
  };
  for (int i = 0; i < kInterruptions; ++i) {
    prepare(/*withoutRecords=*/true);
    measurer->measurementsLeft =
        (2 * i + 1) * measurements / (2 * kInterruptions);
    runAgain(measurer->measurementsLeft);
    prepare(/*withoutRecords=*/true);
    factory->searchesLeft = (2 * i + 1) * searches / (2 * kInterruptions);
    runAgain(factory->searchesLeft);
  }
}

/// Ctrl-C takes what there is, and the next run what is left.
TEST_F(InterruptedTest, AStoppedRunGivesAPlanAndGoesOn) {
  prepare(/*withoutRecords=*/true);
  std::vector<std::string> whole = describe(run());
  size_t steps = log.size();
  for (size_t at : {size_t{1}, steps / 4, steps / 2, 3 * steps / 4}) {
    prepare(/*withoutRecords=*/true);
    Deadline::Condition isStopped = [&] { return log.size() >= at; };
    deadline = Deadline::never().orWhen(isStopped);
    GlobalResult stopped = run();
    EXPECT_TRUE(stopped.candidates[stopped.winner].pipeline) << at;
    EXPECT_LT(log.size(), steps) << at;
    deadline = Deadline::never();
    prepare(/*withoutRecords=*/false);
    EXPECT_EQ(describe(run()), whole) << at;
  }
}
