//===- JournalTest.cpp ----------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/Journal.h"

#include "StoreTestFiles.h"
#include "TestDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <pwd.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

const JournalContext kContext = {"x86-64/znver5/512", 2, "0.1.0", "22.1.8"};
const CandidateKey kKey = {"conv(...)", "conv-igemm-v1", "tile_m=14"};

Measurement makeMeasurement(const std::string &config, double median,
                            MeasurementStage stage = MeasurementStage::Race) {
  Measurement m;
  m.key = {"conv(...)", "conv-igemm-v1", config};
  m.stage = stage;
  m.status = MeasurementStatus::Ok;
  m.samples = {median, median};
  m.median = median;
  return m;
}

class JournalTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("deep/er/host.journal");

  std::unique_ptr<Journal> open(const JournalContext &context = kContext) {
    auto journal = Journal::open(path, context);
    EXPECT_TRUE(journal) << journal.message();
    return journal ? std::move(*journal) : nullptr;
  }

  std::string openError() {
    auto journal = Journal::open(path, kContext);
    return journal ? "" : journal.message();
  }

  /// Opens it and returns its output on stderr.
  std::string openRemark() {
    testing::internal::CaptureStderr();
    open();
    return testing::internal::GetCapturedStderr();
  }

  /// Runs in a process of its own, which dies without saying goodbye.
  template <typename Fn>
  void runAndKill(Fn body) {
    pid_t child = fork();
    if (child == 0) {
      body();
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }

  std::string query(const std::string &sql) {
    sqlite3 *database = nullptr;
    sqlite3_open(path.c_str(), &database);
    std::string result;
    auto collect = [](void *out, int, char **values, char **) {
      *static_cast<std::string *>(out) += values[0] ? values[0] : "NULL";
      return 0;
    };
    sqlite3_exec(database, sql.c_str(), collect, &result, nullptr);
    sqlite3_close(database);
    return result;
  }
};

} // namespace

TEST_F(JournalTest, KeepsMeasurements) {
  Measurement m = makeMeasurement("tile_m=14", 0.25);
  m.samples = {0.25, 0.125, 1.0 / 3};
  m.mad = 0.1;
  m.maxError = 1e-6;
  m.relativeL2 = 1e-7;
  m.workspaceBytes = 4096;
  m.rounds = 2;
  m.detail = "fine";
  ASSERT_TRUE(open()->record(m));
  std::vector<Measurement> read = open()->getMeasurements("conv(...)");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].key, m.key);
  EXPECT_EQ(read[0].status, MeasurementStatus::Ok);
  EXPECT_EQ(read[0].samples, m.samples);
  EXPECT_EQ(read[0].median, 0.25);
  EXPECT_EQ(read[0].mad, 0.1);
  EXPECT_EQ(read[0].maxError, 1e-6);
  EXPECT_EQ(read[0].relativeL2, 1e-7);
  EXPECT_EQ(read[0].workspaceBytes, 4096);
  EXPECT_EQ(read[0].rounds, 2);
  EXPECT_EQ(read[0].detail, "fine");
}

TEST_F(JournalTest, KeepsInfinityAndNaN) {
  Measurement m = makeMeasurement("", 1);
  m.status = MeasurementStatus::Wrong;
  m.maxError = INFINITY;
  m.relativeL2 = NAN;
  ASSERT_TRUE(open()->record(m));
  std::vector<Measurement> read = open()->getMeasurements("conv(...)");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_TRUE(std::isinf(read[0].maxError));
  EXPECT_TRUE(std::isnan(read[0].relativeL2));
}

