//===- JobsTest.cpp - Jobs as people handle them --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Driver/Workload.h"
#include "tarpon/Fleet/FleetStatus.h"
#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Jobs.h"
#include "tarpon/Fleet/Measurements.h"
#include "tarpon/Fleet/WorkList.h"

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

/// Three problems with the tag "t", and a session of the label "L".
class JobsTest : public FleetTest {
protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (IsSkipped())
      return;
    problems = parseWorkload("relu(1x8xf32)->1x8xf32\ntanh(1x8xf32)->1x8xf32\n"
                             "abs(1x8xf32)->1x8xf32\n")
                   .problems;
    ASSERT_EQ(problems.size(), 3u);
    auto count = importProblems(*database, problems, "t", false);
    ASSERT_TRUE(count) << count.message();
    EXPECT_EQ(count->added, 3);
    session.id = addSession("L", "host");
    session.label = "L";
    session.target = "host";
  }

  LoadCount load(bool again = false) {
    auto count = loadJobs(*database, session, "t", std::nullopt, again);
    EXPECT_TRUE(count) << count.message();
    return count ? *count : LoadCount();
  }

  std::vector<Problem> problems;
  Session session;
};

} // namespace

TEST_P(JobsTest, problemsAndTagsAreKeptOnce) {
  auto again = importProblems(*database, problems, "t", false);
  EXPECT_EQ(again->added, 0);
  EXPECT_EQ(again->tagged, 0);
  auto other = importProblems(*database, problems, "u", true);
  EXPECT_EQ(other->added, 0);
  EXPECT_EQ(other->tagged, 3);
  EXPECT_EQ(getInteger("SELECT count(*) FROM problem"), 3);
  EXPECT_EQ(getInteger("SELECT count(*) FROM tag WHERE is_recurrent = 1"), 3);
}

TEST_P(JobsTest, manyProblemsAreOneImport) {
  std::string text;
  for (int i = 1; i <= 1000; ++i)
    text += "relu(1x" + std::to_string(100 + i) + "xf32)->1x" +
            std::to_string(100 + i) + "xf32\n";
  auto count =
      importProblems(*database, parseWorkload(text).problems, "many", false);
  ASSERT_TRUE(count) << count.message();
  EXPECT_EQ(count->added, 1000);
  EXPECT_EQ(count->tagged, 1000);
}

TEST_P(JobsTest, namesNeedNoQuotes) {
  EXPECT_TRUE(checkName("the tag", "nightly-2026.11_x:y/z@host +1"));
  for (const char *name :
       {"", "a'b", "a\"b", "<script>", "a\nb", "a;b", "\x1b"})
    EXPECT_FALSE(checkName("the tag", name)) << name;
  auto refused = checkName("the tag", "a\x1b[31m");
  EXPECT_EQ(refused.message().find('\x1b'), std::string::npos);
  EXPECT_FALSE(checkName("the tag", std::string(101, 'a')));
}

TEST_P(JobsTest, jobsAreMadeOnce) {
  auto counted = countLoad(*database, "L", "host", "t", false);
  EXPECT_EQ(counted->made, 3);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job"), 0);
  EXPECT_EQ(load().made, 3);
  EXPECT_EQ(load().made, 0);
  EXPECT_EQ(countLoad(*database, "L", "host", "t", false)->made, 0);
  auto none = loadJobs(*database, session, "unknown", 0, false);
  ASSERT_FALSE(none);
  EXPECT_NE(none.message().find("no problem has the tag 'unknown'"),
            std::string::npos);
}

TEST_P(JobsTest, jobsBeginAnewWithoutWhatWasMeasured) {
  load();
  JobQueue queue(*database, addWorker("node1"), 60);
  auto leases = queue.claim(session.id, Phase::Compile, 1);
  Measurement m;
  m.key = {leases->front().key, "s", "x=1"};
  m.samples = {1, 2};
  m.maxError = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(queue.complete(leases->front(), {}, "", [&] {
    return writeMeasurements(*database, leases->front(), {m, m});
  }));
  auto known = readMeasurements(*database, leases->front());
  ASSERT_TRUE(known) << known.message();
  ASSERT_EQ(known->size(), 2u);
  EXPECT_EQ(known->front().samples, m.samples);
  EXPECT_EQ(known->front().maxError, m.maxError);
  EXPECT_EQ(load(/*again=*/true).begun, 1);
  EXPECT_TRUE(readMeasurements(*database, leases->front())->empty());
  EXPECT_EQ(getInteger("SELECT count(*) FROM measurement"), 2);
}

