//===- FleetStatus.cpp - The state of a fleet -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/FleetStatus.h"

#include "tarpon/Fleet/Job.h"
#include "tarpon/Fleet/Session.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// Describes what a job in that state and phase is at.
static std::string describeState(const std::string &state,
                                 const std::string &phase) {
  bool compiles = phase == getPhaseName(Phase::Compile);
  if (state == kWaiting)
    return compiles ? "waiting to compile" : "waiting to measure";
  if (state == kLeased)
    return compiles ? "compiling" : "measuring";
  return state;
}

/// A shorter time of all jobs would count the pauses of the first ones.
static constexpr double kRateSeconds = 300;

static Status readSession(Database &database, const Session &session,
                          SessionStatus &status) {
  status.label = session.label;
  status.target = session.target;
  Result<Rows> rows = database.query(
      "SELECT state, phase, count(*) FROM job WHERE session_id = :p1 GROUP BY "
      "state, phase",
      {session.id});
  if (!rows)
    return rows.error();
  for (const Row &row : *rows) {
    std::string state = row.text(0);
    status.counts[describeState(state, row.text(1))] += row.integer(2);
    status.total += row.integer(2);
    if (state != kWaiting && state != kLeased)
      status.ended += row.integer(2);
  }
  Result<Rows> recent = database.query(
      "SELECT count(*), $NOW - min(finished) FROM job WHERE session_id = :p1 "
      "AND finished > $NOW - :p2",
      {session.id, kRateSeconds});
  if (!recent)
    return recent.error();
  if (!recent->empty() && recent->front().integer(0) > 1) {
    const Row &row = recent->front();
    status.rate =
        static_cast<double>(row.integer(0)) / std::max(row.real(1), 1.0);
    status.secondsLeft =
        static_cast<double>(status.total - status.ended) / status.rate;
  }
  return success();
}

static Result<std::vector<MachineStatus>> readMachines(Database &database) {
  Result<Rows> rows = database.query(
      "SELECT machine.name, machine.cpu, machine.state, machine.cores, "
      "sum(CASE WHEN role = 'builder' AND ended IS NULL THEN 1 ELSE 0 END), "
      "sum(CASE WHEN role = 'evaluator' AND ended IS NULL THEN 1 ELSE 0 END), "
      "CAST(COALESCE(sum(held.jobs), 0) AS bigint), $NOW - max(worker.seen), "
      "machine.id FROM "
      "machine JOIN worker ON machine_id = machine.id LEFT JOIN (SELECT "
      "worker_id, count(*) AS jobs FROM job WHERE state = 'leased' GROUP BY "
      "worker_id) AS held ON held.worker_id = worker.id GROUP BY machine.id, "
      "machine.name, machine.cpu, machine.state, machine.cores ORDER BY "
      "machine.name");
  if (!rows)
    return rows.error();
  std::vector<MachineStatus> machines;
  for (const Row &row : *rows) {
    MachineStatus machine = {row.text(0),    row.text(1),    row.text(2),
                             row.integer(3), row.integer(4), row.integer(5),
                             row.integer(6), row.real(7),    ""};
    if (machine.builders + machine.evaluators == 0) {
      Result<Rows> last = database.query(
          "SELECT reason FROM worker WHERE machine_id = :p1 AND ended IS NOT "
          "NULL ORDER BY ended DESC LIMIT 1",
          {row.integer(8)});
      if (!last)
        return last.error();
      if (!last->empty())
        machine.reason = last->front().text(0);
    }
    machines.push_back(std::move(machine));
  }
  return machines;
}

static Result<std::vector<CauseStatus>> readCauses(Database &database,
                                                   const std::string &label) {
  constexpr const char *kFailed =
      " FROM attempt JOIN job ON job.id = job_id JOIN session ON session.id = "
      "session_id WHERE cause <> 'ok' AND (:p1 = '' OR label = :p1) ";
  Result<Rows> rows = database.query(
      std::string("SELECT cause, count(*), count(DISTINCT job_id)") + kFailed +
          "GROUP BY cause ORDER BY count(*) DESC",
      {label});
  if (!rows)
    return rows.error();
  std::vector<CauseStatus> causes;
  for (const Row &row : *rows) {
    Result<Rows> last = database.query(
        std::string("SELECT attempt.reason") + kFailed +
            "AND cause = :p2 ORDER BY attempt.ended DESC LIMIT 1",
        {label, row.text(0)});
    if (!last)
      return last.error();
    causes.push_back({row.text(0), row.integer(1), row.integer(2),
                      last->empty() ? "" : last->front().text(0)});
  }
  return causes;
}

