//===- StoreMigrationTest.cpp - Files of older versions -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/store-6d49224.sql and store-64f64a8.sql are the stores that `graph-opt
// compile` of these commits wrote for tiny_external.onnx in fp32 and int8,
// without the rows of most problems. Their schema versions are 1 and 2.
//
//===----------------------------------------------------------------------===//

#include "Store/StoreMigration.h"
#include "ScopedBehaviourVersion.h"
#include "Store/RecordVersion.h"
#include "Store/RowChecksum.h"
#include "StoreTestFiles.h"
#include "TestDirectory.h"

#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <sqlite3.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

const JournalContext kContext = {"x86-64/znver5/512/570d3f5f", 1,
                                 "host-codegen-1", "22.1.8", "1K/2K/3K"};
const std::string kPool = "global_avg_pool(1x17x13x13xf32)->1x17x1x1xf32";
const std::string kMatmul =
    "matmul(1x17xu8q, 7x17xi8q:const; 7xf32:const)->1x7xf32 "
    "{transpose_lhs=0 transpose_rhs=1} | add(2)";

PipelineKey makeKey(const std::string &dtype, const std::string &solutions) {
  PipelineKey key;
  key.modelSha256 =
      "4a72eae70370c9b67b023882193c9238618eef6cb1ac5f66f661579eeac5fac3";
  key.inputShapes = "data=1x4x13x13 ";
  key.dtype = dtype;
  key.layout = "nchw";
  key.fusion = "on";
  key.calibration =
      "03beec512aebbcc1e0e6b5daa0dbd93574641f43e155ec6e03f3d900dd4fd7fb";
  key.solutions = solutions;
  return key;
}

/// A connection with the functions that migrations need.
class Connection {
public:
  explicit Connection(const std::string &path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(defineRowChecksum(handle), SQLITE_OK);
    EXPECT_EQ(defineVersionFunctions(handle), SQLITE_OK);
  }
  ~Connection() { sqlite3_close(handle); }
  sqlite3 *get() const { return handle; }

private:
  sqlite3 *handle = nullptr;
};

class StoreMigrationTest : public testing::Test {
protected:
  // The versions of 6d49224, whatever they are by now.
  ScopedBehaviourVersion codegen{kHostCodegen, 1}, passes{kPasses, 1},
      calibration{kCalibration, 1}, pool{"global-pool-nchw-v1", 1},
      gemm{"gemm-packed-v1", 1};
  TestDirectory directory;
  std::string path = directory.file("host.journal");

  void SetUp() override { makeOld("store-6d49224.sql", "1"); }

  void makeOld(const std::string &input, const std::string &version) {
    std::string sql =
        readText(TARPON_SOURCE_DIR "/test/unit/Autotune/Inputs/" + input);
    ASSERT_EQ(query(sql), "");
    ASSERT_EQ(query("PRAGMA user_version"), version);
  }

  std::string query(const std::string &sql) { return queryStore(path, sql); }

  /// The digest of the solutions of a pipeline in the file.
  std::string getSolutions(const std::string &dtype) {
    return query("SELECT solutions FROM pipeline WHERE dtype = '" + dtype +
                 "'");
  }

  static void expectAll(const Journal &journal) {
    EXPECT_EQ(journal.getMeasurements(kPool).size(), 1u);
    EXPECT_EQ(journal.getMeasurements(kMatmul).size(), 7u);
    auto best = journal.getBest(kMatmul);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->key.config, "block_m=1,tile_m=4,tile_n=48");
    EXPECT_DOUBLE_EQ(best->median, 0.000579913875598086);
    EXPECT_FALSE(best->samples.empty());
    EXPECT_EQ(journal.describeImpossible(), std::nullopt);
    EXPECT_EQ(journal.describeStale(), std::nullopt);
  }

  /// Opening prints nothing, and sets nothing aside.
  void expectOpens() {
    testing::internal::CaptureStderr();
    auto journal = Journal::open(path, kContext);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ASSERT_TRUE(journal) << journal.message();
    expectAll(**journal);
    EXPECT_TRUE(hasFinding(**journal, kPool, Finding::Searched));
    EXPECT_TRUE(hasFinding(**journal, kMatmul, Finding::Searched));
    EXPECT_FALSE(hasFile(path + ".damaged-1"));
  }

  void expectNewTables();
};

} // namespace

