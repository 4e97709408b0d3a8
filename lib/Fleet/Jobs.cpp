//===- Jobs.cpp - The jobs of a label, for people -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Jobs.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Fleet/WorkList.h"

using namespace tarpon;
using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Result<int64_t> countTagged(Database &database, const std::string &tag) {
  Result<Row> row = takeRow(
      database.query("SELECT count(*) FROM tag WHERE name = :p1", {tag}),
      "no tags can be counted");
  if (!row)
    return row.error();
  if (row->integer(0) == 0)
    return Error{"no problem has the tag '" + tag +
                 "': graph-opt fleet import --tag gives it"};
  return row->integer(0);
}

Result<LoadCount> tarpon::fleet::countLoad(Database &database,
                                           const std::string &label,
                                           const std::string &target,
                                           const std::string &tag, bool again) {
  if (Status status = checkName("the label", label); !status)
    return status.error();
  Result<int64_t> tagged = countTagged(database, tag);
  if (!tagged)
    return tagged.error();
  Result<Row> row = takeRow(
      database.query(
          "SELECT count(*) - count(job.id), count(CASE WHEN job.state IN "
          "('done', 'failed', 'aborted') THEN 1 END) FROM tag LEFT JOIN job ON "
          "job.problem_id = tag.problem_id AND session_id IN (SELECT id FROM "
          "session WHERE label = :p2 AND target = :p3) WHERE tag.name = :p1",
          {tag, label, target}),
      "no jobs can be counted");
  if (!row)
    return row.error();
  return LoadCount{*tagged, row->integer(0), again ? row->integer(1) : 0};
}

/// The share of a problem's time that its search is expected to save, over the
/// operations per millisecond: what is known later is in milliseconds, too.
static double getGainPerOperation(const Session &session) {
  return policy::kPriorSaving / getOperationsPerMillisecond(session);
}

static Result<int64_t> movePriority(Database &database, const Session &session,
                                    const std::string &tag, double priority) {
  return database.execute(
      "UPDATE job SET priority = :p2 WHERE session_id = :p1 AND state IN "
      "('waiting', 'leased') AND priority <> :p2 AND problem_id IN (SELECT "
      "problem_id FROM tag WHERE name = :p3)",
      {session.id, priority, tag});
}

