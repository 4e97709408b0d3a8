//===- JobQueue.cpp - Jobs, taken by lease --------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/JobQueue.h"

#include "tarpon/Fleet/Session.h"

#include <algorithm>
#include <cmath>

using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// The condition that a worker owns a job; the parameters are the job, the
/// lease and the worker. The server finds the row by its number: with the state
/// as it is, it may go through the index of leased jobs, which it took for
/// empty when it planned.
static constexpr const char *kOwned =
    " WHERE id = :p1 AND lease = :p2 AND worker_id = :p3 AND "
    "state || '' = 'leased'";

/// The longest pause before another attempt, in seconds.
static constexpr double kLongestBackoff = 600;

/// The reasons of attempts that the database has refused begin so.
static constexpr llvm::StringLiteral kRefused = "refused: ";

/// A problem that crashes the compiler takes the worker with it, and as jobs go
/// by what they may gain, it is soon begun again: the pause before that
/// doubles.
static constexpr double kDeathBackoff = 5;

namespace {

/// The consequences of a failed attempt.
struct Verdict {
  bool isFinal = false;
  /// Seconds before the next attempt.
  double backoff = 0;
  std::string reason;
};

} // namespace

AttemptEnd AttemptEnd::forRefusal(const std::string &message, std::string log) {
  return {Cause::Database, kRefused.str() + message, std::move(log)};
}

AttemptEnd AttemptEnd::forDatabase(const Database &database,
                                   const std::string &message) {
  return database.isDisconnected() ? AttemptEnd{Cause::Database, message, ""}
                                   : forRefusal(message);
}

/// The order in which a worker is given jobs, and in which it works on those of
/// a claim: of the leases that it still has, the first is the one that it has
/// begun.
static constexpr const char *kOrder = "priority DESC, gain DESC, id";
static constexpr const char *kReverseOrder = "priority, gain, id DESC";

/// The columns of a lease that is taken back.
static constexpr const char *kLeaseColumns =
    "SELECT id, lease, session_id, problem_id, phase, round, "
    "COALESCE(worker_id, 0) FROM job ";

static Lease readLease(const Row &row) {
  Lease lease;
  lease.job = row.integer(0);
  lease.lease = row.integer(1);
  lease.session = row.integer(2);
  lease.problem = row.integer(3);
  lease.phase = parsePhase(row.text(4)).value_or(Phase::Compile);
  lease.round = row.integer(5);
  return lease;
}

//===----------------------------------------------------------------------===//
// Taking and keeping
//===----------------------------------------------------------------------===//

/// The rows that others are taking are skipped, so that claims never wait for
/// each other, nor for the server's disk: a server that breaks down forgets the
/// claims of its last moment, whose jobs are then another worker's. The number
/// is a part of the text: for a parameter the server cannot tell that they are
/// few, and plans each claim anew (0.3 ms). No pause is longer than the longest
/// one: the database's clock was set back.
Result<std::vector<Lease>> JobQueue::claim(int64_t session, Phase phase,
                                           int64_t max) {
  Result<Rows> rows = database.query(
      "WITH picked AS MATERIALIZED (SELECT id FROM job WHERE session_id = :p1 "
      "AND phase = :p2 AND state = 'waiting' AND (available_at <= $NOW OR "
      "available_at > $NOW + :p5) ORDER BY " +
          std::string(kOrder) + " LIMIT " + std::to_string(max) +
          " $SKIP) UPDATE job SET state = 'leased', lease = lease + 1, "
          "leased_at = $NOW, lease_until = $NOW + :p3, worker_id = :p4 "
          "WHERE id IN (SELECT id FROM picked) "
          "RETURNING id, lease, problem_id, round, package, (SELECT key FROM "
          "problem WHERE problem.id = problem_id), priority, gain, $RELAXED",
      {session, getPhaseName(phase).str(), leaseSeconds, worker,
       kLongestBackoff});
  if (!rows)
    return rows.error();
  // RETURNING has no order; this is kOrder.
  std::sort(rows->begin(), rows->end(), [](const Row &a, const Row &b) {
    return std::tuple(-a.real(6), -a.real(7), a.integer(0)) <
           std::tuple(-b.real(6), -b.real(7), b.integer(0));
  });
  std::vector<Lease> leases;
  for (const Row &row : *rows)
    leases.push_back({row.integer(0), row.integer(1), session, row.integer(2),
                      row.text(5), phase, row.integer(3), row.text(4),
                      leaseSeconds});
  return leases;
}