TEST_F(StoreMigrationTest, MigrationsHaveNoGaps) {
  int64_t version = 1;
  for (const Migration &migration : getMigrations())
    EXPECT_EQ(migration.version, ++version);
  EXPECT_EQ(getJournalVersion(), version);
}

TEST_F(StoreMigrationTest, AllRecordsOfAnOldFileAreServed) {
  std::string fp32 = getSolutions("fp32"), int8 = getSolutions("int8");
  expectOpens();
  EXPECT_EQ(query("PRAGMA user_version"), std::to_string(getJournalVersion()));
  expectOpens();
  auto journal = Journal::open(path, kContext);
  EXPECT_TRUE((*journal)->getPipeline(makeKey("fp32", fp32)));
  // The ranges that scaled this one are unknown.
  PipelineKey quantised = makeKey("int8", int8);
  quantised.ranges = "c0ffee";
  EXPECT_FALSE((*journal)->getPipeline(quantised));
}

/// The tables of a migrated file are those of a new one.
void StoreMigrationTest::expectNewTables() {
  std::string fresh = directory.file("fresh.journal");
  ASSERT_TRUE(Journal::open(fresh, kContext));
  for (const StoreTable &table : getStoreTables()) {
    std::string columns =
        "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' "
        "|| coalesce(dflt_value, ''), ', ') FROM pragma_table_info('" +
        std::string(table.name) + "') WHERE name <> 'checksum'";
    EXPECT_EQ(query(columns), queryStore(fresh, columns));
  }
  // They are equal except for spaces and line breaks.
  std::string views =
      "SELECT replace(replace(sql, char(10), ''), ' ', '') FROM sqlite_master "
      "WHERE type <> 'table' ORDER BY name";
  EXPECT_EQ(query(views), queryStore(fresh, views));
}

TEST_F(StoreMigrationTest, AMigratedFileHasTheTablesOfANewOne) {
  expectOpens();
  expectNewTables();
}

/// The file has the sizes of caches, but no candidates of findings.
TEST_F(StoreMigrationTest, RecordsOfVersionTwoAreServed) {
  path = directory.file("two.journal");
  makeOld("store-64f64a8.sql", "2");
  JournalContext context = kContext;
  context.caches = "48K/1024K/393216K";
  {
    auto system = Journal::openReadOnly(path, context);
    ASSERT_TRUE(system) << system.message();
    EXPECT_EQ((*system)->getMeasurements(kMatmul).size(), 3u);
  }
  EXPECT_EQ(query("PRAGMA user_version"), "2");
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_EQ(query("PRAGMA user_version"), std::to_string(getJournalVersion()));
  EXPECT_EQ((*journal)->getMeasurements(kPool).size(), 1u);
  EXPECT_EQ((*journal)->getMeasurements(kMatmul).size(), 3u);
  EXPECT_EQ((*journal)->describeImpossible(), std::nullopt);
  EXPECT_EQ((*journal)->describeStale(), std::nullopt);
  for (const std::string &problem : {kPool, kMatmul}) {
    std::vector<FindingRecord> findings = (*journal)->getFindings(problem);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, Finding::Searched);
    EXPECT_TRUE(findings[0].candidates.areUnknown());
  }
  expectNewTables();
}

TEST_F(StoreMigrationTest, WhatIsOnlyReadIsMigratedInMemory) {
  std::string before = readText(path);
  auto journal = Journal::openReadOnly(path, kContext);
  ASSERT_TRUE(journal) << journal.message();
  expectAll(**journal);
  auto admin = StoreAdmin::openForReading(path);
  ASSERT_TRUE(admin) << admin.message();
  auto stats = (*admin)->getStats();
  ASSERT_TRUE(stats) << stats.message();
  EXPECT_EQ(stats->measurements, 8);
  EXPECT_EQ(stats->pipelines, 2);
  EXPECT_EQ(stats->stale, 0);
  EXPECT_TRUE((*admin)->check());
  EXPECT_EQ(readText(path), before);
}

