//===- ReleaseTest.cpp - Releases and what they refuse --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultsFixture.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <iostream>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

class ReleaseTest : public ResultsTest {
protected:
  void SetUp() override {
    ResultsTest::SetUp();
    if (!database)
      return;
    for (const char *key : {"a", "b", "c"})
      problems.push_back(addProblem(key));
  }

  int64_t countReleases() { return getInteger("SELECT count(*) FROM release"); }
  std::string getSolver(const std::string &release, int64_t problem) {
    return getText("SELECT solver FROM release_record JOIN measurement ON "
                   "measurement.id = measurement_id WHERE release = :p1 AND "
                   "release_record.problem_id = :p2",
                   {release, problem});
  }
  /// Measurements of one session, with noise, of 1 ms times `ratio`.
  void addNoisyLabel(const std::string &label,
                     const std::vector<int64_t> &tuned, double spread,
                     uint64_t seed, double ratioOfFirst = 1) {
    int64_t session = addSession(label, "host");
    std::vector<MeasuredRow> rows;
    for (int64_t problem : tuned) {
      double time = rows.empty() ? ratioOfFirst : 1;
      rows.push_back({session, problem});
      rows.back().samples =
          drawSamples(time, spread, 16, seed * 1000 + rows.size());
    }
    addMeasurements(rows);
  }

  std::vector<int64_t> problems;
};

} // namespace

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

TEST_P(ReleaseTest, aReleaseHasTheBestOfEachProblem) {
  int64_t session = addLabel("L", "host", problems);
  addMeasurement({session, problems[0], 0.5, "fast-v1"});
  addMeasurement({session, problems[0], 0.4, "race-v1", "tile=1", "race"});
  addMeasurement({session,
                  problems[1],
                  0.1,
                  "modelled-v1",
                  "",
                  "final",
                  "ok",
                  {},
                  /*isModelled=*/true});
  addMeasurement({session, problems[2], 0.5, "late-v1"});
  addMeasurement(
      {session, problems[2], 0.5, "late-v1", "tile=1", "race", "wrong"});
  ReleaseOutcome outcome = tryRelease({"1", "", "L", "the first"});
  EXPECT_EQ(outcome.records, 3);
  EXPECT_EQ(outcome.fromLabel, 3);
  EXPECT_EQ(outcome.diff.gained.size(), 3u);
  EXPECT_EQ(outcome.describeFaults(), "");
  EXPECT_EQ(getSolver("1", problems[0]), "fast-v1");
  EXPECT_EQ(getSolver("1", problems[1]), "solver-a-v1");
  EXPECT_EQ(getSolver("1", problems[2]), "solver-a-v1");

  auto releases = listReleases(*database);
  ASSERT_TRUE(releases) << releases.message();
  ASSERT_EQ(releases->size(), 1u);
  EXPECT_EQ(releases->front().remark, "the first");
  EXPECT_EQ(releases->front().targets.at("host"), 3);
}

TEST_P(ReleaseTest, whatTheLabelHasNotTunedIsCopied) {
  addLabel("old", "host", problems);
  addLabel("gpu", "gfx942:cu=304", problems);
  release("1", "", "old");
  release("2", "1", "gpu");
  EXPECT_EQ(getInteger("SELECT count(*) FROM release_record WHERE release = "
                       "'2'"),
            6);
  int64_t session = addLabel("new", "host", {problems[0]});
  addEndedJob(session, problems[1], "aborted");
  release("3", "2", "new");
  EXPECT_EQ(getInteger("SELECT count(*) FROM release_record WHERE release = "
                       "'3' AND session_id = :p1",
                       {session}),
            1);
  EXPECT_EQ(getInteger("SELECT count(*) FROM release_record WHERE release = "
                       "'3'"),
            6);
  ReleaseDiff changes = diff("3", "2");
  EXPECT_EQ(changes.same, 5);
  EXPECT_EQ(changes.changes.size(), 1u);
}