/// What is expected later is in milliseconds, too, and less than a second.
TEST_P(JobsTest, GainsAreExpectedInMilliseconds) {
  load();
  EXPECT_EQ(getInteger("SELECT count(*) FROM job JOIN problem ON problem.id = "
                       "problem_id WHERE flops > 0 AND gain > 0 AND gain < "
                       "flops / 1e8"),
            3);
  Session gpu = session;
  gpu.id = addSession("L", "gfx942:cu=304");
  gpu.target = "gfx942:cu=304";
  ASSERT_TRUE(loadJobs(*database, gpu, "t", std::nullopt, false));
  EXPECT_EQ(getInteger("SELECT count(*) FROM job AS slow JOIN job AS fast ON "
                       "fast.problem_id = slow.problem_id WHERE "
                       "slow.session_id = :p1 AND fast.session_id = :p2 AND "
                       "fast.gain < slow.gain / 100",
                       {session.id, gpu.id}),
            3);
}

TEST_P(JobsTest, APriorityIsThatOfWaitingJobsToo) {
  load();
  JobFilter first;
  first.job = getInteger("SELECT min(id) FROM job");
  ASSERT_EQ(*abortJobs(*database, first), 1);
  auto count = loadJobs(*database, session, "t", 5, false);
  ASSERT_TRUE(count) << count.message();
  EXPECT_EQ(count->made, 0);
  EXPECT_EQ(count->moved, 2);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE priority = 5"), 2);
  // Without one, nothing changes.
  EXPECT_EQ(loadJobs(*database, session, "t", std::nullopt, false)->moved, 0);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE priority = 5"), 2);
}

TEST_P(JobsTest, retryAndAbortTakeFilters) {
  load();
  JobFilter first;
  first.label = "L";
  first.job = getInteger("SELECT min(id) FROM job");
  EXPECT_EQ(*abortJobs(*database, first), 1);
  EXPECT_EQ(*abortJobs(*database, first), 0);
  JobFilter aborted;
  aborted.label = "L";
  aborted.state = "aborted";
  auto listed = listJobs(*database, aborted, 10);
  ASSERT_TRUE(listed) << listed.message();
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().problem, problems.front().key());
  aborted.cause = "aborted";
  EXPECT_EQ(*retryJobs(*database, aborted), 1);
  EXPECT_EQ(getInteger("SELECT count(*) FROM job WHERE state = 'waiting'"), 3);
  JobFilter unknown;
  unknown.label = "M";
  EXPECT_FALSE(abortJobs(*database, unknown));
  unknown.label = "L";
  unknown.cause = "weather";
  EXPECT_FALSE(abortJobs(*database, unknown));
}

TEST_P(JobsTest, whatFailedIsMeasuredAnew) {
  load();
  JobQueue queue(*database, addWorker("node1"), 60);
  auto leases = queue.claim(session.id, Phase::Compile, 2);
  Measurement m;
  m.key = {leases->front().key, "s", "x=1"};
  m.status = MeasurementStatus::Wrong;
  ASSERT_TRUE(queue.complete(
      leases->front(), {Phase::Compile, 1, "", std::nullopt}, "",
      [&] { return writeMeasurements(*database, leases->front(), m); }));
  leases = queue.claim(session.id, Phase::Compile, 1);
  ASSERT_TRUE(queue.fail(leases->front(), {Cause::Wrong, "all are", ""}));
  JobFilter filter;
  filter.label = "L";
  filter.machine = "node2";
  EXPECT_EQ(*retryJobs(*database, filter), 0);
  filter.machine = "node1";
  EXPECT_EQ(*retryJobs(*database, filter), 1);
  EXPECT_TRUE(readMeasurements(*database, leases->front())->empty());
}

TEST_P(JobsTest, anAbortedLeaseLeavesATrace) {
  load();
  JobQueue queue(*database, addWorker("node1"), 60);
  auto leases = queue.claim(session.id, Phase::Compile, 1);
  JobFilter filter;
  filter.label = "L";
  EXPECT_EQ(*abortJobs(*database, filter), 3);
  auto attempts = listAttempts(*database, leases->front().job);
  ASSERT_EQ(attempts->size(), 1u);
  EXPECT_EQ(attempts->front().cause, "aborted");
  EXPECT_FALSE(*queue.complete(leases->front(), {}, ""));
}

