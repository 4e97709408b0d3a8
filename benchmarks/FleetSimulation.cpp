//===- FleetSimulation.cpp - A fleet whose workers pretend ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many workers on a real database, each a thread with a connection of its own,
// that take jobs by lease, pretend to do them, and write results as real ones
// do. Prints what the database did as JSON. benchmarks/fleet starts it.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Measurements.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace tarpon;
using namespace tarpon::fleet;
using Clock = std::chrono::steady_clock;

static llvm::cl::opt<std::string> url(llvm::cl::Positional, llvm::cl::Required,
                                      llvm::cl::desc("DB"));
static llvm::cl::opt<int64_t> numJobs("jobs", llvm::cl::init(1000000));
static llvm::cl::opt<int64_t> numWorkers("workers", llvm::cl::init(1000));
static llvm::cl::opt<int64_t> batch("batch", llvm::cl::init(8));
static llvm::cl::opt<double> workSeconds(
    "work", llvm::cl::init(1),
    llvm::cl::desc("Seconds for which a worker pretends to do one job"));
static llvm::cl::opt<double> seconds("seconds", llvm::cl::init(60));
static llvm::cl::opt<double> warmup(
    "warmup", llvm::cl::init(0),
    llvm::cl::desc("Seconds at the beginning that do not count: all workers "
                   "connect then"));
static llvm::cl::opt<bool>
    untilDone("until-done",
              llvm::cl::desc("End when all jobs have ended, however long it "
                             "takes"));

namespace {

/// What the workers have seen.
struct Tally {
  std::mutex mutex;
  std::vector<double> claimMs, completeMs;
  std::atomic<int64_t> claimed = 0, completed = 0, measured = 0, refused = 0,
                       failures = 0;

  /// The span in which things count: workers end with their batches.
  Clock::time_point from, until;

  bool counts() const {
    Clock::time_point now = Clock::now();
    return now >= from && now < until;
  }

  void add(std::vector<double> &list, double ms) {
    if (!counts())
      return;
    std::lock_guard lock(mutex);
    list.push_back(ms);
  }
};

} // namespace

static double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

static void check(const runtime::Status &status) {
  if (status)
    return;
  llvm::errs() << status.message() << "\n";
  exit(1);
}

static void check(const runtime::Result<int64_t> &result) {
  if (!result)
    check(runtime::Status(result.error()));
}

/// Makes as many problems, one session and their jobs, by statements of the
/// database.
static int64_t prepare(Database &database) {
  auto session = takeRow(
      database.query(
          "INSERT INTO session (label, target, context_target, context_tarpon, "
          "context_llvm, context_caches, threads, kernel_version, created) "
          "VALUES ('simulation', 'host', '', '', '', '', 1, '', $NOW) "
          "RETURNING id"),
      "no session");
  if (!session)
    check(runtime::Status(session.error()));
  int64_t id = session->integer(0);
  const char *numbers =
      database.isPostgres()
          ? "SELECT generate_series AS n FROM generate_series(1, "
            "CAST(:p1 AS BIGINT))"
          : "WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM "
            "series WHERE n < :p1) SELECT n FROM series";
  check(database.execute(
      std::string("INSERT INTO problem (key, op, line, flops) SELECT "
                  "'relu(1x' || n || 'xf32)->1x' || n || 'xf32', 'relu', '', n "
                  "% 1000 FROM (") +
          numbers + ") AS numbers",
      {int64_t(numJobs)}));
  check(
      database.execute("INSERT INTO job (session_id, problem_id, gain) SELECT "
                       "CAST(:p1 AS BIGINT), id, flops FROM problem",
                       {id}));
  // A database that has been in use for a while owes its server nothing.
  check(database.execute(database.isPostgres() ? "VACUUM ANALYZE" : "ANALYZE"));
  if (database.isPostgres())
    check(database.execute("CHECKPOINT"));
  return id;
}

/// Four candidates, as a round of a small problem has.
static std::vector<Measurement> pretend(const Lease &lease) {
  std::vector<Measurement> rows(4);
  for (Measurement &m : rows) {
    m.key = {lease.key, "conv-igemm-v1", "block_m=16,tile_m=14,tile_n=32"};
    m.status = MeasurementStatus::Ok;
    m.samples = {0.1, 0.11, 0.12, 0.1, 0.13};
    m.median = 0.11;
    m.mad = 0.01;
  }
  return rows;
}

