//===- SupervisorTest.cpp - Builders that crash ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"
#include "Machine.h"

#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Supervisor.h"

#include <gtest/gtest.h>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

class SupervisorTest : public FleetTest {};

} // namespace

TEST_P(SupervisorTest, aCrashIsAnAttemptOfTheJobThatWasBegun) {
  int64_t worker = addWorker(getMachineName());
  run("UPDATE worker SET process = 77", {});
  int64_t session = addSession("L", "host");
  int64_t first = addJob(session, addProblem("a"));
  int64_t second = addJob(session, addProblem("b"));
  JobQueue queue(*database, worker, 60);
  ASSERT_EQ(queue.claim(session, Phase::Compile, 2)->size(), 2U);
  EXPECT_FALSE(*recordCrash(*database, "L", 78, "by a signal", "x\n"));
  EXPECT_FALSE(*recordCrash(*database, "M", 77, "by a signal", "x\n"));
  EXPECT_TRUE(*recordCrash(*database, "L", 77, "by a signal", "x\n"));
  EXPECT_EQ(getText("SELECT cause FROM attempt WHERE job_id = :p1", {first}),
            "crash");
  EXPECT_EQ(getText("SELECT reason FROM attempt WHERE job_id = :p1", {first}),
            "the compiler ended its builder by a signal");
  EXPECT_EQ(getText("SELECT log FROM attempt WHERE job_id = :p1", {first}),
            "x\n");
  EXPECT_EQ(getText("SELECT log FROM attempt WHERE job_id = :p1", {second}),
            "");
  EXPECT_EQ(getText("SELECT cause FROM attempt WHERE job_id = :p1", {second}),
            "returned");
  EXPECT_EQ(getText("SELECT reason FROM worker WHERE ended IS NOT NULL"),
            "it ended by a signal");
  // The worker's end is told once.
  EXPECT_FALSE(*recordCrash(*database, "L", 77, "by a signal", "x\n"));
}

INSTANTIATE_FLEET_TEST(SupervisorTest);
