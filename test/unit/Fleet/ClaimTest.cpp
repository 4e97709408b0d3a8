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

#include <chrono>
#include <thread>

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

/// The targets of a label may have leases of different lengths.
TEST_P(ClaimTest, eachLeaseIsRenewedByItsOwnLength) {
  constexpr double kShort = 6;
  leases[0].seconds = kShort;
  run("UPDATE job SET lease_until = $NOW + 15", {});
  Heartbeat heartbeat(
      url, worker, kShort, [] { return false; }, [](JobQueue &, Database &) {});
  Claim claim(heartbeat, leases);
  auto getRest = [&](const Lease &lease) {
    return std::stod(getText(
        "SELECT lease_until - $NOW FROM job WHERE id = :p1", {lease.job}));
  };
  for (int i = 0; i < 100 && getRest(leases[1]) < 30; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_NEAR(getRest(leases[1]), kLeaseSeconds, 5);
  EXPECT_NEAR(getRest(leases[0]), kShort, 5);
  EXPECT_FALSE(heartbeat.isLost(leases[0]));
}

INSTANTIATE_FLEET_TEST(ClaimTest);
