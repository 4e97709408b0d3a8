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

  CopiedRows copy(int64_t session, int64_t after, int64_t max,
                  Journal &journal) {
    auto rows = copyMeasurements(*database, session, after, max, journal);
    EXPECT_TRUE(rows) << rows.message();
    return rows ? *rows : CopiedRows();
  }

  static std::unique_ptr<Journal> makeJournal() {
    return Journal::openInMemory({"here", 1, "", ""});
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

TEST_P(MeasurementsTest, theLatestRowsOfTheSameContextAreCopied) {
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
  auto journal = makeJournal();
  CopiedRows rows = copy(now, 0, 100, *journal);
  EXPECT_EQ(rows.number, 3);
  EXPECT_EQ(journal->getMeasurements("a").size(), 2u);
  EXPECT_EQ(journal->getMeasurements("b").size(), 1u);
  // There is nothing new.
  CopiedRows more = copy(now, rows.last, 100, *journal);
  EXPECT_EQ(more.number, 0);
  EXPECT_EQ(more.last, rows.last);
  // Of many rows, the latest.
  auto small = makeJournal();
  CopiedRows latest = copy(now, 0, 2, *small);
  EXPECT_EQ(latest.number, 2);
  EXPECT_EQ(latest.last, rows.last);
  EXPECT_EQ(small->getMeasurements("a").size(), 1u);
  EXPECT_EQ(small->getMeasurements("b").size(), 1u);
}

INSTANTIATE_FLEET_TEST(MeasurementsTest);
