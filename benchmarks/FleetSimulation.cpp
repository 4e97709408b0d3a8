//===- FleetSimulation.cpp - A fleet whose workers pretend ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many workers on a real database, each a thread with a connection of its own
// and another one for its heartbeat, that take jobs by lease, pretend to do
// them, and read and write what real ones do. Prints what the database did as
// JSON. benchmarks/fleet starts it.
//
//===----------------------------------------------------------------------===//

#include "Claim.h"
#include "ClaimSize.h"
#include "FleetLoad.h"
#include "Heartbeat.h"

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
static llvm::cl::opt<bool>
    prepareOnly("prepare-only",
                llvm::cl::desc("Make the jobs, and leave them to others"));
static llvm::cl::opt<int64_t> joinAs(
    "join-as", llvm::cl::init(0),
    llvm::cl::desc("Take the jobs that another process has prepared; the "
                   "number, from 1, of the first of this one's workers"));
static llvm::cl::opt<int64_t> serverProcess(
    "server-process",
    llvm::cl::desc("The server's first process, whose use of the cores is "
                   "told"));
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
  std::atomic<int64_t> completed = 0, handedOver = 0, refused = 0, failures = 0;
  /// Connections that the server made wait for too long.
  std::atomic<int64_t> connectedLate = 0;
  std::string firstFailure;

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

  void fail(const std::string &message) {
    std::lock_guard lock(mutex);
    if (failures++ == 0)
      firstFailure = message;
  }
};

} // namespace

static double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

template <typename T>
static runtime::Status asStatus(const runtime::Result<T> &result) {
  return result ? runtime::success() : runtime::Status(result.error());
}

static void check(const runtime::Status &status) {
  if (status)
    return;
  llvm::errs() << status.message() << "\n";
  exit(1);
}

static void check(const runtime::Result<int64_t> &result) {
  check(asStatus(result));
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
  check(database.execute(
      "INSERT INTO machine (name, cpu, cores, seen) VALUES ('m', '', 1, "
      "$NOW)"));
  check(database.execute(
      std::string(
          "INSERT INTO worker (machine_id, role, label, device, process, "
          "started, seen) SELECT 1, 'builder', 'simulation', '', n, $NOW, "
          "$NOW FROM (") +
          numbers + ") AS numbers",
      {int64_t(numWorkers)}));
  // A database that has been in use for a while owes its server nothing.
  check(database.execute(database.isPostgres() ? "VACUUM ANALYZE" : "ANALYZE"));
  if (database.isPostgres())
    check(database.execute("CHECKPOINT"));
  return id;
}

