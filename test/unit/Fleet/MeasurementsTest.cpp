//===- MeasurementsTest.cpp - What builders read --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultsFixture.h"

#include "tarpon/Fleet/Measurements.h"

#include "gmock/gmock.h"

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {
class MeasurementsTest : public ResultsTest {
protected:
  std::vector<std::string> findWinners(int64_t session, int64_t problem,
                                       int64_t max = 3) {
    auto winners = findEarlierWinners(*database, session, problem, max);
    EXPECT_TRUE(winners) << winners.message();
    std::vector<std::string> configs;
    if (winners)
      for (const CandidateKey &key : *winners)
        configs.push_back(key.config);
    return configs;
  }

  LatestMeasurements readLatest(int64_t session, const LastRows &after,
                                int64_t max) {
    auto latest = readLatestMeasurements(*database, session, after, max);
    EXPECT_TRUE(latest) << latest.message();
    return latest ? *latest : LatestMeasurements();
  }

  static std::vector<std::string> getConfigs(const LatestMeasurements &latest) {
    std::vector<std::string> configs;
    for (const Measurement &m : latest.measurements)
      configs.push_back(m.key.config);
    return configs;
  }
};
} // namespace

using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(MeasurementsTest, earlierWinnersAreThoseOfOtherSessionsOfTheTarget) {
  int64_t problem = addProblem("a"), other = addProblem("b");
  int64_t first = addSession("first", "here"),
          second = addSession("second", "here"),
          elsewhere = addSession("elsewhere", "there"),
          now = addSession("now", "here");
  EXPECT_THAT(findWinners(now, problem), IsEmpty());
  addMeasurements({
      // The final decides, even where the race was faster.
      {first, problem, 2.0, "solver-a-v1", "tile=1", "final"},
      {first, problem, 1.0, "solver-a-v1", "tile=2", "race"},
      {first, other, 0.5, "solver-a-v1", "tile=3", "final"},
      // Nothing that is wrong wins.
      {second, problem, 0.1, "solver-a-v1", "tile=4", "final", "wrong"},
      {second, problem, 3.0, "solver-b-v1", "tile=5", "race"},
      {elsewhere, problem, 0.1, "solver-a-v1", "tile=6", "final"},
      {now, problem, 0.1, "solver-a-v1", "tile=7", "final"},
  });
  EXPECT_THAT(findWinners(now, problem), ElementsAre("tile=5", "tile=1"));
  EXPECT_THAT(findWinners(now, problem, 1), ElementsAre("tile=5"));
  // A label that was deleted still says what won.
  auto deleted = deleteLabel(*database, "second");
  ASSERT_TRUE(deleted) << deleted.message();
  EXPECT_THAT(findWinners(now, problem), ElementsAre("tile=5", "tile=1"));
}

TEST_P(MeasurementsTest, theLatestRowsOfTheSameContextAreRead) {
  int64_t problem = addProblem("a"), other = addProblem("b");
  int64_t before = addSession("before", "here"),
          now = addSession("now", "here"),
          elsewhere = addSession("elsewhere", "there"),
          another = addSession("another", "here");
  run("UPDATE session SET kernel_version = '2' WHERE id = :p1", {another});
  addMeasurements({
      {before, problem, 3.0, "solver-a-v1", "tile=1"},
      {before, other, 2.0, "solver-a-v1", "tile=2"},
      {elsewhere, problem, 0.1, "solver-a-v1", "tile=3"},
      {another, problem, 0.1, "solver-a-v1", "tile=4"},
      {now, problem, 1.0, "solver-a-v1", "tile=5"},
  });
  LatestMeasurements latest = readLatest(now, {}, 100);
  EXPECT_THAT(getConfigs(latest), ElementsAre("tile=1", "tile=2", "tile=5"));
  EXPECT_EQ(latest.measurements.front().key.problem, "a");
  EXPECT_EQ(latest.measurements.front().median, 3.0);
  LatestMeasurements none = readLatest(now, latest.lastRows, 100);
  EXPECT_THAT(getConfigs(none), IsEmpty());
  EXPECT_EQ(none.lastRows, latest.lastRows);
  LatestMeasurements few = readLatest(now, {}, 2);
  EXPECT_THAT(getConfigs(few), ElementsAre("tile=2", "tile=5"));
  EXPECT_EQ(few.lastRows, latest.lastRows);
}

