//===- SqliteTest.cpp -----------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sqlite/Sqlite.h"

#include "TestDirectory.h"

#include "gtest/gtest.h"

#include <sqlite3.h>

using namespace tarpon;
using namespace tarpon::test;

namespace {

class CopyDatabaseTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("from");
  sqlite3 *from = nullptr, *to = nullptr;

  void SetUp() override {
    ASSERT_EQ(sqlite3_open(path.c_str(), &from), SQLITE_OK);
    ASSERT_EQ(sqlite3_open(":memory:", &to), SQLITE_OK);
    run(from, "CREATE TABLE t (x); INSERT INTO t VALUES (7)");
  }
  void TearDown() override {
    sqlite3_close(from);
    sqlite3_close(to);
  }

  static void run(sqlite3 *database, const char *sql) {
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr),
              SQLITE_OK);
  }
};

} // namespace

TEST_F(CopyDatabaseTest, CopiesEverything) {
  ASSERT_EQ(copyDatabase(to, "main", from), SQLITE_OK);
  SqlStatement rows(to, "SELECT x FROM t");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer(0), 7);
}

TEST_F(CopyDatabaseTest, WhatCannotBeginIsAnError) {
  EXPECT_NE(copyDatabase(to, "other", from), SQLITE_OK);
  EXPECT_NE(copyDatabase(from, "main", from), SQLITE_OK);
}

TEST_F(CopyDatabaseTest, ALockIsAnError) {
  sqlite3 *writer = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
  run(writer, "BEGIN EXCLUSIVE");
  EXPECT_EQ(copyDatabase(to, "main", from), SQLITE_BUSY);
  run(writer, "ROLLBACK");
  sqlite3_close(writer);
  EXPECT_EQ(copyDatabase(to, "main", from), SQLITE_OK);
}