TEST_F(StoreMigrationTest, OldFilesCanBeMerged) {
  std::string fresh = directory.file("fresh.journal"), before = readText(path);
  ASSERT_TRUE(Journal::open(fresh, kContext));
  auto admin = StoreAdmin::openForWriting(fresh);
  ASSERT_TRUE(admin);
  auto merged = (*admin)->merge(path);
  ASSERT_TRUE(merged) << merged.message();
  EXPECT_EQ(merged->measurements, 8);
  EXPECT_EQ(merged->pipelines, 2);
  EXPECT_EQ(readText(path), before);
  path = fresh;
  expectOpens();
}

/// Up to version 2, a model's version was a digest of its sources.
TEST_F(StoreMigrationTest, ModelsGetTheirVersion) {
  ASSERT_EQ(changeStore(path, "UPDATE measurement SET target = 'gfx942:cu=304/"
                              "0/model:gpu-model-v1+03d1df5482c8'"),
            "");
  JournalContext context = kContext;
  context.target = "gfx942:cu=304/0/model:gpu-model-1";
  context.tarpon = "gpu-codegen-1";
  ScopedBehaviourVersion gpu(kGpuCodegen, 1);
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_EQ((*journal)->getMeasurements(kMatmul).size(), 7u);
}

/// The first journals lacked both.
TEST_F(StoreMigrationTest, ChecksumsAndFindingsAreAdded) {
  ASSERT_EQ(query("DROP TABLE finding;"
                  "ALTER TABLE measurement DROP COLUMN checksum;"
                  "ALTER TABLE pipeline DROP COLUMN checksum"),
            "");
  {
    auto system = Journal::openReadOnly(path, kContext);
    ASSERT_TRUE(system) << system.message();
    expectAll(**system);
    EXPECT_FALSE(hasFinding(**system, kPool, Finding::Searched));
  }
  expectAll(**Journal::open(path, kContext));
  EXPECT_EQ(query("SELECT count(checksum) FROM measurement"), "8");
  // 6d49224 would go on writing to a file that it has open: without the
  // checksum of this version its rows are not taken.
  ASSERT_EQ(query("INSERT INTO measurement (problem, solver, config, target, "
                  "threads, tarpon, llvm, origin, status, median, run) SELECT "
                  "problem, solver, 'x', target, threads, tarpon, llvm, "
                  "origin, status, median, run FROM measurement LIMIT 1"),
            "");
  auto journal = Journal::open(path, kContext);
  EXPECT_EQ((*journal)->getMeasurements(kPool).size(), 1u);
}

TEST_F(StoreMigrationTest, RowsThatWereUnsoundStaySo) {
  ASSERT_EQ(query("UPDATE measurement SET median = median / 2 WHERE "
                  "config LIKE '%tile_m=8%'"),
            "");
  auto journal = Journal::open(path, kContext);
  ASSERT_TRUE(journal);
  EXPECT_EQ((*journal)->getMeasurements(kMatmul).size(), 6u);
  EXPECT_THAT((*journal)->describeImpossible().value_or(""),
              HasSubstr(": 1 records do not fit their checksum"));
}

TEST_F(StoreMigrationTest, RecordsOfUnknownSourcesStayStale) {
  ASSERT_EQ(changeStore(path, "UPDATE measurement SET tarpon = "
                              "'0.1.0+0123456789ab' WHERE solver LIKE 'gemm%'"),
            "");
  auto journal = Journal::open(path, kContext);
  ASSERT_TRUE(journal);
  EXPECT_EQ((*journal)->getMeasurements(kPool).size(), 1u);
  EXPECT_EQ((*journal)->getMeasurements(kMatmul).size(), 0u);
  EXPECT_THAT((*journal)->describeStale().value_or(""),
              HasSubstr(": 7 records of other tarpon or LLVM versions"));
}

