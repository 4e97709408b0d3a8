//===- FleetTestDatabase.cpp - Databases of tests -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/Schema.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

/// A server of PostgreSQL for all tests of this program, on a socket in a
/// folder of its own. It refuses to run as root, and so belongs to "postgres"
/// there.
class PostgresServer {
public:
  static PostgresServer &get() {
    static PostgresServer server;
    return server;
  }

  bool isRunning() const { return running; }
  std::string makeDatabase() {
    std::string name = "fleet" + std::to_string(count++);
    call("createdb -h " + folder + " " + name);
    std::string user = geteuid() == 0 ? "postgres@" : "";
    return "postgresql://" + user + "/" + name + "?host=" + folder;
  }

private:
  PostgresServer() {
    char path[] = "/tmp/tarpon-postgres-XXXXXX";
    folder = mkdtemp(path);
    if (geteuid() == 0)
      (void)runShell("chown postgres " + folder);
    running =
        call("initdb -A trust -D " + folder + "/data") &&
        call("pg_ctl -w -D " + folder + "/data -l " + folder + "/log -o \"-k " +
             folder + " -c listen_addresses= -F\" start");
  }
  ~PostgresServer() {
    call("pg_ctl -m immediate -D " + folder + "/data stop");
    std::filesystem::remove_all(folder);
  }

  static bool runShell(const std::string &command) {
    // NOLINTNEXTLINE(bugprone-command-processor): the words are the test's own.
    return std::system(command.c_str()) == 0;
  }

  bool call(const std::string &command) const {
    std::string all = "export PATH=$(ls -d /usr/lib/postgresql/*/bin "
                      "2>/dev/null | tail -1):$PATH; cd " +
                      folder + "; " + command + " > /dev/null 2>&1";
    if (geteuid() == 0)
      all = "setpriv --reuid postgres --regid postgres --clear-groups sh -c '" +
            all + "'";
    return runShell(all);
  }

  std::string folder;
  int count = 0;
  bool running = false;
};

} // namespace

void FleetTest::SetUp() {
  if (std::string(GetParam()) == "postgresql") {
    if (std::getenv("TARPON_TEST_WITHOUT_POSTGRESQL"))
      GTEST_SKIP() << "PostgreSQL is left out";
    ASSERT_TRUE(PostgresServer::get().isRunning())
        << "PostgreSQL cannot be started here: "
           "TARPON_TEST_WITHOUT_POSTGRESQL=1 leaves it out";
  }
  openEmpty();
  ASSERT_TRUE(database);
  auto created = createSchema(*database, "");
  ASSERT_TRUE(created) << created.message();
}

void FleetTest::openEmpty() {
  FleetTest::TearDown();
  if (std::string(GetParam()) == "postgresql") {
    url = PostgresServer::get().makeDatabase();
  } else {
    char path[] = "/tmp/tarpon-fleet-XXXXXX";
    folder = mkdtemp(path);
    url = "sqlite:" + folder + "/fleet.db";
  }
  auto opened = Database::open(url, /*create=*/true);
  ASSERT_TRUE(opened) << opened.message();
  database = std::move(*opened);
}

void FleetTest::TearDown() {
  database.reset();
  if (!folder.empty())
    std::filesystem::remove_all(folder);
}

void FleetTest::run(const std::string &sql, std::vector<Value> parameters) {
  auto done = database->execute(sql, parameters);
  ASSERT_TRUE(done) << done.message();
}

std::string FleetTest::getText(const std::string &sql,
                               std::vector<Value> parameters) {
  auto row = takeRow(database->query(sql, parameters), "no row");
  EXPECT_TRUE(row) << row.message();
  return row ? row->text(0) : "";
}

int64_t FleetTest::getInteger(const std::string &sql,
                              std::vector<Value> parameters) {
  auto row = takeRow(database->query(sql, parameters), "no row");
  EXPECT_TRUE(row) << row.message();
  return row ? row->integer(0) : -1;
}

int64_t FleetTest::addProblem(const std::string &key) {
  return getInteger("INSERT INTO problem (key, op, line, flops) VALUES "
                    "(:p1, 'relu', :p1, 1) RETURNING id",
                    {key});
}

int64_t FleetTest::addSession(const std::string &label,
                              const std::string &target) {
  return getInteger(
      "INSERT INTO session (label, target, context_target, context_tarpon, "
      "context_llvm, context_caches, threads, kernel_version, created) VALUES "
      "(:p1, :p2, :p2, '', '', '', 1, '', $NOW) RETURNING id",
      {label, target});
}

int64_t FleetTest::addJob(int64_t session, int64_t problem) {
  return getInteger("INSERT INTO job (session_id, problem_id) VALUES (:p1, "
                    ":p2) RETURNING id",
                    {session, problem});
}

int64_t FleetTest::addWorker(const std::string &machine) {
  int64_t id = getInteger("INSERT INTO machine (name, cpu, cores, seen) VALUES "
                          "(:p1, 'cpu', 2, $NOW) ON CONFLICT (name) DO UPDATE "
                          "SET seen = excluded.seen RETURNING id",
                          {machine});
  return getInteger("INSERT INTO worker (machine_id, role, label, device, "
                    "process, started, seen) VALUES (:p1, 'builder', 'L', '', "
                    "1, $NOW, $NOW) RETURNING id",
                    {id});
}
