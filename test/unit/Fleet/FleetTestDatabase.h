//===- FleetTestDatabase.h - Databases of tests -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_FLEET_FLEETTESTDATABASE_H
#define TARPON_TEST_UNIT_FLEET_FLEETTESTDATABASE_H

#include "tarpon/Fleet/Database.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tarpon::fleet::test {

/// A fleet's tables in a new file of SQLite, or in a new schema of a server of
/// PostgreSQL that the tests start.
class FleetTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
  void TearDown() override;

  /// Replaces the database by a new one without tables.
  void openEmpty();

  /// Each adds a row and returns its id.
  int64_t addProblem(const std::string &key);
  int64_t addSession(const std::string &label, const std::string &target);
  int64_t addJob(int64_t session, int64_t problem);
  int64_t addWorker(const std::string &machine);

  void run(const std::string &sql, std::vector<Value> parameters);
  /// The only value of an answer.
  std::string getText(const std::string &sql,
                      std::vector<Value> parameters = {});
  int64_t getInteger(const std::string &sql,
                     std::vector<Value> parameters = {});

  std::string url, folder;
  std::unique_ptr<Database> database;
};

} // namespace tarpon::fleet::test

#define INSTANTIATE_FLEET_TEST(NAME)                                           \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      All, NAME, testing::Values("sqlite", "postgresql"),                      \
      [](const auto &info) { return std::string(info.param); })

#endif // TARPON_TEST_UNIT_FLEET_FLEETTESTDATABASE_H
