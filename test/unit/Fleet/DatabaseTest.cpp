//===- DatabaseTest.cpp - Statements of an SQL database -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/Schema.h"

#include <thread>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using tarpon::runtime::Error;
using tarpon::runtime::Status;
using tarpon::runtime::success;

namespace {

using DatabaseTest = FleetTest;

} // namespace

TEST_P(DatabaseTest, valuesComeBackAsTheyWere) {
  run("CREATE TABLE x (t TEXT, i BIGINT, d DOUBLE PRECISION)", {});
  std::string text = "quotes ' \" \\ :p1 $NOW \x1b[31m <b>&amp; \xc3\xa4\n";
  run("INSERT INTO x VALUES (:p1, :p2, :p3)", {text, INT64_MIN, 0.1});
  run("INSERT INTO x VALUES (:p1, :p2, :p3)", {Value(), Value(), Value()});
  auto rows = database->query("SELECT t, i, d FROM x ORDER BY i");
  ASSERT_TRUE(rows) << rows.message();
  ASSERT_EQ(rows->size(), 2u);
  const Row &row = (*rows)[0].isNull(0) ? (*rows)[1] : (*rows)[0];
  const Row &null = (*rows)[0].isNull(0) ? (*rows)[0] : (*rows)[1];
  EXPECT_EQ(row.text(0), text);
  EXPECT_EQ(row.integer(1), INT64_MIN);
  EXPECT_EQ(row.real(2), 0.1);
  for (size_t i = 0; i < null.size(); ++i)
    EXPECT_TRUE(null.isNull(i));
}

TEST_P(DatabaseTest, anyBytesCanBeStored) {
  std::string text = "caf\xc3\xa9 \xff\xfe zero";
  text.push_back('\0');
  run("INSERT INTO setting (name, value) VALUES ('bytes', :p1)",
      {text + "\xe2\x82"});
  EXPECT_EQ(getText("SELECT value FROM setting WHERE name = 'bytes'"),
            "caf\xc3\xa9 ?? zero???");
}

TEST_P(DatabaseTest, textFromOutsideIsNoStatement) {
  std::string text = "x'); DELETE FROM setting; --";
  run("INSERT INTO setting (name, value) VALUES (:p1, :p2)", {text, text});
  EXPECT_EQ(getText("SELECT value FROM setting WHERE name = :p1", {text}),
            text);
  EXPECT_EQ(getInteger("SELECT count(*) FROM setting"), 3);
}

TEST_P(DatabaseTest, aStatementThatIsKeptRunsAgainWithOtherParameters) {
  run("CREATE TABLE kept (id BIGINT, x DOUBLE PRECISION, t TEXT)", {});
  // Types alternate, and NULL is one of them.
  for (int64_t i = 0; i < 8; ++i)
    run("INSERT INTO kept (id, x, t) VALUES (:p1, :p2, :p3)",
        {i, i % 2 ? Value(0.5 * static_cast<double>(i)) : Value(),
         i % 3 ? Value(std::to_string(i)) : Value()});
  for (int64_t i = 0; i < 8; ++i) {
    auto rows = database->query("SELECT id, x, t FROM kept WHERE id >= :p1 "
                                "ORDER BY id LIMIT :p2",
                                {i, int64_t(2)});
    ASSERT_TRUE(rows) << rows.message();
    ASSERT_EQ(rows->size(), i < 7 ? 2u : 1u);
    EXPECT_EQ(rows->front().integer(0), i);
    EXPECT_EQ(rows->front().isNull(1), i % 2 == 0);
    EXPECT_EQ(rows->front().real(1), i % 2 ? 0.5 * static_cast<double>(i) : 0);
    EXPECT_EQ(rows->front().text(2), i % 3 ? std::to_string(i) : "");
  }
}

/// An error leaves neither the statement nor the connection in a bad state.
TEST_P(DatabaseTest, aStatementThatIsKeptRunsAfterAnError) {
  run("CREATE TABLE once (id BIGINT PRIMARY KEY)", {});
  int64_t last = 0;
  for (int64_t i : {1, 2, 2, 3, 3, 4}) {
    auto done = database->execute("INSERT INTO once (id) VALUES (:p1)", {i});
    EXPECT_EQ(static_cast<bool>(done), i != last) << i;
    last = i;
  }
  EXPECT_EQ(getInteger("SELECT count(*) FROM once"), 4);
}