TEST_F(StoreMigrationTest, TimesOfTheStaticModelStayValid) {
  const std::string machine = "gfx942:cu=304/e3b0c442/model:";
  for (const char *table : {"measurement", "finding"})
    ASSERT_EQ(
        changeStore(path, "UPDATE " + std::string(table) +
                              " SET tarpon = 'gpu-codegen-1', target = '" +
                              machine + "gpu-model-v1+03d1df5482c8'"),
        "");
  JournalContext context = kContext;
  context.target = machine + "gpu-model-1";
  context.tarpon = "gpu-codegen-1";
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal);
  EXPECT_EQ((*journal)->getMeasurements(kMatmul).size(), 7u);
  EXPECT_TRUE(hasFinding(**journal, kMatmul, Finding::Searched));
}

TEST_F(StoreMigrationTest, OneThatIsKilledLeavesTheFileAsItWas) {
  std::string rows = query("SELECT * FROM measurement");
  runAndKill([&] {
    Connection connection(path);
    auto die = [](sqlite3_context *, int, sqlite3_value **) { raise(SIGKILL); };
    sqlite3_create_function(connection.get(), "die", 0, SQLITE_UTF8, nullptr,
                            die, nullptr, nullptr);
    std::vector<Migration> migrations(getMigrations());
    migrations.push_back({getJournalVersion() + 1, "SELECT die()"});
    migrateStore(connection.get(), migrations);
  });
  EXPECT_EQ(query("PRAGMA user_version"), "1");
  EXPECT_EQ(query("SELECT * FROM measurement"), rows);
  expectOpens();
}

TEST_F(StoreMigrationTest, OneThatFailsIsAnErrorAndLeavesTheFileAsItWas) {
  ASSERT_EQ(query("ALTER TABLE finding ADD COLUMN caches TEXT"), "");
  std::string rows = query("SELECT * FROM measurement");
  auto journal = Journal::open(path, kContext);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.message(), "journal " + path +
                                   " cannot be brought from schema version 1 "
                                   "to 4: duplicate column name: caches");
  EXPECT_EQ(query("PRAGMA user_version"), "1");
  EXPECT_EQ(query("SELECT * FROM measurement"), rows);
  EXPECT_FALSE(hasFile(path + ".damaged-1"));
}

TEST_F(StoreMigrationTest, OfManyProcessesOneMigrates) {
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    pid_t child = fork();
    if (child == 0) {
      auto journal = Journal::open(path, kContext);
      _exit(journal && (*journal)->getMeasurements(kMatmul).size() == 7 ? 0
                                                                        : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  expectOpens();
}

/// Tests how the next columns are added: by a step of SQL, which can ignore
/// checksums.
TEST_F(StoreMigrationTest, LaterStepsKeepAllRows) {
  expectOpens();
  ASSERT_EQ(query("UPDATE measurement SET median = 1 WHERE id = (SELECT "
                  "max(id) FROM measurement)"),
            "");
  int64_t next = getJournalVersion() + 1;
  std::vector<Migration> migrations(getMigrations());
  migrations.push_back(
      {next,
       "ALTER TABLE measurement ADD COLUMN note TEXT NOT NULL DEFAULT ''; "
       "UPDATE measurement SET note = 'of ' || solver"});
  Connection connection(path);
  auto failure = migrateStore(connection.get(), migrations);
  ASSERT_FALSE(failure) << failure->message;
  EXPECT_EQ(query("PRAGMA user_version"), std::to_string(next));
  EXPECT_EQ(query("SELECT count(*) FROM measurement WHERE note = 'of ' || "
                  "solver"),
            "8");
  // The row that somebody edited has none.
  EXPECT_EQ(query("SELECT count(checksum) FROM measurement"), "7");
  std::string sums = "SELECT group_concat(checksum) FROM measurement";
  std::string written = query(sums);
  ASSERT_EQ(changeStore(path, "DELETE FROM measurement WHERE checksum IS NULL"),
            "");
  EXPECT_EQ(query(sums), written);
  auto journal = Journal::open(path, kContext);
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.message(),
              HasSubstr("which is newer than this tarpon's"));
}