/// Describes the candidate of a measurement that has failed.
static Result<std::string> describeFailure(Database &database, int64_t id) {
  Result<Row> row = takeRow(
      database.query(
          "SELECT solver, config, detail FROM measurement WHERE id = :p1",
          {id}),
      "a measurement is gone");
  if (!row)
    return row.error();
  return row->text(0) + " {" + row->text(1) + "}: " + row->text(2);
}

/// A range of an index that has nothing else for each session.
static Result<std::vector<CandidateStatus>>
readCandidates(Database &database, const std::vector<Session> &sessions) {
  std::map<std::string, CandidateStatus> byStatus;
  std::map<std::string, int64_t> latest;
  for (const Session &session : sessions) {
    Result<Rows> rows = database.query(
        "SELECT status, count(*), count(DISTINCT problem_id), max(id) FROM "
        "measurement WHERE session_id = :p1 AND status <> 'ok' GROUP BY status",
        {session.id});
    if (!rows)
      return rows.error();
    for (const Row &row : *rows) {
      CandidateStatus &status = byStatus[row.text(0)];
      status.status = row.text(0);
      status.candidates += row.integer(1);
      status.problems += row.integer(2);
      latest[row.text(0)] = std::max(latest[row.text(0)], row.integer(3));
    }
  }
  std::vector<CandidateStatus> candidates;
  for (auto &[name, status] : byStatus) {
    Result<std::string> text = describeFailure(database, latest[name]);
    if (!text)
      return text.error();
    status.latest = std::move(*text);
    candidates.push_back(std::move(status));
  }
  return candidates;
}

static Result<std::vector<SessionStatus>>
readSessions(Database &database, const std::vector<Session> &sessions) {
  std::vector<SessionStatus> statuses;
  for (const Session &session : sessions)
    if (Status read = readSession(database, session, statuses.emplace_back());
        !read)
      return read.error();
  return statuses;
}

Result<std::vector<SessionStatus>>
tarpon::fleet::getSessionStatus(Database &database, const std::string &label) {
  Result<std::vector<Session>> sessions = findSessions(database, label);
  return sessions ? readSessions(database, *sessions)
                  : Result<std::vector<SessionStatus>>(sessions.error());
}

Result<FleetStatus> tarpon::fleet::getStatus(Database &database,
                                             const std::string &label) {
  Result<std::vector<Session>> sessions = findSessions(database, label);
  if (!sessions)
    return sessions.error();
  FleetStatus status;
  Result<std::vector<SessionStatus>> statuses =
      readSessions(database, *sessions);
  if (!statuses)
    return statuses.error();
  status.sessions = std::move(*statuses);
  Result<std::vector<MachineStatus>> machines = readMachines(database);
  if (!machines)
    return machines.error();
  status.machines = std::move(*machines);
  Result<std::vector<CauseStatus>> causes = readCauses(database, label);
  if (!causes)
    return causes.error();
  status.causes = std::move(*causes);
  Result<std::vector<CandidateStatus>> candidates =
      readCandidates(database, *sessions);
  if (!candidates)
    return candidates.error();
  status.candidates = std::move(*candidates);
  return status;
}

Result<int64_t> tarpon::fleet::getLastWorker(Database &database) {
  Result<Row> row =
      takeRow(database.query("SELECT COALESCE(max(id), 0) FROM worker"),
              "the workers cannot be counted");
  return row ? Result<int64_t>(row->integer(0)) : row.error();
}

/// A worker's reason is that of its end, and then those of what it left alone.
Result<std::vector<std::string>>
tarpon::fleet::listRefusals(Database &database, const std::string &label,
                            int64_t worker) {
  Result<Rows> rows = database.query(
      "SELECT reason FROM worker WHERE label = :p1 AND id > :p2 ORDER BY id",
      {label, worker});
  if (!rows)
    return rows.error();
  std::vector<std::string> refusals;
  for (const Row &row : *rows) {
    std::string reason = row.text(0);
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(reason).split(parts, ("; " + kLeftAlone).str());
    for (llvm::StringRef part : llvm::drop_begin(parts))
      if (!llvm::is_contained(refusals, part))
        refusals.push_back(part.str());
  }
  return refusals;
}

Status tarpon::fleet::setDraining(Database &database,
                                  const std::string &machine, bool isDraining) {
  Result<int64_t> changed =
      database.execute("UPDATE machine SET state = :p1 WHERE name = :p2",
                       {isDraining ? "draining" : "ready", machine});
  if (!changed)
    return changed.error();
  if (*changed == 0)
    return Error{"no worker ever ran on a machine '" + machine + "'"};
  return success();
}