TEST_P(DatabaseTest, anErrorIsOneLineWithoutTheParameters) {
  auto failed = database->execute("INSERT INTO nowhere VALUES (:p1)",
                                  {std::string("secret")});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.message().find('\n'), std::string::npos) << failed.message();
  EXPECT_EQ(failed.message().find("secret"), std::string::npos)
      << failed.message();
  EXPECT_NE(failed.message().find("nowhere"), std::string::npos)
      << failed.message();
  EXPECT_FALSE(database->isDisconnected());
}

TEST_P(DatabaseTest, aFailedTransactionIsUndone) {
  Status status = database->transact([&]() -> Status {
    auto done = database->execute("DELETE FROM setting");
    EXPECT_TRUE(done);
    return Error{"no"};
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(status.message(), "no");
  EXPECT_EQ(getInteger("SELECT count(*) FROM setting"), 2);
  EXPECT_TRUE(database->transact([&]() -> Status { return success(); }));
}

TEST_P(DatabaseTest, twoConnectionsWriteInTurn) {
  constexpr int64_t kRounds = 50;
  run("INSERT INTO setting (name, value) VALUES ('n', '0')", {});
  auto count = [&] {
    auto own = Database::open(url);
    ASSERT_TRUE(own) << own.message();
    for (int64_t i = 0; i < kRounds; ++i) {
      auto done = (*own)->execute(
          "UPDATE setting SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) "
          "WHERE name = 'n'");
      ASSERT_TRUE(done) << done.message();
    }
  };
  std::thread other(count);
  count();
  other.join();
  EXPECT_EQ(getText("SELECT value FROM setting WHERE name = 'n'"),
            std::to_string(2 * kRounds));
}

TEST_P(DatabaseTest, aServerThatEndsTheConnectionIsNoticed) {
  if (!database->isPostgres())
    GTEST_SKIP() << "files have no server";
  auto other = Database::open(url);
  ASSERT_TRUE(other) << other.message();
  auto ended = (*other)->query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
      "pg_backend_pid() AND datname = current_database()");
  ASSERT_TRUE(ended) << ended.message();
  EXPECT_FALSE(database->query("SELECT 1"));
  EXPECT_TRUE(database->isDisconnected());
  EXPECT_TRUE(database->reconnect());
  EXPECT_FALSE(database->isDisconnected());
  EXPECT_TRUE(database->query("SELECT 1"));
}

/// Neither what is full nor what is read-only for now ends a worker.
TEST_P(DatabaseTest, aFullDiskIsAnOutage) {
  if (database->isPostgres()) {
    for (auto [state, isOutage] : {std::pair("53100", true),
                                   {"53200", true},
                                   {"58030", true},
                                   {"23514", false},
                                   {"P0001", false}}) {
      std::string raise =
          std::string("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '") +
          state + "'; END $$";
      EXPECT_FALSE(database->execute(raise));
      EXPECT_EQ(database->isDisconnected(), isOutage) << state;
      EXPECT_FALSE(database->transact([&]() -> Status {
        auto done = database->execute(raise);
        return done ? success() : Status(done.error());
      }));
      EXPECT_EQ(database->isDisconnected(), isOutage) << state;
    }
    return;
  }
  run("PRAGMA max_page_count = 1", {});
  constexpr const char *kFill =
      "INSERT INTO setting (name, value) VALUES ('x', :p1)";
  std::string large(1 << 20, 'x');
  auto full = database->execute(kFill, {large});
  ASSERT_FALSE(full);
  EXPECT_NE(full.message().find("full"), std::string::npos) << full.message();
  EXPECT_TRUE(database->isDisconnected());
  EXPECT_TRUE(database->reconnect());
  EXPECT_TRUE(database->execute(kFill, {large}));
}

/// SQLite ends a transaction by itself that finds the disk full.
TEST_P(DatabaseTest, aTransactionOnAFullDiskIsAnOutage) {
  if (database->isPostgres())
    GTEST_SKIP() << "servers tell it by a code, as tested above";
  run("PRAGMA max_page_count = 1", {});
  EXPECT_FALSE(database->transact([&]() -> Status {
    auto done =
        database->execute("INSERT INTO setting (name, value) VALUES ('x', :p1)",
                          {std::string(1 << 20, 'x')});
    return done ? success() : Status(done.error());
  }));
  EXPECT_TRUE(database->isDisconnected());
  // What the body itself has against it is none.
  EXPECT_FALSE(database->transact([&]() -> Status { return Error{"no"}; }));
  EXPECT_FALSE(database->isDisconnected());
}

/// A server that was a primary may be a standby for a while.
TEST_P(DatabaseTest, aReadOnlyDatabaseIsAnOutage) {
  run(database->isPostgres() ? "SET default_transaction_read_only = on"
                             : "PRAGMA query_only = on",
      {});
  constexpr const char *kDelete = "DELETE FROM setting";
  EXPECT_FALSE(database->execute(kDelete));
  EXPECT_TRUE(database->isDisconnected());
  EXPECT_FALSE(database->transact([&]() -> Status {
    auto done = database->execute(kDelete);
    return done ? success() : Status(done.error());
  }));
  EXPECT_TRUE(database->isDisconnected());
  EXPECT_TRUE(database->reconnect());
  EXPECT_FALSE(database->isDisconnected());
  EXPECT_TRUE(database->execute(kDelete));
}

/// Texts from outside, such as the reasons of attempts, may name a full disk.
TEST_P(DatabaseTest, parametersAreNoOutage) {
  std::string text = "No space left on device, database is locked";
  EXPECT_FALSE(
      database->execute("INSERT INTO setting (name) VALUES (:p1)", {text}));
  EXPECT_FALSE(database->isDisconnected());
}

TEST_P(DatabaseTest, addressesAreChecked) {
  struct Case {
    const char *url, *message;
  };
  for (const Case &each :
       {Case{"mysql://x/y", "is no database: sqlite:FILE"},
        Case{"postgres://u:secret@h/d", "is no database: sqlite:FILE"},
        Case{"sqlite:", "names no file"},
        Case{"sqlite:/nowhere/x.db", "there is no database '/nowhere/x.db'"},
        Case{"postgresql://u:secret@h/d", "holds a password"},
        Case{"postgresql://h/d?password=secret", "holds a password"},
        Case{"postgresql://h/d?%70assword=secret", "holds a password"},
        Case{"postgresql://h/d?%70%61ssword%3Dsecret", "holds a password"},
        Case{"postgresql://h/d?sslpass%77ord=secret", "holds a password"},
        // Whatever is behind the question mark is not shown.
        Case{"postgresql:///d?host=/nowhere&passfile=secret",
             "the database postgresql:///d: "}}) {
    auto opened = Database::open(each.url);
    ASSERT_FALSE(opened) << each.url;
    EXPECT_NE(opened.message().find(each.message), std::string::npos)
        << opened.message();
    EXPECT_EQ(opened.message().find("secret"), std::string::npos);
  }
}

TEST_P(DatabaseTest, aRefusalNamesNoFunctionOfALibrary) {
  auto failed = database->execute("INSERT INTO setting (name) VALUES (:p1)",
                                  {std::string("x")});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.message().find("::"), std::string::npos) << failed.message();
  EXPECT_EQ(failed.message().find("backend"), std::string::npos)
      << failed.message();
}

