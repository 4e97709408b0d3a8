//===- UpgradeTest.cpp - Tables that an older Tarpon has made -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Schema.h"

#include "llvm/ADT/StringExtras.h"

#include <fstream>
#include <map>
#include <sstream>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

constexpr const char *kTables[] = {
    "setting",      "problem",     "tag",           "session", "job",
    "machine",      "worker",      "attempt",       "package", "release",
    "package_part", "measurement", "release_record"};

/// Describes all that a server has of the tables and of who may use them, each
/// thing on a line of its own.
constexpr const char *kPostgresSchema[] = {
    R"(SELECT table_name, column_name, data_type, is_nullable, is_identity,
       column_default FROM information_schema.columns WHERE
       table_schema = 'public' ORDER BY 1, 2)",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
    "ORDER BY 1",
    "SELECT CAST(CAST(conrelid AS regclass) AS TEXT), conname, "
    "pg_get_constraintdef(oid) "
    "FROM pg_constraint WHERE connamespace = CAST('public' AS regnamespace) "
    "ORDER BY 1, 2",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT "
    "tgisinternal ORDER BY 1",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = CAST('public' AS "
    "regnamespace) ORDER BY 1",
    R"(SELECT grantee, table_name, privilege_type FROM
       information_schema.table_privileges WHERE table_schema = 'public'
       ORDER BY 1, 2, 3)",
    R"(SELECT grantee, table_name, column_name, privilege_type FROM
       information_schema.column_privileges WHERE table_schema = 'public'
       ORDER BY 1, 2, 3, 4)",
    "SELECT CAST(nspacl AS TEXT) FROM pg_namespace WHERE nspname = 'public'",
    "SELECT CAST(datacl AS TEXT) FROM pg_database WHERE datname = "
    "current_database()"};
constexpr const char *kSqliteSchema[] = {
    "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2"};

class UpgradeTest : public FleetTest {
protected:
  /// Makes the tables of version 1 with rows, from a file.
  void makeVersion1() {
    openEmpty();
    ASSERT_TRUE(database);
    std::ifstream file(TARPON_FLEET_INPUTS "/version1." +
                       std::string(GetParam()) + ".sql");
    std::stringstream text;
    text << file.rdbuf();
    llvm::SmallVector<llvm::StringRef> statements;
    std::string all = text.str();
    llvm::StringRef(all).split(statements, "\n\n");
    ASSERT_GT(statements.size(), 30U);
    for (llvm::StringRef statement : llvm::drop_begin(statements)) {
      auto done = database->execute(statement.trim().rtrim(';'));
      ASSERT_TRUE(done) << statement.str() << done.message();
    }
  }

  /// The rows of a query, with one space for any.
  std::string print(const std::string &query) {
    auto rows = database->query(query);
    EXPECT_TRUE(rows) << rows.message();
    if (!rows)
      return "";
    std::string text;
    for (const Row &row : *rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        std::string value = row.isNull(i) ? "NULL" : row.text(i);
        llvm::SmallVector<llvm::StringRef> words;
        llvm::SplitString(value, words);
        text += llvm::join(words, " ") + " | ";
      }
      text += "\n";
    }
    return text;
  }

  std::string printSchema() {
    std::string text;
    llvm::ArrayRef<const char *> queries = kSqliteSchema;
    if (database->isPostgres())
      queries = kPostgresSchema;
    for (const char *query : queries)
      text += print(query) + "\n";
    return text;
  }

  std::map<std::string, std::string> printTables() {
    std::map<std::string, std::string> text;
    for (std::string table : kTables)
      if (table != "setting")
        text[table] = print("SELECT * FROM " + table + " ORDER BY 1, 2");
    return text;
  }
};

} // namespace

TEST_P(UpgradeTest, tablesOfVersion1BecomeThoseOfANewDatabase) {
  std::string fresh = printSchema();
  makeVersion1();
  auto refused = checkSchema(*database);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.message().find("tables of version 1"), std::string::npos);
  EXPECT_NE(printSchema(), fresh);
  auto upgraded = upgradeSchema(*database);
  ASSERT_TRUE(upgraded) << upgraded.message();
  EXPECT_EQ(*upgraded, 1);
  EXPECT_EQ(printSchema(), fresh);
  EXPECT_TRUE(checkSchema(*database));
}

TEST_P(UpgradeTest, rowsAreKept) {
  makeVersion1();
  std::map<std::string, std::string> before = printTables();
  for (const auto &[table, rows] : before)
    EXPECT_NE(rows, "") << table;
  ASSERT_TRUE(upgradeSchema(*database));
  EXPECT_EQ(printTables(), before);
  EXPECT_EQ(*getSetting(*database, "packages"), "/shared/packages");
  EXPECT_EQ(*getSetting(*database, "schema"), std::to_string(kSchemaVersion));
}

/// The job that a worker had when the tables were version 1's is taken back,
/// and goes on where it was.
TEST_P(UpgradeTest, jobsGoOn) {
  makeVersion1();
  ASSERT_TRUE(upgradeSchema(*database));
  JobQueue queue(*database, addWorker("node2"), 60);
  auto reaped = queue.reapInTurn();
  ASSERT_TRUE(reaped) << reaped.message();
  EXPECT_EQ(getText("SELECT cause FROM attempt WHERE job_id = 2 AND lease = 2"),
            "lost");
  run("UPDATE job SET available_at = 0", {});
  auto leases = queue.claim(1, Phase::Measure, 8);
  ASSERT_TRUE(leases) << leases.message();
  ASSERT_EQ(leases->size(), 1U);
  EXPECT_EQ(leases->front().job, 2);
  EXPECT_EQ(leases->front().lease, 3);
  EXPECT_EQ(leases->front().package, "d1");
}

INSTANTIATE_FLEET_TEST(UpgradeTest);
