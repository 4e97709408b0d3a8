//===- JobQueueTest.cpp - Leases of jobs ----------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/JobQueue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

class JobQueueTest : public FleetTest {
protected:
  void SetUp() override {
    FleetTest::SetUp();
    worker = addWorker("node1");
    session = addSession("L", "host");
    for (const char *key : {"a", "b", "c"})
      jobs.push_back(addJob(session, addProblem(key)));
  }

  JobQueue makeQueue(double seconds = 60) {
    return JobQueue(*database, worker, seconds);
  }

  int64_t worker = 0, session = 0;
  std::vector<int64_t> jobs;
};

} // namespace

TEST_P(JobQueueTest, claimsByPriorityAndGain) {
  run("UPDATE job SET gain = 5 WHERE id = :p1", {jobs[2]});
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[1]});
  auto leases = makeQueue().claim(session, Phase::Compile, 2);
  ASSERT_TRUE(leases) << leases.message();
  ASSERT_EQ(leases->size(), 2u);
  EXPECT_EQ((*leases)[0].key, "b");
  EXPECT_EQ((*leases)[1].key, "c");
  EXPECT_EQ((*leases)[0].lease, 1);
  auto rest = makeQueue().claim(session, Phase::Compile, 9);
  ASSERT_EQ(rest->size(), 1u);
  EXPECT_EQ(rest->front().key, "a");
  EXPECT_TRUE(makeQueue().claim(session, Phase::Compile, 9)->empty());
}

TEST_P(JobQueueTest, aSuccessMovesTheJobOn) {
  JobQueue queue = makeQueue();
  Lease lease = queue.claim(session, Phase::Compile, 1)->front();
  auto done =
      queue.complete(lease, {Phase::Measure, 0, "digest", 1.5}, "compiled");
  ASSERT_TRUE(done) << done.message();
  EXPECT_TRUE(*done);
  // The answer to the commit may be lost: the same again is no error.
  EXPECT_TRUE(*queue.complete(lease, {Phase::Measure, 0, "digest", 1.5}, ""));
  auto measured = queue.claim(session, Phase::Measure, 9);
  ASSERT_EQ(measured->size(), 1u);
  EXPECT_EQ(measured->front().package, "digest");
  EXPECT_TRUE(*queue.complete(measured->front(), {}, ""));
  EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {lease.job}),
            "done");
  EXPECT_EQ(getInteger("SELECT count(*) FROM attempt WHERE cause = 'ok'"), 2);
}

TEST_P(JobQueueTest, workersTakeTurnsToLookForEndedLeases) {
  JobQueue ended = makeQueue(-1);
  ASSERT_EQ(ended.claim(session, Phase::Compile, 1)->size(), 1u);
  run("UPDATE reaping SET last = $NOW - 5", {});
  EXPECT_EQ(*makeQueue(60).reapInTurn(), 0) << "six seconds are a turn";
  EXPECT_EQ(*makeQueue(40).reapInTurn(), 1);
  ASSERT_EQ(ended.claim(session, Phase::Compile, 1)->size(), 1u);
  EXPECT_EQ(*makeQueue(40).reapInTurn(), 0) << "the turn was taken";
  EXPECT_EQ(*ended.reap(), 1);
}

/// The database's clock was set back by an hour.
TEST_P(JobQueueTest, whatIsDatedInTheFutureWaitsForNobody) {
  JobQueue queue = makeQueue(60);
  int64_t dead = addWorker("node2");
  Lease lost =
      JobQueue(*database, dead, 60).claim(session, Phase::Compile, 1)->front();
  run("UPDATE job SET lease_until = lease_until + 3600 WHERE id = :p1",
      {lost.job});
  run("UPDATE worker SET seen = seen + 3600 WHERE id = :p1", {dead});
  run("UPDATE reaping SET last = $NOW + 3600", {});
  EXPECT_EQ(*queue.reapInTurn(), 0) << "the lease goes on for a minute";
  EXPECT_LT(getInteger("SELECT last - $NOW FROM reaping"), 1);
  constexpr const char *kLeft =
      "SELECT lease_until - $NOW FROM job WHERE state = 'leased'";
  EXPECT_GE(getInteger(kLeft), 55);
  EXPECT_LE(getInteger(kLeft), 65);
  EXPECT_LE(getInteger("SELECT seen - $NOW FROM worker WHERE id = :p1", {dead}),
            0);
  // So does a pause that is longer than any.
  run("UPDATE job SET available_at = $NOW + 3600 WHERE state = 'waiting'", {});
  EXPECT_EQ(queue.claim(session, Phase::Compile, 9)->size(), 2u);
}