TEST_F(JournalTest, OnlyCorrectCandidatesAreBest) {
  auto journal = open();
  EXPECT_FALSE(journal->getBest("conv(...)"));
  for (MeasurementStatus status :
       {MeasurementStatus::Wrong, MeasurementStatus::Crashed,
        MeasurementStatus::TimedOut, MeasurementStatus::Failed}) {
    Measurement bad = makeMeasurement(getStatusName(status).str(), 0.01);
    bad.status = status;
    ASSERT_TRUE(journal->record(bad));
  }
  EXPECT_FALSE(journal->getBest("conv(...)"));
  ASSERT_TRUE(journal->record(makeMeasurement("b", 3)));
  ASSERT_TRUE(journal->record(makeMeasurement("a", 2)));
  EXPECT_EQ(journal->getBest("conv(...)")->key.config, "a");
  EXPECT_EQ(journal->getMeasurements("conv(...)").size(), 6u);
}

TEST_F(JournalTest, FinalistsGoBeforeOthers) {
  auto journal = open();
  ASSERT_TRUE(journal->record(makeMeasurement("lucky", 1)));
  ASSERT_TRUE(journal->record(makeMeasurement("steady", 1.1)));
  auto final = makeMeasurement("steady", 1.2, MeasurementStage::Final);
  ASSERT_TRUE(journal->record(final));
  EXPECT_EQ(journal->getBest("conv(...)")->key.config, "steady");
  EXPECT_EQ(query("SELECT config FROM find_db ORDER BY rank"), "steadylucky");
  EXPECT_EQ(query("SELECT config FROM perf_db"), "steady");
}

/// Machines of one kind may differ in their caches.
TEST_F(JournalTest, ViewsRankEachMachineByItself) {
  for (auto [caches, config, median] :
       {std::tuple("1K/2K/3K", "a", 1.0), std::tuple("1K/2K/3K", "b", 2.0),
        std::tuple("1K/2K/6K", "b", 0.5), std::tuple("1K/2K/6K", "a", 3.0)}) {
    JournalContext context = kContext;
    context.caches = caches;
    ASSERT_TRUE(open(context)->record(makeMeasurement(config, median)));
  }
  EXPECT_EQ(query("SELECT caches || config || rank || ' ' FROM find_db ORDER "
                  "BY caches, rank"),
            "1K/2K/3Ka1 1K/2K/3Kb2 1K/2K/6Kb1 1K/2K/6Ka2 ");
  EXPECT_EQ(
      query("SELECT caches || config || ' ' FROM perf_db ORDER BY caches"),
      "1K/2K/3Ka 1K/2K/6Kb ");
}

TEST_F(JournalTest, LaterMeasurementsReplaceEarlierOnes) {
  auto journal = open();
  ASSERT_TRUE(journal->record(makeMeasurement("a", 1)));
  Measurement wrong = makeMeasurement("a", 1, MeasurementStage::Final);
  wrong.status = MeasurementStatus::Wrong;
  ASSERT_TRUE(journal->record(wrong));
  EXPECT_FALSE(journal->getBest("conv(...)"));
  EXPECT_EQ(query("SELECT count(*) FROM find_db"), "0");
  EXPECT_EQ(query("SELECT count(*) FROM measurement"), "2");
}

/// Even one that was in a final before.
TEST_F(JournalTest, WhatWasFoundWrongLaterIsNotServed) {
  auto journal = open();
  for (MeasurementStatus status :
       {MeasurementStatus::Wrong, MeasurementStatus::Crashed}) {
    ASSERT_TRUE(
        journal->record(makeMeasurement("a", 1, MeasurementStage::Final)));
    EXPECT_TRUE(journal->getBest("conv(...)"));
    Measurement race = makeMeasurement("a", 1);
    race.status = status;
    ASSERT_TRUE(journal->record(race));
    EXPECT_FALSE(journal->getBest("conv(...)"));
  }
  ASSERT_TRUE(
      journal->record(makeMeasurement("a", 1, MeasurementStage::Final)));
  Measurement hung = makeMeasurement("a", 1);
  hung.status = MeasurementStatus::TimedOut;
  ASSERT_TRUE(journal->record(hung));
  EXPECT_TRUE(journal->getBest("conv(...)"));
}