/// A job goes through both phases, and is then looked at once more, as in real
/// ones; workers take whichever phase has jobs.
static void work(int64_t session, int64_t number, Clock::time_point start,
                 Clock::time_point end, Tally &tally) {
  auto opened = Database::open(url);
  if (!opened) {
    ++tally.failures;
    return;
  }
  Database &database = **opened;
  JobQueue queue(database, number, 60);
  // Many workers do not start at the same moment.
  std::this_thread::sleep_until(
      start +
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
          workSeconds * static_cast<double>(batch) *
          static_cast<double>(number % 997) / 997)));
  Phase phase = number % 2 ? Phase::Compile : Phase::Measure;
  Clock::time_point lastBeat = Clock::now();
  while (untilDone ? tally.completed < numJobs : Clock::now() < end) {
    Clock::time_point claimStart = Clock::now();
    auto leases = queue.claim(session, phase, batch);
    if (!leases) {
      ++tally.failures;
      return;
    }
    tally.add(tally.claimMs, since(claimStart));
    if (tally.counts())
      tally.claimed += static_cast<int64_t>(leases->size());
    if (leases->empty())
      phase = phase == Phase::Compile ? Phase::Measure : Phase::Compile;
    for (const Lease &lease : *leases) {
      std::this_thread::sleep_for(std::chrono::duration<double>(workSeconds));
      NextStep next;
      if (phase == Phase::Measure)
        next = {Phase::Compile, lease.round + 1, "", std::nullopt};
      else if (lease.round == 0)
        next = {Phase::Measure, 0, "", 1.0};
      Clock::time_point completeStart = Clock::now();
      std::vector<Measurement> rows = pretend(lease);
      auto done = queue.complete(lease, next, "a line of a log\n", [&] {
        return phase == Phase::Measure
                   ? writeMeasurements(database, lease, rows)
                   : runtime::success();
      });
      tally.add(tally.completeMs, since(completeStart));
      if (!done)
        ++tally.failures;
      else if (!*done)
        ++tally.refused;
      else if (tally.counts())
        ++(next.phase ? tally.measured : tally.completed);
    }
    if (since(lastBeat) > 20000) {
      (void)queue.renew({});
      (void)queue.reapInTurn();
      lastBeat = Clock::now();
    }
    if (leases->empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

static double percentile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share *
                                    static_cast<double>(values.size() - 1))];
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  auto opened = Database::open(url);
  if (!opened)
    check(runtime::Status(opened.error()));
  Clock::time_point prepared = Clock::now();
  int64_t session = prepare(**opened);
  double prepareSeconds = since(prepared) / 1000;
  Tally tally;
  Clock::time_point start = Clock::now() + std::chrono::seconds(5);
  auto after = [&](double time) {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(time));
  };
  tally.from = after(warmup);
  Clock::time_point end = after(warmup + seconds);
  tally.until = untilDone ? Clock::time_point::max() : end;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < numWorkers; ++i)
    threads.emplace_back(work, session, i + 1, start, end, std::ref(tally));
  for (std::thread &thread : threads)
    thread.join();
  double elapsed = untilDone ? since(start) / 1000 : double(seconds);
  auto rate = [&](int64_t count) {
    return static_cast<double>(count) / elapsed;
  };
  llvm::outs() << llvm::formatv(
      "{{\"jobs\": {0}, \"workers\": {1}, \"batch\": {2}, "
      "\"prepare_seconds\": {3:F1}, \"seconds\": {4:F1}, "
      "\"jobs_claimed_per_second\": {5:F0}, \"claims_per_second\": {6:F0}, "
      "\"phases_completed_per_second\": {7:F0}, \"claim_p50_ms\": {8:F2}, "
      "\"claim_p99_ms\": {9:F2}, \"complete_p50_ms\": {10:F2}, "
      "\"complete_p99_ms\": {11:F2}, \"refused\": {12}, \"failures\": {13}}\n",
      int64_t(numJobs), int64_t(numWorkers), int64_t(batch), prepareSeconds,
      elapsed, rate(tally.claimed),
      rate(static_cast<int64_t>(tally.claimMs.size())),
      rate(tally.completed + tally.measured), percentile(tally.claimMs, 0.5),
      percentile(tally.claimMs, 0.99), percentile(tally.completeMs, 0.5),
      percentile(tally.completeMs, 0.99), tally.refused.load(),
      tally.failures.load());
  return tally.failures ? 1 : 0;
}