TEST_P(JobQueueTest, pausesOfTenMinutesAreKept) {
  run("UPDATE job SET available_at = $NOW + 590", {});
  EXPECT_TRUE(makeQueue().claim(session, Phase::Compile, 9)->empty());
}

TEST_P(JobQueueTest, aLostLeaseIsRefused) {
  JobQueue queue = makeQueue(-1);
  Lease late = queue.claim(session, Phase::Compile, 1)->front();
  auto reaped = queue.reap();
  ASSERT_TRUE(reaped) << reaped.message();
  EXPECT_EQ(*reaped, 1);
  EXPECT_EQ(*queue.reap(), 0);
  bool wrote = false;
  auto done = queue.complete(late, {}, "", [&] {
    wrote = true;
    return tarpon::runtime::success();
  });
  ASSERT_TRUE(done) << done.message();
  EXPECT_FALSE(*done);
  EXPECT_FALSE(wrote);
  EXPECT_FALSE(*queue.fail(late, {Cause::Crash, "late", ""}));
  EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {late.job}),
            "waiting");
  EXPECT_EQ(getText("SELECT cause FROM attempt"), "lost");
  EXPECT_NE(getText("SELECT reason FROM attempt").find("node1"),
            std::string::npos);
}

/// A problem that crashes the compiler takes workers with it, and no neighbour.
TEST_P(JobQueueTest, onlyTheJobThatWasBegunIsLost) {
  JobQueue queue = makeQueue(-1);
  run("UPDATE job SET gain = 5 WHERE id = :p1", {jobs[1]});
  ASSERT_EQ(queue.claim(session, Phase::Compile, 3)->size(), 3U);
  EXPECT_EQ(*queue.reap(), 3);
  EXPECT_EQ(getText("SELECT cause FROM attempt WHERE job_id = :p1", {jobs[1]}),
            "lost");
  EXPECT_EQ(getInteger("SELECT count(*) FROM attempt WHERE cause = 'returned'"),
            2);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE available_at > $NOW"),
            1);
  // Of what is left of a claim the next one was begun.
  run("UPDATE job SET available_at = 0", {});
  auto leases = queue.claim(session, Phase::Compile, 3);
  EXPECT_TRUE(*queue.fail(leases->front(), {Cause::Crash, "a round", ""}));
  EXPECT_EQ(*queue.reap(), 2);
  EXPECT_EQ(getText("SELECT cause FROM attempt WHERE job_id = :p1 AND lease = "
                    "2",
                    {jobs[0]}),
            "lost");
  EXPECT_EQ(getText("SELECT cause FROM attempt WHERE job_id = :p1 AND lease = "
                    "2",
                    {jobs[2]}),
            "returned");
}

TEST_P(JobQueueTest, aJobOfWhichWorkersDieFails) {
  JobQueue queue = makeQueue(-1);
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[0]});
  auto dieOnce = [&] {
    run("UPDATE job SET available_at = 0", {});
    run("UPDATE worker SET seen = $NOW - 60", {});
    EXPECT_EQ(queue.claim(session, Phase::Compile, 1)->front().job, jobs[0]);
    EXPECT_EQ(*queue.reap(), 1);
    return getText("SELECT state FROM job WHERE id = :p1", {jobs[0]});
  };
  auto getPause = [&] {
    return std::stod(getText(
        "SELECT available_at - $NOW FROM job WHERE id = :p1", {jobs[0]}));
  };
  EXPECT_EQ(dieOnce(), "waiting");
  EXPECT_NEAR(getPause(), 5, 1);
  EXPECT_EQ(dieOnce(), "waiting");
  EXPECT_NEAR(getPause(), 10, 1);
  EXPECT_EQ(dieOnce(), "failed");
  std::string reason =
      getText("SELECT reason FROM job WHERE id = :p1", {jobs[0]});
  EXPECT_NE(reason.find("lost: 3 workers died while compiling it; worker"),
            std::string::npos)
      << reason;
}

TEST_P(JobQueueTest, workersThatWereCutOffHaveNotDied) {
  JobQueue queue = makeQueue(-1);
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[0]});
  for (int64_t i = 0; i <= kMaxDeaths; ++i) {
    run("UPDATE job SET available_at = 0", {});
    EXPECT_EQ(queue.claim(session, Phase::Compile, 1)->front().job, jobs[0]);
    EXPECT_EQ(*queue.reap(), 1);
    EXPECT_TRUE(queue.renew({}));
  }
  EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {jobs[0]}),
            "waiting");
}