TEST_P(ReleaseTest, resultsFromBeforeAJobWasBegunAnewDoNotCount) {
  int64_t session = addLabel("L", "host", {problems[0]});
  int64_t last = addMeasurement({session, problems[0], 0.1, "old-v1"});
  run("UPDATE job SET known_from = :p1", {last});
  addMeasurement({session, problems[0], 0.9, "new-v1"});
  release("1", "", "L");
  EXPECT_EQ(getSolver("1", problems[0]), "new-v1");
}

/// What a search had found when it was ended is no result.
TEST_P(ReleaseTest, halfSearchedProblemsAreNotReleased) {
  addLabel("old", "host", problems);
  release("1", "", "old");
  int64_t session = addLabel("new", "host", {problems[0]});
  int64_t waiting = addProblem("d");
  addEndedJob(session, problems[1], "aborted", "aborted: by a person");
  addEndedJob(session, problems[2], "failed", "lost: gone (10 times)");
  addJob(session, waiting);
  for (int64_t problem : {problems[1], problems[2], waiting})
    addMeasurement({session, problem, 0.5, "race-v1", "tile=1", "race"});
  ReleaseRequest request = {"2", "1", "new", ""};
  ReleaseOutcome outcome = tryRelease(request);
  EXPECT_EQ(outcome.describeFaults(), "1 problem is lost, 1 job has not ended");
  ASSERT_EQ(outcome.diff.lost.size(), 1u);
  EXPECT_EQ(outcome.diff.lost.front().reason, "lost: gone (10 times)");
  EXPECT_EQ(outcome.fromLabel, 1);
  request.accept = true;
  EXPECT_FALSE(tryRelease(request).isRefused);
  EXPECT_EQ(getSolver("2", problems[1]), "solver-a-v1");
  EXPECT_EQ(getInteger("SELECT count(*) FROM release_record JOIN measurement "
                       "ON measurement.id = measurement_id WHERE stage = "
                       "'race'"),
            0);
}

