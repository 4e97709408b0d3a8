//===- FleetStatusTest.cpp - The state of a fleet -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/FleetStatus.h"

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {
class FleetStatusTest : public FleetTest {
protected:
  std::vector<MachineStatus> readMachines() {
    auto status = getStatus(*database, "");
    EXPECT_TRUE(status) << status.message();
    return status ? status->machines : std::vector<MachineStatus>();
  }

  void lease(int64_t job, int64_t worker) {
    run("UPDATE job SET state = 'leased', worker_id = :p1 WHERE id = :p2",
        {worker, job});
  }
};
} // namespace

TEST_P(FleetStatusTest, machinesHoldTheJobsOfTheirWorkers) {
  int64_t session = addSession("L", "host");
  int64_t first = addWorker("one"), second = addWorker("one");
  addWorker("two");
  for (int64_t i = 0; i < 4; ++i) {
    int64_t job = addJob(session, addProblem("p" + std::to_string(i)));
    if (i < 3)
      lease(job, i == 0 ? first : second);
  }
  std::vector<MachineStatus> machines = readMachines();
  ASSERT_EQ(machines.size(), 2u);
  EXPECT_EQ(machines[0].name, "one");
  EXPECT_EQ(machines[0].builders + machines[0].evaluators, 2);
  EXPECT_EQ(machines[0].jobs, 3);
  EXPECT_EQ(machines[1].name, "two");
  EXPECT_EQ(machines[1].builders + machines[1].evaluators, 1);
  EXPECT_EQ(machines[1].jobs, 0);
}

/// A machine says why it does nothing when none of its workers lives.
TEST_P(FleetStatusTest, theLastReasonIsToldWhenAllWorkersHaveEnded) {
  int64_t first = addWorker("one"), second = addWorker("one");
  run("UPDATE worker SET ended = 10, reason = 'later' WHERE id = :p1", {first});
  ASSERT_EQ(readMachines().size(), 1u);
  EXPECT_EQ(readMachines().front().reason, "");
  run("UPDATE worker SET ended = 5, reason = 'earlier' WHERE id = :p1",
      {second});
  EXPECT_EQ(readMachines().front().reason, "later");
  EXPECT_EQ(readMachines().front().builders, 0);
}

/// Candidates that fail beside right ones are no attempt's failure.
TEST_P(FleetStatusTest, candidatesThatFailedAreCounted) {
  int64_t session = addSession("L", "host"), other = addSession("M", "host");
  std::vector<int64_t> problems = {addProblem("a"), addProblem("b")};
  auto add = [&](int64_t session, int64_t problem, const std::string &status,
                 const std::string &detail) {
    run("INSERT INTO measurement (session_id, problem_id, number, solver, "
        "config, stage, status, samples, median, mad, workspace, rounds, "
        "detail) VALUES (:p1, :p2, 0, 'solver-v1', 'tile=1', 'race', :p3, "
        "'[]', 1, 0, 0, 1, :p4)",
        {session, problem, status, detail});
  };
  add(session, problems[0], "ok", "");
  add(session, problems[0], "crashed", "SIGSEGV");
  add(session, problems[1], "crashed", "SIGBUS");
  add(session, problems[1], "crashed", "SIGILL");
  add(session, problems[1], "wrong", "off by one");
  add(other, problems[0], "timed-out", "after 10 s");
  auto status = getStatus(*database, "L");
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(status->candidates.size(), 2u);
  EXPECT_EQ(status->candidates[0].status, "crashed");
  EXPECT_EQ(status->candidates[0].candidates, 3);
  EXPECT_EQ(status->candidates[0].problems, 2);
  EXPECT_EQ(status->candidates[0].latest, "solver-v1 {tile=1}: SIGILL");
  EXPECT_EQ(status->candidates[1].status, "wrong");
  EXPECT_TRUE(status->causes.empty());
  auto all = getStatus(*database, "");
  ASSERT_TRUE(all) << all.message();
  EXPECT_EQ(all->candidates.size(), 3u);
}

/// However many measurements there are, those that failed are a range of an
/// index.
TEST_P(FleetStatusTest, candidatesAreFoundByAnIndex) {
  std::string query =
      "SELECT status, count(*), count(DISTINCT problem_id), max(id) FROM "
      "measurement WHERE session_id = 1 AND status <> 'ok' GROUP BY status";
  run("INSERT INTO session (label, target, context_target, context_tarpon, "
      "context_llvm, context_caches, threads, kernel_version, created) VALUES "
      "('L', 'host', '', '', '', '', 1, '', 0)",
      {});
  addProblem("a");
  run("INSERT INTO measurement (session_id, problem_id, number, solver, "
      "config, stage, status, samples, median, mad, workspace, rounds) WITH "
      "RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
      "20000) SELECT 1, 1, i, '', '', 'race', CASE WHEN i % 100 = 0 THEN "
      "'wrong' ELSE 'ok' END, '[]', 1, 0, 0, 1 FROM n",
      {});
  run("ANALYZE", {});
  auto rows = database->query(
      (database->isPostgres() ? "EXPLAIN " : "EXPLAIN QUERY PLAN ") + query);
  ASSERT_TRUE(rows) << rows.message();
  std::string plan;
  for (const Row &row : *rows)
    plan += row.text(row.size() - 1) + "\n";
  EXPECT_NE(plan.find("measurement_failed"), std::string::npos) << plan;
}

INSTANTIATE_FLEET_TEST(FleetStatusTest);