/// The clock's steps are not fine enough to tell which of two came first.
TEST_P(JobQueueTest, workersHeardOfInTheMomentOfReapingLive) {
  JobQueue queue = makeQueue(-1);
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[0]});
  for (int64_t i = 0; i <= kMaxDeaths; ++i) {
    run("UPDATE job SET available_at = 0", {});
    EXPECT_EQ(queue.claim(session, Phase::Compile, 1)->front().job, jobs[0]);
    EXPECT_EQ(*queue.reap(), 1);
    run("UPDATE worker SET seen = (SELECT max(ended) FROM attempt)", {});
  }
  EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {jobs[0]}),
            "waiting");
}

/// Measuring happens in processes of its own: their crashes are candidates'.
TEST_P(JobQueueTest, lossesOfEvaluatorsAreTriedLonger) {
  JobQueue queue = makeQueue(-1);
  run("UPDATE job SET phase = 'measure' WHERE id = :p1", {jobs[0]});
  for (int64_t i = 1; i < getRule(Cause::Lost).maxAttempts; ++i) {
    run("UPDATE job SET available_at = 0", {});
    ASSERT_EQ(queue.claim(session, Phase::Measure, 1)->size(), 1U);
    EXPECT_EQ(*queue.reap(), 1);
    EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {jobs[0]}),
              "waiting");
  }
}

TEST_P(JobQueueTest, aWorkerGivesBackAllThatItHas) {
  JobQueue queue = makeQueue();
  ASSERT_EQ(queue.claim(session, Phase::Compile, 2)->size(), 2U);
  JobQueue other(*database, addWorker("node2"), 60);
  ASSERT_EQ(other.claim(session, Phase::Compile, 2)->size(), 1U);
  EXPECT_EQ(*queue.giveBackAll("the worker was told to end"), 2);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE state = 'leased'"), 1);
  EXPECT_EQ(getInteger("SELECT count(*) FROM attempt WHERE cause = 'returned' "
                       "AND reason = 'the worker was told to end'"),
            2);
}

TEST_P(JobQueueTest, anEndedLeaseIsRefusedBeforeItIsReaped) {
  JobQueue queue = makeQueue(-1);
  Lease late = queue.claim(session, Phase::Compile, 1)->front();
  EXPECT_FALSE(*queue.complete(late, {}, ""));
}

TEST_P(JobQueueTest, causesAreCountedApart) {
  JobQueue queue = makeQueue();
  auto failOnce = [&](Cause cause) {
    run("UPDATE job SET available_at = 0", {});
    auto leases = queue.claim(session, Phase::Compile, 9);
    for (const Lease &lease : *leases)
      EXPECT_TRUE(
          *queue.fail(lease, {lease.job == jobs[0] ? cause : Cause::Returned,
                              "because", "the log"}));
    return getText("SELECT state FROM job WHERE id = :p1", {jobs[0]});
  };
  EXPECT_EQ(failOnce(Cause::Memory), "waiting");
  EXPECT_EQ(failOnce(Cause::Package), "waiting");
  EXPECT_EQ(failOnce(Cause::Memory), "waiting");
  EXPECT_EQ(failOnce(Cause::Lost), "waiting");
  EXPECT_EQ(failOnce(Cause::Memory), "failed");
  EXPECT_EQ(getText("SELECT reason FROM job WHERE id = :p1", {jobs[0]}),
            "memory: because (3 times)");
  EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {jobs[1]}),
            "waiting");
}

/// A search whose candidates all crash would end so again, however often what
/// crashes is tried.
TEST_P(JobQueueTest, whatIsFinalIsNotTriedAgain) {
  JobQueue queue = makeQueue();
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[0]});
  for (bool isFinal : {false, true}) {
    run("UPDATE job SET available_at = 0", {});
    Lease lease = queue.claim(session, Phase::Compile, 1)->front();
    ASSERT_EQ(lease.job, jobs[0]);
    EXPECT_TRUE(*queue.fail(lease, {Cause::Hang, "because", "", isFinal}));
    EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {jobs[0]}),
              isFinal ? "failed" : "waiting");
  }
  // It is the last end that says why, and not how often.
  EXPECT_EQ(getText("SELECT reason FROM job WHERE id = :p1", {jobs[0]}),
            "hang: because");
  Lease lease = queue.claim(session, Phase::Compile, 1)->front();
  EXPECT_TRUE(*queue.fail(lease, {Cause::Crash, "because", "", true}));
  EXPECT_EQ(getText("SELECT state || ', ' || reason FROM job WHERE id = :p1",
                    {lease.job}),
            "failed, crash: because");
}