TEST_F(JournalTest, KilledRunLosesNothingThatWasRecorded) {
  runAndKill([&] {
    auto journal = open();
    for (int i = 0; i < 20; ++i)
      (void)journal->record(makeMeasurement(std::to_string(i), i + 1));
    (void)journal->recordStarted(kKey, MeasurementStage::Race);
  });
  auto journal = open();
  EXPECT_EQ(journal->getMeasurements("conv(...)").size(), 20u);
  EXPECT_EQ(journal->countInterrupted(kKey, MeasurementStage::Race), 1);
  EXPECT_EQ(journal->countInterrupted(kKey, MeasurementStage::Final), 0);
}

TEST_F(JournalTest, CountsRunsThatEndedDuringACandidate) {
  for (int i = 0; i < 3; ++i)
    runAndKill(
        [&] { (void)open()->recordStarted(kKey, MeasurementStage::Race); });
  auto journal = open();
  EXPECT_EQ(journal->countInterrupted(kKey, MeasurementStage::Race), 3);
  ASSERT_TRUE(journal->record(makeMeasurement("tile_m=14", 1)));
  EXPECT_EQ(journal->countInterrupted(kKey, MeasurementStage::Race), 0);
}

TEST_F(JournalTest, LiveRunsAreNotInterrupted) {
  auto journal = open();
  ASSERT_TRUE(journal->recordStarted(kKey, MeasurementStage::Race));
  EXPECT_EQ(journal->countInterrupted(kKey, MeasurementStage::Race), 0);
}

/// Runs of another container or machine count as alive for as long as a
/// measurement may take, since nobody can tell.
TEST_F(JournalTest, RunsElsewhereAreGivenAnHour) {
  ASSERT_TRUE(open()->recordStarted(kKey, MeasurementStage::Race));
  EXPECT_EQ(changeStore(path, "UPDATE measurement SET run = 'elsewhere:1:2'"),
            "");
  EXPECT_EQ(open()->countInterrupted(kKey, MeasurementStage::Race), 0);
  EXPECT_EQ(changeStore(path, "UPDATE measurement SET time = "
                              "strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-61 "
                              "minutes')"),
            "");
  EXPECT_EQ(open()->countInterrupted(kKey, MeasurementStage::Race), 1);
}