/// A worker takes the second job while the first one is aborted.
TEST_P(JobsTest, aJobThatIsClaimedDuringAnAbortLeavesATrace) {
  load();
  JobQueue queue(*database, addWorker("node1"), 60);
  Lease lease = queue.claim(session.id, Phase::Compile, 1)->front();
  int64_t next = getInteger("SELECT min(id) FROM job WHERE state = 'waiting'");
  std::string claim = "UPDATE job SET state = 'leased', lease = 1, leased_at = "
                      "1, lease_until = 9e9, worker_id = 1 WHERE id = " +
                      std::to_string(next) + ";";
  if (database->isPostgres())
    run("CREATE FUNCTION claim() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN " +
            claim + " RETURN NEW; END $body$",
        {});
  run("CREATE TRIGGER claim AFTER INSERT ON attempt FOR EACH ROW " +
          (database->isPostgres() ? "EXECUTE FUNCTION claim()"
                                  : "BEGIN " + claim + " END"),
      {});
  JobFilter filter;
  filter.label = "L";
  auto aborted = abortJobs(*database, filter);
  ASSERT_TRUE(aborted) << aborted.message();
  EXPECT_EQ(*aborted, 3);
  for (int64_t job : {lease.job, next}) {
    auto attempts = listAttempts(*database, job);
    ASSERT_TRUE(attempts) << attempts.message();
    ASSERT_EQ(attempts->size(), 1U) << job;
    EXPECT_EQ(attempts->front().cause, "aborted");
    EXPECT_EQ(attempts->front().machine, "node1");
  }
  EXPECT_EQ(getInteger("SELECT count(*) FROM attempt"), 2);
}

TEST_P(JobsTest, theStateOfAFleet) {
  load();
  JobQueue queue(*database, addWorker("node1"), 60);
  auto leases = queue.claim(session.id, Phase::Compile, 2);
  ASSERT_TRUE(queue.complete((*leases)[0], {Phase::Measure, 0, "d", 1.0}, ""));
  ASSERT_TRUE(
      queue.fail((*leases)[1], {Cause::Compile, "LLVM said no", "its log"}));
  auto status = getStatus(*database, "L");
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(status->sessions.size(), 1u);
  EXPECT_EQ(status->sessions[0].counts.at("waiting to measure"), 1);
  EXPECT_EQ(status->sessions[0].counts.at("failed"), 1);
  EXPECT_EQ(status->sessions[0].ended, 1);
  ASSERT_EQ(status->machines.size(), 1u);
  EXPECT_EQ(status->machines[0].builders, 1);
  ASSERT_EQ(status->causes.size(), 1u);
  EXPECT_EQ(status->causes[0].cause, "compile");
  EXPECT_EQ(status->causes[0].reason, "LLVM said no");
  auto attempts = listAttempts(*database, (*leases)[1].job);
  ASSERT_TRUE(attempts) << attempts.message();
  ASSERT_EQ(attempts->size(), 1u);
  EXPECT_EQ(attempts->front().log, "its log");
  EXPECT_EQ(attempts->front().machine, "node1");
  EXPECT_FALSE(listAttempts(*database, 99999));
}

TEST_P(JobsTest, machinesAreDrained) {
  JobQueue queue(*database, addWorker("node1"), 60);
  EXPECT_TRUE(setDraining(*database, "node1", true));
  EXPECT_TRUE(queue.renew({})->isDraining);
  EXPECT_TRUE(setDraining(*database, "node1", false));
  EXPECT_FALSE(queue.renew({})->isDraining);
  EXPECT_FALSE(setDraining(*database, "node2", true));
}

TEST_P(JobsTest, aDeletedLabelLeavesWhatWasMeasured) {
  load();
  JobQueue queue(*database, addWorker("node1"), 60);
  auto leases = queue.claim(session.id, Phase::Compile, 1);
  Measurement m;
  m.key = {leases->front().key, "s", "x=1"};
  ASSERT_TRUE(queue.complete(leases->front(), {}, "", [&] {
    return writeMeasurements(*database, leases->front(), m);
  }));
  auto deleted = deleteLabel(*database, "L");
  ASSERT_TRUE(deleted) << deleted.message();
  EXPECT_EQ(getInteger("SELECT count(*) FROM job"), 0);
  EXPECT_EQ(getInteger("SELECT count(*) FROM measurement"), 1);
  EXPECT_FALSE(deleteLabel(*database, "L"));
  EXPECT_FALSE(getStatus(*database, "L"));
}

INSTANTIATE_FLEET_TEST(JobsTest);