/// A job whose claim was never answered is not held: nobody works on it, and so
/// its lease must end. A worker that was taken for dead, and is not, lives
/// again.
Result<Renewal> JobQueue::renew(const std::set<LeaseKey> &held) {
  Result<Rows> machine = database.query(
      "UPDATE worker SET seen = $NOW, ended = NULL WHERE id = :p1 RETURNING "
      "(SELECT state FROM machine WHERE machine.id = machine_id)",
      {worker});
  if (!machine)
    return machine.error();
  Renewal renewal;
  renewal.isDraining = machine->empty() || machine->front().text(0) != "ready";
  if (held.empty())
    return renewal;
  std::vector<Value> values = {leaseSeconds, worker};
  std::string which;
  for (const LeaseKey &key : held) {
    values.emplace_back(key.first);
    values.emplace_back(key.second);
    which += (which.empty() ? "(id = :p" : " OR (id = :p") +
             std::to_string(values.size() - 1) + " AND lease = :p" +
             std::to_string(values.size()) + ")";
  }
  Result<Rows> jobs = database.query(
      "UPDATE job SET lease_until = $NOW + :p1 WHERE worker_id = :p2 AND "
      "state || '' = 'leased' AND lease_until >= $NOW AND (" +
          which + ") RETURNING id, lease",
      values);
  if (!jobs)
    return jobs.error();
  for (const Row &row : *jobs)
    renewal.owned.emplace(row.integer(0), row.integer(1));
  return renewal;
}

/// Returns true if the worker of a lease was to come to it after another one
/// that it still has.
static Result<bool> isBehindAnother(Database &database, const Lease &lease,
                                    int64_t owner) {
  Result<Rows> rows = database.query(
      "SELECT 1 FROM job AS first JOIN job AS own ON own.id = :p1 WHERE "
      "first.worker_id = :p2 AND first.state = 'leased' AND "
      "(first.priority > own.priority OR (first.priority = own.priority AND "
      "(first.gain > own.gain OR (first.gain = own.gain AND first.id < "
      "own.id)))) LIMIT 1",
      {lease.job, owner});
  if (!rows)
    return rows.error();
  return !rows->empty();
}

/// A worker that was lost has died of one job at most: the one that it had
/// begun. The others of its claim were only held.
static Result<AttemptEnd> describeLoss(Database &database, const Lease &lease,
                                       int64_t owner) {
  Result<Rows> names = database.query(
      "SELECT machine.name, worker.process FROM worker JOIN machine ON "
      "machine.id = machine_id WHERE worker.id = :p1",
      {owner});
  if (!names)
    return names.error();
  std::string reason = "worker " + std::to_string(owner);
  if (!names->empty())
    reason += " on " + names->front().text(0) + " (process " +
              names->front().text(1) + ")";
  reason += " was not heard of for a whole lease";
  Result<bool> isBehind = isBehindAnother(database, lease, owner);
  if (!isBehind)
    return isBehind.error();
  return *isBehind ? AttemptEnd{Cause::Returned,
                                reason + ", and had not begun it", ""}
                   : AttemptEnd{Cause::Lost, reason, ""};
}

/// Each job is taken back by itself, so that what is wrong with one leaves the
/// others.
Result<bool> JobQueue::reapOne(int64_t job) {
  Result<bool> reaped = false;
  Status status = database.transact([&]() -> Status {
    Result<Rows> rows = database.query(
        std::string(kLeaseColumns) + "WHERE id = :p1 AND state = 'leased' "
                                     "AND lease_until < $NOW $SKIP",
        {job});
    if (!rows || rows->empty())
      return rows ? success() : Status(rows.error());
    Lease lease = readLease(rows->front());
    int64_t owner = rows->front().integer(6);
    Result<AttemptEnd> end = describeLoss(database, lease, owner);
    if (!end)
      return end.error();
    reaped = failLeased(lease, owner, *end);
    if (!reaped || *reaped)
      return reaped ? success() : Status(reaped.error());
    // Somebody has written the attempt already: the job goes on without it.
    auto freed = database.execute(
        std::string("UPDATE job SET state = 'waiting', lease_until = NULL, "
                    "worker_id = NULL") +
            kOwned,
        {job, lease.lease, owner});
    reaped = freed && *freed > 0;
    return freed ? success() : Status(freed.error());
  });
  if (!status)
    return status.error();
  return reaped;
}