TEST_F(JournalTest, TwoProcessesWriteAtOnce) {
  constexpr int kRows = 100;
  pid_t children[2];
  for (pid_t &child : children) {
    child = fork();
    if (child != 0)
      continue;
    bool ok = true;
    auto journal = Journal::open(path, kContext);
    for (int i = 0; ok && i < kRows; ++i)
      ok = journal && (*journal)->record(makeMeasurement(
                          std::to_string(getpid() * 1000 + i), 1));
    _exit(ok ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open()->getMeasurements("conv(...)").size(), 2u * kRows);
}

TEST_F(JournalTest, RecordsOfOtherVersionsAreIgnoredWithARemark) {
  ASSERT_TRUE(open()->record(makeMeasurement("a", 1)));
  for (const JournalContext &other :
       {JournalContext{"x86-64/znver5/512", 2, "0.2.0", "22.1.8"},
        JournalContext{"x86-64/znver5/512", 2, "0.1.0", "23.1.0"}}) {
    auto journal = open(other);
    EXPECT_FALSE(journal->getBest("conv(...)"));
    EXPECT_EQ(*journal->describeStale(),
              "journal " + path +
                  ": 1 records of other tarpon or LLVM versions are ignored");
  }
  auto threads = kContext;
  threads.threads = 1;
  EXPECT_FALSE(open(threads)->getBest("conv(...)"));
  EXPECT_FALSE(open(threads)->describeStale());
  EXPECT_FALSE(open()->describeStale());
  EXPECT_TRUE(open()->getBest("conv(...)"));
}

TEST_F(JournalTest, OverwrittenPageIsNoticedAndSetAside) {
  {
    auto journal = open();
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(journal->record(makeMeasurement(std::to_string(i), 1)));
  }
  std::string text = readText(path);
  ASSERT_GT(text.size(), 5 * 4096u);
  text.replace(4 * 4096, 4096, std::string(4096, '\x5a'));
  writeText(path, text);
  EXPECT_THAT(openRemark(),
              StartsWith("remark: journal " + path + " is damaged: "));
  EXPECT_EQ(readText(path + ".damaged-1"), text);
}

TEST_F(JournalTest, TruncatedFileIsNoticed) {
  {
    auto journal = open();
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(journal->record(makeMeasurement(std::to_string(i), 1)));
  }
  std::string text = readText(path);
  writeText(path, text.substr(0, text.size() / 2));
  EXPECT_THAT(openRemark(),
              StartsWith("remark: journal " + path + " is damaged: "));
}

TEST_F(JournalTest, ForeignDatabaseIsRefused) {
  ASSERT_TRUE(open());
  path = directory.file("foreign.db");
  query("CREATE TABLE t (x)");
  EXPECT_EQ(openError(), "file " + path + " is not a journal of tarpon");
}

TEST_F(JournalTest, MissingTablesAndColumnsAreNoticed) {
  for (const char *damage :
       {"DROP TABLE measurement", "DROP TABLE pipeline",
        "ALTER TABLE pipeline RENAME COLUMN accuracy TO precision"}) {
    path = directory.file(std::string(damage) + ".journal");
    ASSERT_TRUE(open()->record(makeMeasurement("a", 1)));
    query("DROP VIEW perf_db; DROP VIEW find_db; DROP VIEW latest");
    EXPECT_EQ(openError(), "");
    query(damage);
    EXPECT_THAT(openRemark(), StartsWith("remark: journal " + path +
                                         " is damaged: no such "));
  }
}

TEST_F(JournalTest, TimesThatCannotBeAreIgnoredWithARemark) {
  auto journal = open();
  ASSERT_TRUE(journal->record(makeMeasurement("good", 5)));
  EXPECT_FALSE(journal->describeImpossible());
  for (double time : {-1.0, 0.0, double(INFINITY), double(NAN)})
    ASSERT_TRUE(journal->record(makeMeasurement(std::to_string(time), time)));
  EXPECT_EQ(journal->getBest("conv(...)")->key.config, "good");
  EXPECT_EQ(journal->getMeasurements("conv(...)").size(), 1u);
  EXPECT_THAT(*journal->describeImpossible(),
              HasSubstr(": 4 records have impossible times"));
  PipelineMeasurement m;
  m.status = MeasurementStatus::Ok;
  m.median = -1;
  ASSERT_TRUE(journal->recordPipeline(m));
  EXPECT_FALSE(journal->getPipeline(m.key));
}

TEST_F(JournalTest, NewerSchemaIsRefused) {
  ASSERT_TRUE(open());
  query("PRAGMA user_version = 9");
  EXPECT_EQ(openError(), "journal " + path +
                             " has schema version 9, which is newer than this "
                             "tarpon's 4");
  // It is left as it is, with its rows.
  EXPECT_EQ(query("PRAGMA user_version"), "9");
}

TEST_F(JournalTest, KeepsPipelines) {
  PipelineMeasurement m;
  m.key = {"abc", "{}", "int8", "nhwc", "on", "c0ffee", "50lved"};
  m.status = MeasurementStatus::Ok;
  m.accuracy = 0.01;
  m.samples = {5, 6, 7};
  m.median = 6;
  m.mad = 1;
  auto journal = open();
  ASSERT_TRUE(journal->recordPipeline(m));
  auto read = journal->getPipeline(m.key);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->status, MeasurementStatus::Ok);
  EXPECT_EQ(read->accuracy, 0.01);
  EXPECT_THAT(read->samples, ElementsAre(5, 6, 7));
  m.key.solutions = "others";
  EXPECT_FALSE(journal->getPipeline(m.key));
}