/// However many labels there are, a builder asks for few.
TEST_P(MeasurementsTest, theLastFiveSessionsAreRead) {
  int64_t problem = addProblem("a");
  std::vector<MeasuredRow> rows;
  int64_t session = 0;
  for (int i = 1; i <= 7; ++i) {
    session = addSession("label" + std::to_string(i), "here");
    rows.push_back(
        {session, problem, 1.0, "solver-a-v1", "tile=" + std::to_string(i)});
  }
  addMeasurements(rows);
  EXPECT_THAT(getConfigs(readLatest(session, {}, 100)),
              ElementsAre("tile=3", "tile=4", "tile=5", "tile=6", "tile=7"));
}

/// Labels that are tuned at the same time add rows in any order.
TEST_P(MeasurementsTest, aNewerSessionHidesNoRowOfTheOwn) {
  int64_t problem = addProblem("a");
  int64_t now = addSession("now", "here"), newer = addSession("newer", "here");
  addMeasurements({{now, problem, 1.0, "solver-a-v1", "tile=1"},
                   {newer, problem, 1.0, "solver-a-v1", "tile=2"},
                   {newer, problem, 1.0, "solver-a-v1", "tile=3"}});
  LatestMeasurements first = readLatest(now, {}, 2);
  EXPECT_THAT(getConfigs(first), ElementsAre("tile=1", "tile=3"));
  addMeasurements({{newer, problem, 1.0, "solver-a-v1", "tile=4"},
                   {now, problem, 1.0, "solver-a-v1", "tile=5"},
                   {newer, problem, 1.0, "solver-a-v1", "tile=6"}});
  LatestMeasurements second = readLatest(now, first.lastRows, 1);
  EXPECT_THAT(getConfigs(second), ElementsAre("tile=5"));
  // There was no room for the others, which come when there is.
  LatestMeasurements third = readLatest(now, second.lastRows, 2);
  EXPECT_THAT(getConfigs(third), ElementsAre("tile=4", "tile=6"));
  EXPECT_THAT(getConfigs(readLatest(now, third.lastRows, 9)), IsEmpty());
}

TEST_P(MeasurementsTest, theOwnSessionIsReadHoweverManyAreNewer) {
  int64_t problem = addProblem("a");
  int64_t now = addSession("now", "here");
  std::vector<MeasuredRow> rows = {
      {now, problem, 1.0, "solver-a-v1", "tile=own"}};
  for (int i = 1; i <= 5; ++i)
    rows.push_back({addSession("label" + std::to_string(i), "here"), problem,
                    1.0, "solver-a-v1", "tile=" + std::to_string(i)});
  addMeasurements(rows);
  EXPECT_THAT(getConfigs(readLatest(now, {}, 100)),
              ElementsAre("tile=own", "tile=2", "tile=3", "tile=4", "tile=5"));
}

/// A label knows its device when an evaluator has come.
TEST_P(MeasurementsTest, timesOfOtherDevicesAreLeftOut) {
  int64_t problem = addProblem("a");
  int64_t other = addSession("other", "here"), now = addSession("now", "here");
  run("UPDATE session SET device = 'old' WHERE id = :p1", {other});
  addMeasurements({{other, problem, 1.0, "solver-a-v1", "tile=1"}});
  EXPECT_THAT(getConfigs(readLatest(now, {}, 100)), ElementsAre("tile=1"));
  run("UPDATE session SET device = 'new' WHERE id = :p1", {now});
  EXPECT_THAT(getConfigs(readLatest(now, {}, 100)), IsEmpty());
}

INSTANTIATE_FLEET_TEST(MeasurementsTest);