/// The workers of each label beat as often as its own leases ask for.
Status JobQueue::endSilentWorkers() {
  constexpr double kShortestLease = 1;
  Result<Rows> labels =
      database.query("SELECT DISTINCT label FROM worker WHERE ended IS NULL "
                     "AND seen < $NOW - 2 * :p1",
                     {kShortestLease});
  if (!labels)
    return labels.error();
  for (const Row &row : *labels) {
    Result<double> lease = getLongestLease(database, row.text(0));
    if (!lease)
      return lease.error();
    auto ended = database.execute(
        "UPDATE worker SET ended = $NOW, reason = 'not heard of' WHERE ended "
        "IS NULL AND label = :p1 AND seen < $NOW - 2 * :p2",
        {row.text(0), *lease});
    if (!ended)
      return ended.error();
  }
  return success();
}

Result<int64_t> JobQueue::reap() {
  // Few at a time: the caller has leases of its own to renew. All ended leases
  // of a worker are taken back together, and the one that it had begun is the
  // last, so that it is known until then.
  Result<Rows> expired = database.query(
      std::string(
          "SELECT id FROM job WHERE state = 'leased' AND lease_until < $NOW "
          "AND worker_id IN (SELECT worker_id FROM job WHERE state = 'leased' "
          "AND lease_until < $NOW ORDER BY lease_until LIMIT 50) ORDER BY ") +
      kReverseOrder);
  if (!expired)
    return expired.error();
  int64_t count = 0;
  for (const Row &row : *expired) {
    Result<bool> reaped = reapOne(row.integer(0));
    if (!reaped && database.isDisconnected())
      return reaped.error();
    count += reaped && *reaped;
  }
  if (Status status = endSilentWorkers(); !status)
    return status.error();
  return count;
}

/// If the database's clock was set back, the dead have been heard of in the
/// future, where their leases end. They count as heard of now; the living have
/// soon said so themselves. A worker may do so for those of its own role.
Status JobQueue::redate() {
  constexpr const char *kAhead =
      "ended IS NULL AND seen > $NOW + 1 AND role = (SELECT role FROM worker "
      "AS own WHERE own.id = :p1)";
  Result<Rows> ahead = database.query(
      std::string("SELECT id FROM worker WHERE ") + kAhead, {worker});
  for (size_t i = 0; ahead && i < ahead->size(); ++i) {
    int64_t other = (*ahead)[i].integer(0);
    auto leases = database.execute(
        "UPDATE job SET lease_until = $NOW + lease_until - (SELECT seen FROM "
        "worker WHERE worker.id = :p1) WHERE worker_id = :p1 AND state = "
        "'leased' AND lease_until > (SELECT seen FROM worker WHERE worker.id = "
        ":p1)",
        {other});
    if (!leases)
      return leases.error();
    auto seen = database.execute(
        "UPDATE worker SET seen = $NOW WHERE id = :p1 AND seen > $NOW + 1",
        {other});
    if (!seen)
      return seen.error();
  }
  return ahead ? success() : Status(ahead.error());
}

/// A turn in the future was taken before the database's clock was set back.
Result<int64_t> JobQueue::reapInTurn() {
  auto turn = database.execute("UPDATE reaping SET last = $NOW WHERE last < "
                               "$NOW - :p1 OR last > $NOW + 1",
                               {leaseSeconds / 10});
  if (!turn)
    return turn.error();
  if (*turn == 0)
    return 0;
  if (Status status = redate(); !status)
    return status.error();
  return reap();
}

//===----------------------------------------------------------------------===//
// Ends of attempts
//===----------------------------------------------------------------------===//

/// Returns true if this lease's success is in the database already: the answer
/// to its commit was lost.
Result<bool> JobQueue::isRecorded(const Lease &lease) {
  Result<Rows> rows = database.query(
      "SELECT 1 FROM attempt WHERE job_id = :p1 AND lease = :p2 AND "
      "worker_id = :p3 AND cause = 'ok'",
      {lease.job, lease.lease, worker});
  if (!rows)
    return rows.error();
  return !rows->empty();
}