/// A server that is away is waited for; what a live one refuses ends the job.
TEST_P(JobQueueTest, refusalsOfTheDatabaseAreCountedApart) {
  JobQueue queue = makeQueue();
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[0]});
  auto failOnce = [&](const AttemptEnd &end) {
    run("UPDATE job SET available_at = 0", {});
    Lease lease = queue.claim(session, Phase::Compile, 1)->front();
    EXPECT_EQ(lease.job, jobs[0]);
    EXPECT_TRUE(*queue.fail(lease, end));
    return getText("SELECT state FROM job WHERE id = :p1", {jobs[0]});
  };
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(failOnce({Cause::Database, "no route to host", ""}), "waiting");
  // The database has answered last.
  AttemptEnd refusal =
      AttemptEnd::forDatabase(*database, "permission denied for table x");
  EXPECT_EQ(failOnce(refusal), "waiting");
  EXPECT_EQ(failOnce(refusal), "waiting");
  EXPECT_EQ(failOnce(refusal), "failed");
  EXPECT_EQ(getText("SELECT reason FROM job WHERE id = :p1", {jobs[0]}),
            "database: refused: permission denied for table x (3 times)");
}

TEST_P(JobQueueTest, attemptsAreCountedSinceAPersonRetried) {
  JobQueue queue = makeQueue();
  auto failOnce = [&](Cause cause) {
    run("UPDATE job SET available_at = 0", {});
    Lease lease = queue.claim(session, Phase::Compile, 1)->front();
    EXPECT_EQ(lease.job, jobs[0]);
    EXPECT_TRUE(*queue.fail(lease, {cause, "because", ""}));
  };
  run("UPDATE job SET priority = 1 WHERE id = :p1", {jobs[0]});
  EXPECT_EQ(*countAttempts(*database, jobs[0], Cause::Memory), 0);
  failOnce(Cause::Memory);
  failOnce(Cause::Disk);
  failOnce(Cause::Memory);
  EXPECT_EQ(*countAttempts(*database, jobs[0], Cause::Memory), 2);
  EXPECT_EQ(*countAttempts(*database, jobs[1], Cause::Memory), 0);
  run("UPDATE job SET counted_from = 2 WHERE id = :p1", {jobs[0]});
  EXPECT_EQ(*countAttempts(*database, jobs[0], Cause::Memory), 1);
}

TEST_P(JobQueueTest, aFailureWaitsBeforeItIsTriedAgain) {
  JobQueue queue = makeQueue();
  Lease lease = queue.claim(session, Phase::Compile, 1)->front();
  EXPECT_TRUE(*queue.fail(lease, {Cause::Memory, "no memory", ""}));
  EXPECT_EQ(queue.claim(session, Phase::Compile, 9)->size(), 2u);
}

TEST_P(JobQueueTest, renewalTellsWhatIsOwned) {
  JobQueue queue = makeQueue();
  auto leases = queue.claim(session, Phase::Compile, 2);
  run("UPDATE job SET state = 'aborted' WHERE id = :p1", {leases->front().job});
  std::set<LeaseKey> held;
  for (const Lease &lease : *leases)
    held.emplace(lease.job, lease.lease);
  auto renewal = queue.renew(held);
  ASSERT_TRUE(renewal) << renewal.message();
  EXPECT_EQ(renewal->owned.size(), 1u);
  EXPECT_TRUE(renewal->owned.count({leases->back().job, 1}));
  EXPECT_FALSE(renewal->isDraining);
  run("UPDATE machine SET state = 'draining'", {});
  EXPECT_TRUE(queue.renew({})->isDraining);
}

/// A worker that is stopped, or cut off, within a transaction has the job's row
/// locked, and whoever takes jobs back skips those.
TEST_P(JobQueueTest, aTransactionThatWaitsForItsWorkerIsEnded) {
  if (!database->isPostgres())
    GTEST_SKIP() << "files have no server";
  JobQueue queue = makeQueue();
  ASSERT_EQ(queue.claim(session, Phase::Compile, 1)->size(), 1u);
  run("UPDATE job SET lease_until = 1 WHERE state = 'leased'", {});
  auto other = Database::open(url);
  ASSERT_TRUE(other) << other.message();
  constexpr double kLimit = 0.2;
  ASSERT_TRUE((*other)->limitIdleTransactions(kLimit));
  auto stopped = (*other)->transact([&]() -> tarpon::runtime::Status {
    auto locked =
        (*other)->execute("UPDATE job SET gain = 7 WHERE state = 'leased'");
    EXPECT_TRUE(locked) << locked.message();
    EXPECT_EQ(*queue.reap(), 0);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_EQ(*queue.reap(), 1);
    return tarpon::runtime::success();
  });
  EXPECT_FALSE(stopped);
  EXPECT_TRUE((*other)->isDisconnected());
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE gain = 7"), 0);
  // The limit holds for the next connection, too.
  ASSERT_TRUE((*other)->reconnect());
  auto limit = (*other)->query("SHOW idle_in_transaction_session_timeout");
  ASSERT_TRUE(limit) << limit.message();
  EXPECT_EQ(limit->front().text(0), "200ms");
}

