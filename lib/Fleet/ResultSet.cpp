//===- ResultSet.cpp - The best results of a label or release -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeasurementRows.h"

#include "tarpon/Fleet/Job.h"
#include "tarpon/Fleet/ReleaseDiff.h"

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Result;
using runtime::Status;
using runtime::success;

static ResultRecord makeRecord(const Session &session, int64_t problem,
                               const RecordedMeasurement &best) {
  const Measurement &m = best.measurement;
  return {session.id,
          problem,
          best.row,
          session.target,
          m.key.problem,
          m.key.solver,
          m.key.config,
          m.stage,
          {m.median, m.mad, best.samples, m.timeSource}};
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// An aborted job leaves its problem as it was.
static constexpr llvm::StringLiteral kEnded[] = {kDone, kFailed};
static constexpr llvm::StringLiteral kUnfinished[] = {kWaiting, kLeased};

static Status readJobs(Database &database, const Session &session,
                       ResultSet &set) {
  Result<Rows> rows = database.query(
      "SELECT problem_id, state, reason FROM job WHERE session_id = :p1",
      {session.id});
  if (!rows)
    return rows.error();
  for (const Row &row : *rows) {
    std::string state = row.text(1), reason = row.text(2);
    if (llvm::is_contained(kEnded, state))
      set.tuned[{session.target, row.integer(0)}] =
          reason.empty() ? "no candidate is right" : reason;
    else if (llvm::is_contained(kUnfinished, state))
      ++set.unfinished;
  }
  return success();
}

static Status readLabel(Database &database, const Session &session,
                        ResultSet &set) {
  if (Status status = readJobs(database, session, set); !status)
    return status;
  return visitResults(
      database, set.name, session, /*withSamples=*/false,
      [&](const ProblemResults &results) {
        TargetProblem problem = {session.target, results.problem};
        if (const RecordedMeasurement *best = results.getBest()) {
          set.records[problem] = makeRecord(session, results.problem, *best);
          set.tuned[problem] = "";
        }
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Releases
//===----------------------------------------------------------------------===//

static Status readRelease(Database &database, const Session &session,
                          ResultSet &set) {
  Result<Rows> rows = database.query(
      selectMeasurements(/*withSamples=*/false, kSampleColumns) +
          "JOIN release_record ON release_record.measurement_id = "
          "measurement.id WHERE release = :p1 AND release_record.session_id = "
          ":p2 ORDER BY measurement.problem_id",
      {set.name.name, session.id});
  if (!rows)
    return rows.error();
  for (const Row &row : *rows) {
    RecordedMeasurement best = readRecordedMeasurement(row);
    int64_t problem = row.integer(kProblemColumn);
    set.records[{session.target, problem}] = makeRecord(session, problem, best);
  }
  return success();
}

Result<ResultSet> tarpon::fleet::readResultSet(Database &database,
                                               const ResultsName &name) {
  Result<std::vector<Session>> sessions = findSessions(database, name);
  if (!sessions)
    return sessions.error();
  ResultSet set;
  set.name = name;
  set.sessions = std::move(*sessions);
  for (const Session &session : set.sessions) {
    Status status = name.isLabel ? readLabel(database, session, set)
                                 : readRelease(database, session, set);
    if (!status)
      return status.error();
  }
  return set;
}