/// The worker of a lost lease is the job's, whoever records it.
Result<int64_t> JobQueue::writeAttempt(const Lease &lease, int64_t owner,
                                       const AttemptEnd &end,
                                       const std::string &condition) {
  return database.execute(
      "INSERT INTO attempt (job_id, lease, phase, round, worker_id, started, "
      "ended, cause, reason, log) SELECT id, lease, :p4, :p5, worker_id, "
      "leased_at, $NOW, :p6, :p7, :p8 FROM job" +
          (kOwned + condition) + " ON CONFLICT DO NOTHING",
      {lease.job, lease.lease, owner, getPhaseName(lease.phase).str(),
       lease.round, getRule(end.cause).name.str(), end.reason, end.log});
}

/// The attempt is written if the worker owns the job, and the job is changed
/// under the same condition: if it was lost in between, all is undone.
Result<bool> JobQueue::complete(const Lease &lease, const NextStep &next,
                                const std::string &log,
                                llvm::function_ref<Status()> write) {
  static constexpr const char *kInTime = " AND lease_until >= $NOW";
  bool isOwner = false;
  Status status = database.transact([&]() -> Status {
    Result<int64_t> owned =
        writeAttempt(lease, worker, {Cause::Ok, "", log}, kInTime);
    if (!owned || *owned == 0)
      return owned ? success() : Status(owned.error());
    if (write)
      if (Status written = write(); !written)
        return written;
    Phase phase = next.phase.value_or(lease.phase);
    std::vector<Value> values = {lease.job,
                                 lease.lease,
                                 worker,
                                 std::string(next.phase ? kWaiting : kDone),
                                 getPhaseName(phase).str(),
                                 next.round,
                                 next.gain ? Value(*next.gain) : Value()};
    std::string package;
    if (!next.package.empty()) {
      package = ", package = :p8";
      values.emplace_back(next.package);
    }
    Result<int64_t> changed = database.execute(
        "UPDATE job SET state = :p4, phase = :p5, round = :p6, "
        "gain = COALESCE(:p7, gain), available_at = 0, lease_until = NULL, "
        "worker_id = NULL, finished = CASE WHEN :p4 = 'done' THEN $NOW END, "
        "reason = ''" +
            package + kOwned,
        values);
    if (!changed)
      return changed.error();
    isOwner = *changed > 0;
    return isOwner ? success()
                   : Status(Error{"the lease was lost while its result was "
                                  "written"});
  });
  if (!status)
    return status.error();
  return isOwner ? Result<bool>(true) : isRecorded(lease);
}

/// Counts those attempts whose reason fits a pattern.
static Result<int64_t> countAttempts(Database &database, int64_t job,
                                     Cause cause, const std::string &reason) {
  Result<Row> counted = takeRow(
      database.query("SELECT count(*) FROM attempt JOIN job ON job.id = job_id "
                     "WHERE job_id = :p1 AND cause = :p2 AND attempt.lease > "
                     "counted_from AND attempt.reason LIKE :p3",
                     {job, getRule(cause).name.str(), reason}),
      "the attempts of a job cannot be counted");
  return counted ? Result<int64_t>(counted->integer(0)) : counted.error();
}

Result<int64_t> tarpon::fleet::countAttempts(Database &database, int64_t job,
                                             Cause cause) {
  return ::countAttempts(database, job, cause, "%");
}

/// Counts the workers that were never heard of again after they had begun to
/// compile this round of a job. One that was cut off, and has lived on, has not
/// died of it. SQLite's clock counts milliseconds: a worker that was heard of
/// in the one in which its lease was taken back lives, as the dead were heard
/// of a whole lease earlier.
static Result<int64_t> countDeaths(Database &database, const Lease &lease) {
  Result<Row> counted = takeRow(
      database.query(
          "SELECT count(*) FROM attempt JOIN job ON job.id = job_id LEFT JOIN "
          "worker ON worker.id = attempt.worker_id WHERE job_id = :p1 AND "
          "cause = 'lost' AND attempt.phase = 'compile' AND attempt.round = "
          ":p2 AND attempt.lease > counted_from AND (worker.seen IS NULL OR "
          "worker.seen < attempt.ended)",
          {lease.job, lease.round}),
      "the attempts of a job cannot be counted");
  return counted ? Result<int64_t>(counted->integer(0)) : counted.error();
}