/// The session that another process has prepared.
static int64_t join(Database &database) {
  auto session = takeRow(
      database.query("SELECT id FROM session WHERE label = 'simulation'"),
      "no jobs were prepared");
  if (!session)
    check(runtime::Status(session.error()));
  return session->integer(0);
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

static constexpr double kLeaseSeconds = 60;
/// As BuildWork.cpp.
static constexpr int64_t kRowsPerLook = 2000;
static constexpr std::chrono::seconds kBetweenLooks(60);
static constexpr const char *kPackage = "a digest of 64 digits, as long";

namespace {

/// One worker. A job is built, measured and looked at once more, as in real
/// ones, so that two of three workers are builders.
class Worker {
public:
  Worker(Database &database, int64_t session, int64_t number, Tally &tally)
      : database(database), session(session), number(number), tally(tally),
        phase(number % 3 ? Phase::Compile : Phase::Measure),
        heartbeat(
            url, number, kLeaseSeconds, [] { return false; },
            [](JobQueue &, Database &) {}),
        nextLook(Clock::now() + number * kBetweenLooks / numWorkers) {}

  runtime::Status takeSome();
  /// Returns true if no job was left when this worker last found none.
  bool isDone() const { return hasEnded; }

private:
  runtime::Status rest();
  runtime::Status read(const Lease &lease);
  runtime::Status doJob(const Lease &lease);
  runtime::Status giveBack(const Lease &lease);
  runtime::Status write(const Lease &lease);

  Database &database;
  int64_t session, number;
  Tally &tally;
  Phase phase;
  Heartbeat heartbeat;
  /// The last measurements of others that were read.
  LastRows lastRows;
  /// Of many builders, some look at any time.
  Clock::time_point nextLook;
  ClaimSize claimSize{kLeaseSeconds};
  bool hasEnded = false;
  int64_t idleMs = kShortestIdleMs;
  static constexpr int64_t kShortestIdleMs = 20;
};

} // namespace

/// A builder reads what is known of its problem, and now and then what was
/// measured of others; an evaluator asks who recorded its package.
runtime::Status Worker::read(const Lease &lease) {
  if (phase == Phase::Measure)
    return asStatus(
        database.query("SELECT 1 FROM package WHERE job_id = :p1 AND digest "
                       "= :p2 AND pg_has_role(CAST(recorded_by AS name), "
                       "'tarpon_builder', 'MEMBER')",
                       {lease.job, lease.package}));
  if (Clock::now() >= nextLook) {
    auto latest =
        readLatestMeasurements(database, session, lastRows, kRowsPerLook);
    if (!latest)
      return latest.error();
    lastRows = std::move(latest->lastRows);
    nextLook = Clock::now() + kBetweenLooks;
  }
  auto known = readMeasurements(database, lease);
  if (!known || !known->empty())
    return asStatus(known);
  constexpr int64_t kEarlierSessions = 3;
  return asStatus(
      findEarlierWinners(database, session, lease.problem, kEarlierSessions));
}

/// The packages themselves are files of a shared folder, which the database
/// does not see.
runtime::Status Worker::write(const Lease &lease) {
  if (phase == Phase::Measure)
    return writeMeasurements(database, lease, pretend(lease));
  if (lease.round > 0)
    return runtime::success();
  auto done = database.execute(
      "INSERT INTO package (digest, job_id, bytes, parts, created) VALUES "
      "(:p1, :p2, :p3, :p4, $NOW) ON CONFLICT DO NOTHING",
      {std::string(kPackage), lease.job, int64_t(100000), int64_t(0)});
  return done ? runtime::success() : runtime::Status(done.error());
}

/// A job keeps its expected gain, so that jobs end while others begin, as in
/// the middle of a long list.
runtime::Status Worker::doJob(const Lease &lease) {
  Clock::time_point begin = Clock::now();
  if (auto status = read(lease); !status)
    return status;
  std::this_thread::sleep_for(std::chrono::duration<double>(workSeconds));
  claimSize.note(Clock::now() - begin);
  NextStep next;
  if (phase == Phase::Measure)
    next = {Phase::Compile, lease.round + 1, "", std::nullopt};
  else if (lease.round == 0)
    next = {Phase::Measure, 0, kPackage, std::nullopt};
  Clock::time_point start = Clock::now();
  JobQueue queue(database, number, kLeaseSeconds);
  auto done = queue.complete(lease, next, "a line of a log\n",
                             [&] { return write(lease); });
  tally.add(tally.completeMs, since(start));
  if (!done)
    return done.error();
  if (!*done)
    ++tally.refused;
  if (*done && tally.counts())
    ++(next.phase ? tally.handedOver : tally.completed);
  return runtime::success();
}

runtime::Status Worker::giveBack(const Lease &lease) {
  JobQueue queue(database, number, kLeaseSeconds);
  return asStatus(queue.fail(lease, {Cause::Returned, "late", ""}));
}

runtime::Status Worker::takeSome() {
  Clock::time_point start = Clock::now();
  JobQueue queue(database, number, kLeaseSeconds);
  auto leases = queue.claim(session, phase, claimSize.get());
  if (!leases)
    return leases.error();
  tally.add(tally.claimMs, since(start));
  if (!leases->empty()) {
    idleMs = kShortestIdleMs;
    Clock::time_point begin = Clock::now();
    return Claim(heartbeat, *leases)
        .forEach([&](size_t position, const Lease &lease) {
          return claimSize.isLate(position, Clock::now() - begin)
                     ? giveBack(lease)
                     : doJob(lease);
        });
  }
  return rest();
}

/// Waits for jobs that others hand over.
runtime::Status Worker::rest() {
  if (untilDone) {
    auto left = database.query("SELECT 1 FROM job WHERE state IN ('waiting', "
                               "'leased') LIMIT 1");
    if (!left)
      return left.error();
    hasEnded = left->empty();
  }
  // One or two workers do what a builder and an evaluator do on each node.
  if (numWorkers < 3)
    phase = phase == Phase::Compile ? Phase::Measure : Phase::Compile;
  std::this_thread::sleep_for(std::chrono::milliseconds(idleMs));
  // As the pauses of real workers, of which a crowd's are longer.
  idleMs = std::min<int64_t>(idleMs * 2,
                             std::clamp<int64_t>(4 * numWorkers, 40, 2000));
  return runtime::success();
}

static std::unique_ptr<Database> connect(runtime::Status &status) {
  auto opened = Database::open(url);
  if (!opened) {
    status = opened.error();
    return nullptr;
  }
  status = (*opened)->limitIdleTransactions(getIdleLimit(kLeaseSeconds));
  return status ? std::move(*opened) : nullptr;
}

/// Workers start one after the other in most of the warmup, as Slurm starts
/// them: of a crowd that connects at once, many give up and begin anew. Those
/// that the server makes wait for too long try again, as real ones.
static void work(int64_t session, int64_t number, Clock::time_point start,
                 Clock::time_point end, Tally &tally) {
  constexpr double kShareOfWarmup = 0.7;
  std::this_thread::sleep_until(
      start +
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
          kShareOfWarmup * warmup * static_cast<double>(number) /
          static_cast<double>(numWorkers))));
  runtime::Status status = runtime::success();
  std::unique_ptr<Database> database = connect(status);
  while (!database && Clock::now() < end) {
    ++tally.connectedLate;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    database = connect(status);
  }
  if (!database)
    return tally.fail(status.message());
  Worker worker(*database, session, number, tally);
  while (status && (untilDone ? !worker.isDone() : Clock::now() < end))
    status = worker.takeSome();
  if (!status)
    tally.fail(status.message());
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
  int64_t session = joinAs ? join(**opened) : prepare(**opened);
  if (prepareOnly)
    return 0;
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
  int64_t firstWorker = std::max<int64_t>(joinAs, 1);
  for (int64_t i = 0; i < numWorkers; ++i)
    threads.emplace_back(work, session, firstWorker + i, start, end,
                         std::ref(tally));
  std::this_thread::sleep_until(tally.from);
  ServerLoad before = readLoad(**opened, serverProcess);
  if (!untilDone)
    std::this_thread::sleep_until(tally.until);
  ServerLoad load = readLoad(**opened, serverProcess);
  for (std::thread &thread : threads)
    thread.join();
  if (untilDone)
    load = readLoad(**opened, serverProcess);
  double elapsed = untilDone ? since(start) / 1000 : double(seconds);
  auto rate = [&](double count) { return count / elapsed; };
  auto phases = static_cast<double>(tally.completed + tally.handedOver);
  llvm::outs() << llvm::formatv(
      "{{\"jobs\": {0}, \"workers\": {1}, \"jobs_per_claim\": {2:F1}, "
      "\"connected_late\": {3}, \"seconds\": {4:F1}, \"jobs_per_second\": "
      "{5:F0}, "
      "\"phases_per_second\": {6:F0}, \"claims_per_second\": {7:F0}, "
      "\"claim_p50_ms\": {8:F2}, \"claim_p99_ms\": {9:F2}, "
      "\"complete_p50_ms\": {10:F2}, \"complete_p99_ms\": {11:F2}, ",
      int64_t(numJobs), int64_t(numWorkers),
      tally.claimMs.empty()
          ? 0
          : phases / static_cast<double>(tally.claimMs.size()),
      tally.connectedLate.load(), elapsed,
      rate(static_cast<double>(tally.completed)), rate(phases),
      rate(static_cast<double>(tally.claimMs.size())),
      percentile(tally.claimMs, 0.5), percentile(tally.claimMs, 0.99),
      percentile(tally.completeMs, 0.5), percentile(tally.completeMs, 0.99));
  llvm::outs() << llvm::formatv(
      "\"server_cores\": {0:F2}, \"workers_cores\": {1:F2}, "
      "\"machine_cores\": {2:F2}, \"transactions_per_second\": {3:F0}, "
      "\"wal_mb_per_second\": {4:F1}, \"wal_bytes_per_phase\": {5:F0}, "
      "\"prepare_seconds\": {6:F1}, \"refused\": {7}, \"failures\": "
      "{8}}\n",
      rate(load.server - before.server), rate(load.self - before.self),
      rate(load.machine - before.machine),
      rate(load.transactions - before.transactions),
      rate(load.walBytes - before.walBytes) / 1e6,
      phases > 0 ? (load.walBytes - before.walBytes) / phases : 0,
      prepareSeconds, tally.refused.load(), tally.failures.load());
  if (tally.failures)
    llvm::errs() << tally.firstFailure << "\n";
  return tally.failures ? 1 : 0;
}