TEST_P(DatabaseTest, noticesAreNotPrinted) {
  testing::internal::CaptureStderr();
  run("DROP TABLE IF EXISTS nowhere", {});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(DatabaseTest, relaxedStatementsAloneDoNotWaitForTheDisk) {
  if (!database->isPostgres())
    GTEST_SKIP() << "files have no server";
  constexpr const char *kSetting =
      "SELECT current_setting('synchronous_commit')";
  EXPECT_EQ(getText("SELECT $RELAXED"), "off");
  EXPECT_EQ(getText(kSetting), "on");
  ASSERT_TRUE(database->transact([&] {
    EXPECT_EQ(getText("SELECT $RELAXED"), "off");
    EXPECT_EQ(getText(kSetting), "off");
    return tarpon::runtime::success();
  }));
  EXPECT_EQ(getText(kSetting), "on");
}

TEST_P(DatabaseTest, tablesOfOtherVersionsAreRefused) {
  EXPECT_TRUE(checkSchema(*database));
  EXPECT_FALSE(createSchema(*database, ""));
  EXPECT_EQ(*upgradeSchema(*database), kSchemaVersion);
  run("UPDATE setting SET value = '99' WHERE name = 'schema'", {});
  for (const Status &status :
       {checkSchema(*database), Status(upgradeSchema(*database).error())}) {
    ASSERT_FALSE(status);
    EXPECT_NE(status.message().find("made by a newer Tarpon"),
              std::string::npos);
  }
  run("DROP TABLE setting", {});
  auto missing = checkSchema(*database);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.message().find("graph-opt fleet init makes them"),
            std::string::npos);
}

INSTANTIATE_FLEET_TEST(DatabaseTest);
