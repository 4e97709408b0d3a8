//===- RolesTest.cpp - What roles may change ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Measurements.h"
#include "tarpon/Fleet/PackageStore.h"

#include <fstream>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using runtime::success;

namespace {

/// Connects as a user that has one role each. Users belong to the server, and
/// may be there from another test.
class RolesTest : public FleetTest {
protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (IsSkipped())
      return;
    for (const char *name : {"reader", "builder", "evaluator"})
      makeUser(name);
    worker = addWorker("node1");
    session = addSession("L", "host");
    job = addJob(session, addProblem("a"));
  }

  void makeUser(const std::string &role) {
    std::string user = "a_" + role;
    (void)database->execute("CREATE ROLE " + user + " LOGIN");
    run("GRANT tarpon_" + role + " TO " + user, {});
  }

  std::unique_ptr<Database> connectAs(const std::string &role) {
    std::string other = url;
    size_t at = other.find("//") + 2;
    if (size_t end = other.find('@'); end != std::string::npos)
      other.erase(at, end + 1 - at);
    other.insert(at, "a_" + role + "@");
    auto opened = Database::open(other);
    EXPECT_TRUE(opened) << opened.message();
    return std::move(*opened);
  }

  /// The statement is refused for want of rights, and changes nothing.
  void expectRefused(Database &other, const std::string &sql) {
    auto done = other.execute(sql);
    ASSERT_FALSE(done) << sql;
    bool isRefused =
        done.message().find("permission denied") != std::string::npos ||
        done.message().find("must be owner") != std::string::npos ||
        done.message().find("cannot insert") != std::string::npos;
    EXPECT_TRUE(isRefused) << sql << ": " << done.message();
  }

  int64_t worker = 0, session = 0, job = 0;
};

constexpr const char *kTables[] = {
    "setting",        "problem",      "tag",
    "session",        "job",          "machine",
    "worker",         "attempt",      "package",
    "release",        "package_part", "measurement",
    "release_record", "reaping"};

} // namespace

TEST_P(RolesTest, aReaderChangesNothing) {
  auto reader = connectAs("reader");
  for (const char *table : kTables) {
    auto rows = reader->query(std::string("SELECT count(*) FROM ") + table);
    EXPECT_TRUE(rows) << rows.message();
    expectRefused(*reader, std::string("DELETE FROM ") + table);
    expectRefused(*reader,
                  std::string("INSERT INTO ") + table + " DEFAULT VALUES");
    expectRefused(*reader, std::string("TRUNCATE ") + table);
    expectRefused(*reader, std::string("DROP TABLE ") + table);
  }
  expectRefused(*reader, "UPDATE job SET state = 'done'");
  expectRefused(*reader, "CREATE TABLE mine (x BIGINT)");
}

TEST_P(RolesTest, anEvaluatorAddsNoPackage) {
  auto evaluator = connectAs("evaluator");
  for (const char *sql :
       {"INSERT INTO package (digest, job_id, bytes, parts, created) VALUES "
        "('x', 1, 1, 1, 0)",
        "INSERT INTO package_part (digest, job_id, part, base64) VALUES ('x', "
        "1, 0, '')",
        "UPDATE package SET digest = 'x'",
        "UPDATE package_part SET base64 = ''", "DELETE FROM package_part",
        "UPDATE job SET package = 'x'", "UPDATE job SET session_id = 1",
        "UPDATE job SET problem_id = 1", "UPDATE job SET priority = 1",
        "INSERT INTO job (session_id, "
        "problem_id) VALUES (1, 1)",
        "UPDATE session SET kernel_version = 'x'",
        "UPDATE measurement SET "
        "median = 0",
        "DELETE FROM measurement",
        "INSERT INTO setting (name, value) VALUES "
        "('x', 'y')",
        "UPDATE machine SET state = 'ready'",
        // Numbers and times of measurements are the database's.
        "INSERT INTO measurement (id, session_id, problem_id, number, solver, "
        "config, stage, status, samples, median, mad, workspace, rounds) "
        "VALUES (9223372036854775807, 1, 1, 0, '', '', 'race', 'ok', '', 0, 0, "
        "0, 0)",
        "CREATE TEMPORARY TABLE mine (x BIGINT)"})
    expectRefused(*evaluator, sql);
}

TEST_P(RolesTest, aBuilderRecordsNoMeasurement) {
  auto builder = connectAs("builder");
  for (const char *sql :
       {"INSERT INTO measurement (session_id, problem_id, number, solver, "
        "config, stage, status, samples, median, mad, workspace, rounds, time) "
        "VALUES (1, 1, 0, '', '', '', '', '', 0, 0, 0, 0, 0)",
        "UPDATE measurement SET median = 0", "UPDATE session SET device = 'x'",
        // Who recorded a package is the server's word.
        "INSERT INTO package (digest, job_id, bytes, parts, created, "
        "recorded_by) VALUES ('x', 1, 1, 1, 0, 'somebody')",
        "UPDATE package SET recorded_by = 'somebody'",
        "INSERT INTO job (session_id, problem_id) VALUES (1, 1)"})
    expectRefused(*builder, sql);
}