Result<LoadCount> tarpon::fleet::loadJobs(Database &database,
                                          const Session &session,
                                          const std::string &tag,
                                          std::optional<double> priority,
                                          bool again) {
  LoadCount count;
  double gain = getGainPerOperation(session);
  Status status = database.transact([&]() -> Status {
    Result<int64_t> tagged = countTagged(database, tag);
    if (!tagged)
      return tagged.error();
    count.tagged = *tagged;
    Result<int64_t> begun = 0;
    if (again)
      begun = database.execute(
          "UPDATE job SET state = 'waiting', phase = 'compile', round = 0, "
          "reason = '', available_at = 0, finished = NULL, counted_from = "
          "lease, known_from = (SELECT COALESCE(max(id), 0) FROM measurement), "
          "gain = :p3 * (SELECT flops FROM problem WHERE problem.id = "
          "problem_id) WHERE session_id = :p1 AND state IN ('done', 'failed', "
          "'aborted') AND problem_id IN (SELECT problem_id FROM tag WHERE name "
          "= :p2)",
          {session.id, tag, gain});
    if (!begun)
      return begun.error();
    count.begun = *begun;
    Result<int64_t> made = database.execute(
        "INSERT INTO job (session_id, problem_id, priority, gain) SELECT "
        "CAST(:p1 AS BIGINT), problem.id, CAST(:p2 AS DOUBLE PRECISION), "
        "CAST(:p4 AS DOUBLE PRECISION) * flops FROM tag JOIN problem ON "
        "problem.id = problem_id WHERE name = :p3 "
        "ORDER BY problem.id ON CONFLICT DO NOTHING",
        {session.id, priority.value_or(0), tag, gain});
    if (!made)
      return made.error();
    count.made = *made;
    Result<int64_t> moved =
        priority ? movePriority(database, session, tag, *priority) : 0;
    if (!moved)
      return moved.error();
    count.moved = *moved;
    return success();
  });
  if (!status)
    return status.error();
  return count;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// The condition of a filter, whose values are parameters p1 to p5.
static constexpr const char *kFilter =
    "(:p1 = '' OR session_id IN (SELECT id FROM session WHERE label = :p1)) "
    "AND (:p2 = '' OR job.state = :p2) AND (CAST(:p3 AS BIGINT) = 0 OR job.id "
    "= :p3) AND (:p4 = '' OR job.reason LIKE :p4) AND (:p5 = '' OR "
    "COALESCE(worker_id, (SELECT worker_id FROM attempt WHERE job_id = job.id "
    "ORDER BY attempt.lease DESC LIMIT 1)) IN (SELECT worker.id FROM worker "
    "JOIN machine ON machine.id = machine_id WHERE machine.name = :p5))";

static constexpr size_t kStateValue = 1, kReasonValue = 3;

static Result<std::vector<Value>> bindFilter(Database &database,
                                             const JobFilter &filter) {
  if (!filter.label.empty())
    if (auto sessions = findSessions(database, filter.label); !sessions)
      return sessions.error();
  if (!filter.cause.empty() && !parseCause(filter.cause))
    return Error{"--cause: there is no cause '" + filter.cause + "'"};
  return std::vector<Value>{filter.label, filter.state, filter.job,
                            filter.cause.empty() ? "" : filter.cause + ": %",
                            filter.machine};
}

Result<std::vector<JobInfo>> tarpon::fleet::listJobs(Database &database,
                                                     const JobFilter &filter,
                                                     int64_t max) {
  Result<std::vector<Value>> values = bindFilter(database, filter);
  if (!values)
    return values.error();
  values->emplace_back(max);
  Result<Rows> rows = database.query(
      std::string("SELECT job.id, session.label, session.target, problem.key, "
                  "job.state, job.phase, job.reason, job.round, (SELECT "
                  "count(*) FROM attempt WHERE job_id = job.id), (SELECT "
                  "machine.name FROM worker JOIN machine ON machine.id = "
                  "machine_id WHERE worker.id = worker_id) FROM job JOIN "
                  "session ON session.id = session_id JOIN problem ON "
                  "problem.id = problem_id WHERE ") +
          kFilter + " ORDER BY job.id LIMIT :p6",
      *values);
  if (!rows)
    return rows.error();
  std::vector<JobInfo> jobs;
  for (const Row &row : *rows)
    jobs.push_back({row.integer(0), row.text(1), row.text(2), row.text(3),
                    row.text(4), row.text(5), row.text(6), row.integer(7),
                    row.integer(8), row.text(9)});
  return jobs;
}

/// An error if a filter asks for jobs in a state in which nothing can be done
/// with them.
static Status checkState(const JobFilter &filter, const std::string &verb,
                         llvm::StringRef one, llvm::StringRef other) {
  if (filter.state.empty() || filter.state == one || filter.state == other)
    return success();
  return Error{"--state: jobs that are " + filter.state + " are not " + verb +
               ", but those that are " + one.str() + " or " + other.str()};
}

Result<int64_t> tarpon::fleet::retryJobs(Database &database,
                                         const JobFilter &filter) {
  if (Status status = checkState(filter, "retried", kFailed, kAborted); !status)
    return status.error();
  Result<std::vector<Value>> values = bindFilter(database, filter);
  if (!values)
    return values.error();
  return database.execute(
      std::string("UPDATE job SET state = 'waiting', phase = 'compile', "
                  "reason = '', available_at = 0, finished = NULL, "
                  "counted_from = lease, known_from = CASE WHEN state = "
                  "'failed' THEN (SELECT COALESCE(max(id), 0) FROM "
                  "measurement) ELSE known_from END WHERE state IN ('failed', "
                  "'aborted') AND ") +
          kFilter,
      *values);
}

/// Records that a worker had these jobs. It is written before the job, as
/// workers write theirs: nobody waits in the other order.
static Status recordAborted(Database &database, const std::string &which,
                            const std::vector<Value> &values) {
  auto done = database.execute(
      "INSERT INTO attempt (job_id, lease, phase, round, worker_id, started, "
      "ended, cause, reason) SELECT id, lease, phase, round, worker_id, "
      "leased_at, $NOW, 'aborted', 'by a person' FROM job WHERE " +
          which + " AND " + kFilter + " ON CONFLICT DO NOTHING",
      values);
  return done ? success() : Status(done.error());
}

Result<int64_t> tarpon::fleet::abortJobs(Database &database,
                                         const JobFilter &filter) {
  if (Status status = checkState(filter, "aborted", kWaiting, kLeased); !status)
    return status.error();
  Result<std::vector<Value>> values = bindFilter(database, filter);
  if (!values)
    return values.error();
  Result<int64_t> aborted = 0;
  Status status = database.transact([&]() -> Status {
    if (Status status = recordAborted(database, "state = 'leased'", *values);
        !status)
      return status;
    aborted = database.execute(
        std::string("UPDATE job SET state = 'aborted', reason = 'aborted: by a "
                    "person', lease_until = NULL, finished = $NOW WHERE state "
                    "IN ('waiting', 'leased') AND ") +
            kFilter,
        *values);
    if (!aborted)
      return aborted.error();
    // Some were claimed between the two statements; a job keeps the worker of
    // its last lease, and has no other state or reason any more.
    std::vector<Value> any = *values;
    any[kStateValue] = any[kReasonValue] = std::string();
    return recordAborted(database,
                         "state = 'aborted' AND worker_id IS NOT NULL AND NOT "
                         "EXISTS (SELECT 1 FROM attempt WHERE job_id = job.id "
                         "AND attempt.lease = job.lease)",
                         any);
  });
  if (!status)
    return status.error();
  return aborted;
}

Result<std::vector<AttemptInfo>> tarpon::fleet::listAttempts(Database &database,
                                                             int64_t job) {
  Result<Rows> known =
      database.query("SELECT 1 FROM job WHERE id = :p1", {job});
  if (!known)
    return known.error();
  if (known->empty())
    return Error{"there is no job " + std::to_string(job)};
  Result<Rows> rows = database.query(
      "SELECT lease, round, phase, cause, attempt.reason, log, machine.name, "
      "attempt.ended - attempt.started, attempt.ended FROM attempt LEFT JOIN "
      "worker ON worker.id = worker_id LEFT JOIN machine ON machine.id = "
      "machine_id WHERE job_id = :p1 ORDER BY lease",
      {job});
  if (!rows)
    return rows.error();
  std::vector<AttemptInfo> attempts;
  for (const Row &row : *rows)
    attempts.push_back({row.integer(0), row.integer(1), row.text(2),
                        row.text(3), row.text(4), row.text(5), row.text(6),
                        row.real(7), row.real(8)});
  return attempts;
}
