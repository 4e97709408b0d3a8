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

INSTANTIATE_FLEET_TEST(FleetStatusTest);