TEST_P(RolesTest, aWorkerChangesJobsOfItsPhaseAlone) {
  auto builder = connectAs("builder"), evaluator = connectAs("evaluator");
  JobQueue builds(*builder, worker, 60);
  // It waits to be compiled.
  for (const char *state : {"leased", "failed", "done", "aborted"})
    expectRefused(*evaluator,
                  std::string("UPDATE job SET state = '") + state + "'");
  expectRefused(*builder, "UPDATE job SET state = 'aborted'");
  auto lease = builds.claim(session, Phase::Compile, 1);
  ASSERT_TRUE(lease) << lease.message();
  expectRefused(*evaluator, "UPDATE job SET state = 'waiting'");
  expectRefused(*evaluator, "UPDATE job SET lease_until = 0");
  expectRefused(*builder, "UPDATE job SET lease = 0");
  ASSERT_TRUE(builds.complete(lease->front(),
                              {Phase::Measure, 0, "digest", std::nullopt}, ""));
  // It waits to be measured.
  expectRefused(*builder, "UPDATE job SET package = 'x'");
  expectRefused(*evaluator, "UPDATE job SET state = 'done'");
  // Nobody revives what has ended.
  run("UPDATE job SET state = 'done', phase = 'compile'", {});
  expectRefused(*builder, "UPDATE job SET state = 'waiting'");
  EXPECT_EQ(getText("SELECT state FROM job"), "done");
}

TEST_P(RolesTest, aWorkerTakesBackALeaseOfTheOtherPhase) {
  run("UPDATE job SET state = 'leased', phase = 'measure', lease = 1, "
      "lease_until = 1, leased_at = 0, worker_id = :p1",
      {worker});
  auto builder = connectAs("builder");
  auto taken = JobQueue(*builder, worker, 60).reap();
  ASSERT_TRUE(taken) << taken.message();
  EXPECT_EQ(*taken, 1);
  EXPECT_EQ(getText("SELECT state FROM job"), "waiting");
}

TEST_P(RolesTest, aPackageThatNoBuilderRecordedIsRefused) {
  run("CREATE ROLE somebody LOGIN", {});
  run("GRANT INSERT ON package, package_part TO somebody", {});
  auto other = connectAs("reader");
  std::string address = url;
  size_t at = address.find("//") + 2;
  if (size_t end = address.find('@'); end != std::string::npos)
    address.erase(at, end + 1 - at);
  auto somebody = Database::open(address.insert(at, "somebody@"));
  ASSERT_TRUE(somebody) << somebody.message();
  auto added = (*somebody)->execute(
      "INSERT INTO package (digest, job_id, bytes, parts, created) VALUES "
      "('d', 1, 0, 0, 0)");
  ASSERT_TRUE(added) << added.message();
  Lease lease;
  lease.job = 1;
  lease.package = "d";
  auto fetched =
      PackageStore(*other, "").fetch(lease, testing::TempDir() + "/planted");
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.message().find("recorded by no builder"), std::string::npos)
      << fetched.message();
  run("DROP OWNED BY somebody", {});
  run("DROP ROLE somebody", {});
}

TEST_P(RolesTest, aJobGoesThroughBothRoles) {
  auto builder = connectAs("builder"), evaluator = connectAs("evaluator");
  std::string path = testing::TempDir() + "/roles-package";
  std::ofstream(path) << "the bytes";
  JobQueue builds(*builder, worker, 60), measures(*evaluator, worker, 60);
  auto leases = builds.claim(session, Phase::Compile, 1);
  ASSERT_TRUE(leases) << leases.message();
  PackageStore packages(*builder, "");
  auto digest = packages.stage(leases->front(), path);
  ASSERT_TRUE(digest) << digest.message();
  auto built = builds.complete(
      leases->front(), {Phase::Measure, 0, *digest, 1.0}, "log",
      [&] { return packages.record(leases->front(), *digest); });
  ASSERT_TRUE(built) << built.message();
  EXPECT_EQ(getText("SELECT recorded_by FROM package"), "a_builder");

  auto claimed = measures.claim(session, Phase::Measure, 1);
  ASSERT_TRUE(claimed) << claimed.message();
  PackageStore fetched(*evaluator, "");
  auto status = fetched.fetch(claimed->front(), path + "2");
  EXPECT_TRUE(status) << status.message();
  Measurement m;
  m.key = {"a", "solver", "x=1"};
  m.status = MeasurementStatus::Ok;
  auto measured = measures.complete(
      claimed->front(), {Phase::Compile, 1, "", std::nullopt}, "",
      [&] { return writeMeasurements(*evaluator, claimed->front(), m); });
  ASSERT_TRUE(measured) << measured.message();
  EXPECT_TRUE(measures.renew({}));
  EXPECT_TRUE(measures.reap());

  auto last = builds.claim(session, Phase::Compile, 1);
  ASSERT_EQ(last->size(), 1u);
  auto ended = builds.complete(last->front(), {}, "",
                               [&] { return packages.drop(last->front()); });
  ASSERT_TRUE(ended) << ended.message();
  EXPECT_EQ(getInteger("SELECT count(*) FROM package_part"), 0);
  EXPECT_EQ(getText("SELECT state FROM job"), "done");
}

// Files of SQLite have no roles.
INSTANTIATE_TEST_SUITE_P(All, RolesTest, testing::Values("postgresql"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
