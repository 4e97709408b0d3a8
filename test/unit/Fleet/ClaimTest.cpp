//===- ClaimTest.cpp - The leases of one claim ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Claim.h"
#include "FleetTestDatabase.h"
#include "Heartbeat.h"

#include <gtest/gtest.h>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using tarpon::runtime::Error;
using tarpon::runtime::Status;
using tarpon::runtime::success;

namespace {

class ClaimTest : public FleetTest {
protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (IsSkipped())
      return;
    worker = addWorker("node1");
    int64_t session = addSession("L", "host");
    for (const char *key : {"a", "b", "c"})
      addJob(session, addProblem(key));
    auto claimed = JobQueue(*database, worker, kLeaseSeconds)
                       .claim(session, Phase::Compile, 3);
    ASSERT_TRUE(claimed) << claimed.message();
    leases = *claimed;
    ASSERT_EQ(leases.size(), 3U);
  }

  static constexpr double kLeaseSeconds = 60;
  int64_t worker = 0;
  std::vector<Lease> leases;
};

} // namespace

/// What a beat renews would grow with each job that is given back.
TEST_P(ClaimTest, jobsThatAreDoneOrGivenBackAreNotRenewed) {
  Heartbeat heartbeat(
      url, worker, kLeaseSeconds, [] { return false; },
      [](JobQueue &, Database &) {});
  JobQueue queue(*database, worker, kLeaseSeconds);
  Claim claim(heartbeat, leases);
  EXPECT_EQ(heartbeat.countHeld(), 3U);
  Status status = claim.forEach([&](size_t position, const Lease &lease) {
    EXPECT_EQ(lease.job, leases[position].job);
    EXPECT_EQ(heartbeat.countHeld(), 3 - position);
    auto ended = position == 0
                     ? queue.complete(lease, {}, "")
                     : queue.fail(lease, {Cause::Returned, "late", ""});
    EXPECT_TRUE(ended && *ended);
    return success();
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(heartbeat.countHeld(), 0U);
}

TEST_P(ClaimTest, whatAnErrorLeavesIsNotRenewed) {
  Heartbeat heartbeat(
      url, worker, kLeaseSeconds, [] { return false; },
      [](JobQueue &, Database &) {});
  {
    Claim claim(heartbeat, leases);
    EXPECT_FALSE(claim.forEach(
        [](size_t, const Lease &) -> Status { return Error{"no database"}; }));
    EXPECT_EQ(heartbeat.countHeld(), 2U);
  }
  EXPECT_EQ(heartbeat.countHeld(), 0U);
}

INSTANTIATE_FLEET_TEST(ClaimTest);