TEST_F(JournalTest, KeepsAccuraciesWithoutTimes) {
  PipelineMeasurement m;
  m.key = {"abc", "{}", "int8", "nhwc", "on", "c0ffee", "50lved"};
  m.status = MeasurementStatus::Ok;
  m.accuracy = 0.01;
  m.isTimed = false;
  auto journal = open();
  ASSERT_TRUE(journal->recordPipeline(m));
  auto read = journal->getPipeline(m.key);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->isTimed);
  EXPECT_EQ(read->accuracy, 0.01);
  // Nothing is said against it, or left to be repaired.
  EXPECT_EQ(query("SELECT count(*) FROM pipeline WHERE median IS NULL"), "1");
}

TEST_F(JournalTest, KeepsTheTimesOfLayers) {
  PipelineMeasurement m;
  m.key = {"abc", "{}", "fp32", "nhwc", "on", "c0ffee", "50lved"};
  m.status = MeasurementStatus::Ok;
  m.median = 1;
  m.problemsMs = {{"relu(1x8xf32)->1x8xf32", 0.25}, {"\"quoted\"", 0.5}};
  auto journal = open();
  ASSERT_TRUE(journal->recordPipeline(m));
  EXPECT_EQ(journal->getPipeline(m.key)->problemsMs, m.problemsMs);
  // Nobody believes in impossible times.
  m.problemsMs["abs"] = -1;
  ASSERT_TRUE(journal->recordPipeline(m));
  m.problemsMs.erase("abs");
  EXPECT_EQ(journal->getPipeline(m.key)->problemsMs, m.problemsMs);
}

TEST_F(JournalTest, KnowsTuningsThatHaveNotEnded) {
  runAndKill([this] {
    auto journal = open();
    (void)journal->beginTuning("a model");
    (void)journal->record(makeMeasurement("tile_m=14", 1));
    Measurement wrong = makeMeasurement("tile_m=12", 3);
    wrong.status = MeasurementStatus::Wrong;
    (void)journal->record(wrong);
    (void)journal->recordFinding("conv(...)", {Finding::Searched, {}});
  });
  auto journal = open();
  ASSERT_TRUE(journal->record(makeMeasurement("tile_m=16", 2)));
  EXPECT_TRUE(journal->beginTuning("another model")->empty());
  auto died = journal->beginTuning("a model");
  ASSERT_TRUE(died) << died.message();
  ASSERT_EQ(died->size(), 1u);
  EXPECT_EQ(journal->getMeasurements("conv(...)").size(), 3u);
  EXPECT_EQ(journal->getFindings("conv(...)").size(), 1u);
  // That a kernel is wrong is never hidden.
  auto others = journal->getMeasurements("conv(...)", *died);
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[0].key.config, "tile_m=12");
  EXPECT_EQ(others[1].key.config, "tile_m=16");
  EXPECT_TRUE(journal->getFindings("conv(...)", *died).empty());

  ASSERT_TRUE(journal->endTuning("a model"));
  EXPECT_TRUE(journal->beginTuning("a model")->empty());
}

TEST_F(JournalTest, DefaultFolderFollowsTheEnvironment) {
  TargetInfo target;
  setenv("HOME", "/home/me", 1);
  unsetenv("TARPON_USER_DB_PATH");
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(Journal::getDefaultDirectory(), "/home/me/.config/tarpon");
  // Without $HOME, the user database has the home folder.
  std::string home = getpwuid(getuid())->pw_dir;
  unsetenv("HOME");
  EXPECT_EQ(Journal::getDefaultDirectory(), home + "/.config/tarpon");
  setenv("HOME", "", 1);
  EXPECT_EQ(Journal::getDefaultDirectory(), home + "/.config/tarpon");
  setenv("HOME", "/home/me", 1);
  setenv("XDG_CONFIG_HOME", "/config", 1);
  EXPECT_EQ(Journal::getDefaultDirectory(), "/config/tarpon");
  setenv("TARPON_USER_DB_PATH", "/db", 1);
  EXPECT_THAT(Journal::getDefaultPath(target), StartsWith("/db/x86-64-"));
  unsetenv("TARPON_USER_DB_PATH");
}