static double getBackoff(double first, int64_t attempts) {
  return std::min(kLongestBackoff,
                  first * std::exp2(static_cast<double>(
                              std::clamp<int64_t>(attempts, 1, 16) - 1)));
}

/// Decides by the attempts that ended so, this one among them.
static Result<Verdict> judge(Database &database, const Lease &lease,
                             const AttemptEnd &end) {
  const CauseRule &rule = getRule(end.cause);
  bool isRefusal = end.cause == Cause::Database &&
                   llvm::StringRef(end.reason).starts_with(kRefused);
  Result<int64_t> attempts = ::countAttempts(
      database, lease.job, end.cause, isRefusal ? kRefused.str() + "%" : "%");
  if (!attempts)
    return attempts.error();
  Verdict verdict;
  verdict.isFinal =
      end.isFinal || *attempts >= (isRefusal ? kMaxRefusals : rule.maxAttempts);
  verdict.backoff = getBackoff(rule.backoffSeconds, *attempts);
  verdict.reason = rule.name.str() + ": " + end.reason;
  if (verdict.isFinal && !end.isFinal && *attempts > 1)
    verdict.reason += " (" + std::to_string(*attempts) + " times)";
  if (end.cause != Cause::Lost || lease.phase != Phase::Compile)
    return verdict;
  Result<int64_t> deaths = countDeaths(database, lease);
  if (!deaths)
    return deaths.error();
  verdict.backoff =
      std::max(verdict.backoff, getBackoff(kDeathBackoff, *deaths));
  if (*deaths >= kMaxDeaths) {
    verdict.isFinal = true;
    verdict.reason = rule.name.str() + ": " + std::to_string(*deaths) +
                     " workers died while compiling it; " + end.reason;
  }
  return verdict;
}

/// Writes an attempt within a transaction, and what follows. Returns false if
/// the owner is not the owner any more.
Result<bool> JobQueue::failLeased(const Lease &lease, int64_t owner,
                                  const AttemptEnd &end) {
  Result<int64_t> owned = writeAttempt(lease, owner, end, "");
  if (!owned || *owned == 0)
    return owned ? Result<bool>(false) : owned.error();
  Result<Verdict> verdict = judge(database, lease, end);
  if (!verdict)
    return verdict.error();
  Phase next = getRule(end.cause).recompiles ? Phase::Compile : lease.phase;
  auto changed = database.execute(
      std::string("UPDATE job SET state = :p4, phase = :p5, reason = :p6, "
                  "available_at = $NOW + :p7, lease_until = NULL, worker_id = "
                  "NULL, finished = CASE WHEN :p4 = 'failed' THEN $NOW END") +
          kOwned,
      {lease.job, lease.lease, owner,
       std::string(verdict->isFinal ? kFailed : kWaiting),
       getPhaseName(next).str(), verdict->reason, verdict->backoff});
  if (!changed)
    return changed.error();
  if (*changed == 0)
    return Error{"the lease was lost while its failure was written"};
  return true;
}

Result<bool> JobQueue::fail(const Lease &lease, const AttemptEnd &end) {
  Result<bool> owned = false;
  Status status = database.transact([&]() -> Status {
    owned = failLeased(lease, worker, end);
    return owned ? success() : Status(owned.error());
  });
  if (!status)
    return status.error();
  return owned;
}

Result<int64_t> JobQueue::giveBackAll(const std::string &reason,
                                      const std::optional<AttemptEnd> &begun) {
  Result<Rows> rows = database.query(
      std::string(kLeaseColumns) +
          "WHERE worker_id = :p1 AND state = 'leased' ORDER BY " + kOrder,
      {worker});
  if (!rows)
    return rows.error();
  AttemptEnd returned = {Cause::Returned, reason, ""};
  int64_t count = 0;
  for (const Row &row : *rows) {
    bool isFirst = &row == &rows->front();
    Result<bool> given =
        fail(readLease(row), begun && isFirst ? *begun : returned);
    count += given && *given;
  }
  return count;
}