TEST_P(ReleaseTest, aDeletedLabelStaysReleased) {
  addLabel("L", "host", problems);
  release("1", "", "L");
  auto deleted = deleteLabel(*database, "L");
  ASSERT_TRUE(deleted) << deleted.message();
  auto set = readResultSet(*database, ResultsName::forRelease("1"));
  ASSERT_TRUE(set) << set.message();
  EXPECT_EQ(set->records.size(), 3u);
  EXPECT_FALSE(readResultSet(*database, ResultsName::forLabel("L")));
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST_P(ReleaseTest, aPlantedRegressionIsRefused) {
  addNoisyLabel("old", problems, 0.01, 1);
  addNoisyLabel("new", problems, 0.01, 2, /*ratioOfFirst=*/1.1);
  release("1", "", "old");
  ReleaseRequest request = {"2", "1", "new", ""};
  ReleaseOutcome outcome = tryRelease(request);
  EXPECT_TRUE(outcome.isRefused);
  EXPECT_EQ(outcome.describeFaults(), "1 time rose");
  auto slower = outcome.diff.find(TimeVerdict::Rose);
  ASSERT_EQ(slower.size(), 1u);
  EXPECT_EQ(slower.front()->newer.key, "a");
  EXPECT_NEAR(slower.front()->time.ratio, 1.1, 0.02);
  EXPECT_EQ(countReleases(), 1);
  EXPECT_EQ(getInteger("SELECT count(*) FROM release_record"), 3);

  request.accept = true;
  EXPECT_FALSE(tryRelease(request).isRefused);
  EXPECT_EQ(countReleases(), 2);
  EXPECT_EQ(diff("2", "1").find(TimeVerdict::Rose).size(), 1u);
  EXPECT_EQ(diff("1", "2").find(TimeVerdict::Fell).size(), 1u);
}

TEST_P(ReleaseTest, lostProblemsAreRefused) {
  addLabel("old", "host", problems);
  release("1", "", "old");
  int64_t session = addLabel("new", "host", {problems[0]});
  addEndedJob(session, problems[1], "failed", "crash: signal 11");
  addEndedJob(session, problems[2]);
  addMeasurement({session, problems[2], 1, "solver-a-v1", "", "race", "wrong"});
  ReleaseRequest request = {"2", "1", "new", ""};
  ReleaseOutcome outcome = tryRelease(request);
  EXPECT_TRUE(outcome.isRefused);
  EXPECT_EQ(outcome.describeFaults(), "2 problems are lost");
  ASSERT_EQ(outcome.diff.lost.size(), 2u);
  EXPECT_EQ(outcome.diff.lost[0].reason, "crash: signal 11");
  EXPECT_EQ(outcome.diff.lost[1].reason, "no candidate is right");
  EXPECT_EQ(countReleases(), 1);

  request.accept = true;
  EXPECT_FALSE(tryRelease(request).isRefused);
  EXPECT_EQ(getInteger("SELECT count(*) FROM release_record WHERE release = "
                       "'2'"),
            1);
  EXPECT_EQ(diff("2", "1").lost.size(), 2u);
  EXPECT_EQ(diff("1", "2").gained.size(), 2u);
}

TEST_P(ReleaseTest, jobsHaveToEnd) {
  int64_t session = addLabel("L", "host", {problems[0]});
  addJob(session, problems[1]);
  ReleaseRequest request = {"1", "", "L", ""};
  ReleaseOutcome outcome = tryRelease(request);
  EXPECT_TRUE(outcome.isRefused);
  EXPECT_EQ(outcome.describeFaults(), "1 job has not ended");
  EXPECT_EQ(countReleases(), 0);
  request.accept = true;
  EXPECT_FALSE(tryRelease(request).isRefused);
}

/// Draws with fixed seeds: two measurements of the same 200 problems.
TEST_P(ReleaseTest, noiseIsNotRefused) {
  std::vector<int64_t> tuned;
  for (int i = 0; i < 200; ++i)
    tuned.push_back(addProblem("p" + std::to_string(i)));
  int refused = 0, planted = 0;
  constexpr int kDraws = 10;
  for (int i = 0; i < kDraws; ++i) {
    std::string number = std::to_string(i), old = "old" + number;
    addNoisyLabel(old, tuned, 0.02, 10 + i);
    addNoisyLabel("new" + number, tuned, 0.02, 50 + i);
    addNoisyLabel("slow" + number, tuned, 0.02, 90 + i, /*ratioOfFirst=*/1.1);
    tryRelease({old, "", old, "", /*accept=*/true});
    refused += tryRelease({"new" + number, old, "new" + number, ""}).isRefused;
    planted +=
        tryRelease({"slow" + number, old, "slow" + number, ""}).isRefused;
  }
  std::cout << "refused: " << refused << " of " << kDraws
            << " without a change, " << planted
            << " with one of 200 times 10 % longer\n";
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(planted, kDraws);
}

/// The candidates that did not win show how much two runs of one kernel differ.
TEST_P(ReleaseTest, candidatesThatWereMeasuredTwiceShowTheNoise) {
  for (bool hasRepeats : {false, true}) {
    std::string suffix = hasRepeats ? "2" : "1";
    std::vector<MeasuredRow> rows;
    for (const char *name : {"old", "new"}) {
      bool isNew = name == std::string("new");
      int64_t session = addSession(name + suffix, "host");
      for (int i = 0; i < 60; ++i) {
        int64_t problem =
            isNew || hasRepeats
                ? getInteger("SELECT id FROM problem WHERE key = :p1",
                             {"n" + std::to_string(i)})
                : addProblem("n" + std::to_string(i));
        // One of the times is 6 % longer.
        double time = isNew && i == 7 ? 1.06 : 1;
        rows.push_back({session, problem});
        rows.back().samples = drawSamples(time, 0.01, 16, rows.size());
        if (!hasRepeats)
          continue;
        double other = !isNew ? 2 : i % 2 ? 2 * 1.12 : 2 / 1.12;
        rows.push_back({session, problem, 1, "solver-b-v1"});
        rows.back().samples = drawSamples(other, 0.01, 16, rows.size());
      }
    }
    addMeasurements(rows);
    std::string older = "label:old" + suffix, newer = "label:new" + suffix;
    ReleaseDiff changes = diff(newer, older);
    EXPECT_EQ(changes.find(TimeVerdict::Rose).size(), hasRepeats ? 0u : 1u);
    EXPECT_EQ(changes.repeated.size(), 1u);
    EXPECT_EQ(changes.repeated.front().candidates, hasRepeats ? 120 : 60);
    EXPECT_EQ(diff(older, newer).repeated.front().candidates,
              hasRepeats ? 120 : 60);
  }
}

/// The same build on the same device, which does everything more slowly; with
/// another build, it may be the compiler.
TEST_P(ReleaseTest, aSlowerMachineIsToldFromASlowerBuild) {
  std::vector<int64_t> problems;
  for (int i = 0; i < 30; ++i)
    problems.push_back(addProblem("problem " + std::to_string(i)));
  int64_t older = addSession("old", "gfx942");
  std::vector<MeasuredRow> rows;
  auto add = [&](int64_t session, double factor) {
    for (auto [i, problem] : llvm::enumerate(problems)) {
      addEndedJob(session, problem);
      rows.push_back({session, problem});
      rows.back().samples = drawSamples(factor, 0.01, 20, rows.size());
    }
    addMeasurements(rows);
    rows.clear();
  };
  add(older, 1);
  release("1", "", "old");
  add(addSession("busy", "gfx942"), 1.2);
  ReleaseOutcome busy = tryRelease({"2", "1", "busy", ""});
  EXPECT_FALSE(busy.isRefused) << busy.describeFaults();
  ASSERT_EQ(busy.diff.repeated.size(), 1u);
  EXPECT_TRUE(busy.diff.repeated.front().isMachine);
  EXPECT_NEAR(busy.diff.repeated.front().ratio, 1.2, 0.02);
  int64_t rebuilt = addSession("rebuilt", "gfx942");
  run("UPDATE session SET context_llvm = '99' WHERE id = :p1", {rebuilt});
  add(rebuilt, 1.2);
  ReleaseOutcome slow = tryRelease({"3", "1", "rebuilt", ""});
  EXPECT_TRUE(slow.isRefused);
  EXPECT_EQ(slow.diff.find(TimeVerdict::Rose).size(), problems.size());
  EXPECT_FALSE(slow.diff.repeated.front().isMachine);
}

/// A label of a build that the base knows, too, over records of another one:
/// the two sides have the same builds, and the records that are compared have
/// not.
TEST_P(ReleaseTest, eachPairOfRecordsHasItsOwnConditions) {
  std::vector<int64_t> first, second;
  for (int i = 0; i < 30; ++i) {
    first.push_back(addProblem("first " + std::to_string(i)));
    second.push_back(addProblem("second " + std::to_string(i)));
  }
  auto add = [&](const std::string &label, const std::string &llvm,
                 const std::vector<int64_t> &problems, double factor) {
    int64_t session = addSession(label, "gfx942");
    run("UPDATE session SET context_llvm = :p1 WHERE id = :p2",
        {llvm, session});
    std::vector<MeasuredRow> rows;
    for (auto [i, problem] : llvm::enumerate(problems)) {
      addEndedJob(session, problem);
      rows.push_back({session, problem});
      rows.back().samples = drawSamples(factor, 0.01, 20, i + 1);
    }
    addMeasurements(rows);
  };
  add("a", "1", first, 1);
  release("1", "", "a");
  add("b", "2", second, 1);
  release("2", "1", "b");
  add("c", "2", first, 1.2);
  ReleaseOutcome slower = tryRelease({"3", "2", "c", ""});
  EXPECT_TRUE(slower.isRefused);
  EXPECT_EQ(slower.diff.find(TimeVerdict::Rose).size(), first.size());
  add("d", "2", second, 1.2);
  EXPECT_FALSE(tryRelease({"4", "2", "d", ""}).isRefused);
}

/// A model's time says nothing about a measured one.
TEST_P(ReleaseTest, modelledTimesAreNotComparedWithMeasuredOnes) {
  addLabel("old", "gfx942:cu=304", problems);
  release("1", "", "old");
  int64_t session = addSession("new", "gfx942:cu=304");
  run("UPDATE session SET context_target = 'gfx942:cu=304/0/model:m-1' WHERE "
      "id = :p1",
      {session});
  for (int64_t problem : problems)
    addMeasurement({session,
                    problem,
                    9,
                    "solver-a-v1",
                    "",
                    "race",
                    "ok",
                    {},
                    /*isModelled=*/true});
  ReleaseOutcome outcome = tryRelease({"2", "1", "new", ""});
  EXPECT_TRUE(outcome.isRefused);
  EXPECT_EQ(outcome.describeFaults(), "3 times cannot be compared");
}

TEST_P(ReleaseTest, requestsAreChecked) {
  addLabel("L", "host", problems);
  addSession("empty", "host");
  release("1", "", "L");
  auto getError = [&](const ReleaseRequest &request) {
    auto outcome = makeRelease(*database, request);
    return outcome ? "" : outcome.message();
  };
  EXPECT_NE(getError({"", "", "L", ""}).find("the release ''"),
            std::string::npos);
  EXPECT_NE(
      getError({"2\x1b[31m", "", "L", ""}).find("is not 1 to 100 letters"),
      std::string::npos);
  EXPECT_NE(getError({"label:2", "", "L", ""}).find("begins with 'label:'"),
            std::string::npos);
  EXPECT_NE(getError({"1", "", "L", ""}).find("already"), std::string::npos);
  EXPECT_NE(getError({"2", "", "L", ""}).find("there are releases already"),
            std::string::npos);
  EXPECT_EQ(getError({"2", "3", "L", ""}), "there is no release '3'");
  EXPECT_EQ(getError({"2", "1", "M", ""}), "there is no label 'M'");
  EXPECT_EQ(getError({"2", "1", "empty", ""}),
            "label 'empty' has no verified results");
  EXPECT_EQ(getError({"2", "1", "L", "a\nb"}),
            "the remark 'a\\x0ab' has characters that are not printed");
  EXPECT_EQ(countReleases(), 1);
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

TEST_P(ReleaseTest, aReleaseIsComparedWithALabel) {
  addLabel("old", "host", problems);
  release("1", "", "old");
  int64_t session = addLabel("new", "host", {});
  addEndedJob(session, problems[0]);
  addMeasurement({session, problems[0], 0.5, "solver-b-v1"});
  addEndedJob(session, problems[1], "failed", "because");
  int64_t other = addProblem("d");
  addEndedJob(session, other);
  addMeasurement({session, other, 0.5, "solver-b-v1"});
  ReleaseDiff changes = diff("label:new", "1");
  EXPECT_EQ(changes.lost.size(), 1u);
  EXPECT_EQ(changes.lost.front().reason, "because");
  EXPECT_EQ(changes.gained.size(), 1u);
  EXPECT_EQ(changes.find(TimeVerdict::Fell).size(), 1u);
  EXPECT_EQ(changes.findNewSolutions().size(), 1u);
  EXPECT_EQ(changes.notTuned, 1);
  EXPECT_EQ(changes.wins.at("solver-a-v1").first, 2);
  EXPECT_EQ(changes.wins.at("solver-b-v1").second, 2);
  ReleaseDiff back = diff("1", "label:new");
  EXPECT_EQ(back.lost.size(), 1u);
  EXPECT_EQ(back.gained.size(), 1u);
  EXPECT_EQ(back.notTuned, 1);
}

TEST_P(ReleaseTest, whatMayExplainTimesIsNamed) {
  int64_t old = addLabel("old", "host", problems);
  run("UPDATE session SET device = 'driver 1' WHERE id = :p1", {old});
  int64_t session = addLabel("new", "host", problems);
  run("UPDATE session SET device = 'driver 2' WHERE id = :p1", {session});
  ReleaseDiff changes = diff("label:new", "label:old");
  ASSERT_EQ(changes.sessions.size(), 1u);
  EXPECT_STREQ(changes.sessions.front().property.c_str(), "device");
  EXPECT_EQ(changes.sessions.front().older, "driver 1");
  EXPECT_EQ(changes.sessions.front().newer, "driver 2");
}

INSTANTIATE_FLEET_TEST(ReleaseTest);