TEST_P(JobQueueTest, aJobWhoseClaimWasNeverAnsweredComesBack) {
  JobQueue queue = makeQueue();
  ASSERT_EQ(queue.claim(session, Phase::Compile, 1)->size(), 1u);
  std::string until = getText("SELECT lease_until FROM job WHERE state = "
                              "'leased'");
  // The worker lives, but does not know of the job.
  EXPECT_TRUE(queue.renew({})->owned.empty());
  EXPECT_EQ(getText("SELECT lease_until FROM job WHERE state = 'leased'"),
            until);
}

TEST_P(JobQueueTest, whatIsWrongWithOneJobLeavesTheOthers) {
  JobQueue queue = makeQueue(-1);
  auto leases = queue.claim(session, Phase::Compile, 2);
  run("INSERT INTO attempt (job_id, lease, phase, round, started, ended, "
      "cause) VALUES (:p1, 1, 'compile', 0, 0, 0, 'ok')",
      {leases->front().job});
  auto reaped = queue.reap();
  ASSERT_TRUE(reaped) << reaped.message();
  EXPECT_EQ(*reaped, 2);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE state = 'waiting'"), 3);
}

TEST_P(JobQueueTest, aWorkerThatIsNotHeardOfHasEnded) {
  run("UPDATE worker SET seen = seen - 1000", {});
  JobQueue queue = makeQueue();
  ASSERT_TRUE(queue.reap());
  EXPECT_EQ(getText("SELECT reason FROM worker WHERE ended IS NOT NULL"),
            "not heard of");
  EXPECT_FALSE(queue.renew({})->isDraining);
  EXPECT_EQ(getInteger("SELECT count(*) FROM worker WHERE ended IS NULL"), 1);
}

/// Whoever looks, and however short its own leases are.
TEST_P(JobQueueTest, workersAreJudgedByTheLeaseOfTheirLabel) {
  int64_t hasty = addWorker("node2");
  run("UPDATE worker SET label = 'S' WHERE id = :p1", {hasty});
  int64_t other = addSession("S", "host");
  run("UPDATE session SET settings = '{\"lease_seconds\": 5}' WHERE id = :p1",
      {other});
  run("UPDATE worker SET seen = seen - 20", {});
  ASSERT_TRUE(makeQueue(5).reap());
  EXPECT_EQ(getInteger("SELECT id FROM worker WHERE ended IS NOT NULL"), hasty);
  EXPECT_EQ(getInteger("SELECT id FROM worker WHERE ended IS NULL"), worker);
  run("UPDATE worker SET ended = NULL", {});
  ASSERT_TRUE(makeQueue(600).reap());
  EXPECT_EQ(getInteger("SELECT id FROM worker WHERE ended IS NOT NULL"), hasty);
  // One of several targets, which beats by the longest lease.
  run("UPDATE worker SET ended = NULL", {});
  addSession("S", "gfx942");
  ASSERT_TRUE(makeQueue(5).reap());
  EXPECT_EQ(getInteger("SELECT count(*) FROM worker WHERE ended IS NULL"), 2);
}

TEST_P(JobQueueTest, statesAreThoseOfTheTable) {
  for (const char *sql :
       {"UPDATE job SET state = 'X'", "UPDATE job SET phase = 'X'",
        "UPDATE machine SET state = 'X'", "UPDATE worker SET role = 'X'"})
    EXPECT_FALSE(database->execute(sql)) << sql;
}

TEST_P(JobQueueTest, whatIsWrittenBelongsToTheTransaction) {
  JobQueue queue = makeQueue();
  Lease lease = queue.claim(session, Phase::Compile, 1)->front();
  auto done = queue.complete(lease, {}, "", [&]() -> tarpon::runtime::Status {
    auto set = database->execute(
        "INSERT INTO setting (name, value) VALUES ('x', 'y')");
    EXPECT_TRUE(set);
    return tarpon::runtime::Error{"no"};
  });
  EXPECT_FALSE(done);
  EXPECT_EQ(getInteger("SELECT count(*) FROM setting WHERE name = 'x'"), 0);
  EXPECT_EQ(getText("SELECT state FROM job WHERE id = :p1", {lease.job}),
            "leased");
}

INSTANTIATE_FLEET_TEST(JobQueueTest);
