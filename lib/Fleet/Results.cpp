//===- Results.cpp - The results of a label or a release ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Results.h"

#include "MeasurementRows.h"
#include "tarpon/Page/SafeText.h"

#include "tarpon/Autotune/Store/MeasurementOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kLabelPrefix = "label:";

ResultsName ResultsName::parse(llvm::StringRef text) {
  bool isLabel = text.consume_front(kLabelPrefix);
  return {isLabel, text.str()};
}

std::string ResultsName::str() const {
  return isLabel ? (kLabelPrefix + name).str() : name;
}

static Status checkRelease(Database &database, const std::string &name) {
  Result<Rows> rows =
      database.query("SELECT 1 FROM release WHERE name = :p1", {name});
  if (!rows)
    return rows.error();
  if (rows->empty())
    return Error{"there is no release '" + showText(name) + "'"};
  return success();
}

Result<std::vector<Session>>
tarpon::fleet::findSessions(Database &database, const ResultsName &name) {
  if (name.isLabel)
    return name.name.empty() ? Error{"a label's name is empty"}
                             : findSessions(database, name.name);
  if (Status status = checkRelease(database, name.name); !status)
    return status.error();
  return findReleaseSessions(database, name.name);
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static const RecordedMeasurement *
pickBest(llvm::ArrayRef<RecordedMeasurement> candidates) {
  const RecordedMeasurement *best = nullptr;
  for (const RecordedMeasurement &candidate : candidates)
    if (candidate.measurement.status == MeasurementStatus::Ok &&
        (!best || wins(candidate.measurement, best->measurement)))
      best = &candidate;
  return best;
}

const RecordedMeasurement *ProblemResults::getBest() const {
  return pickBest(candidates);
}

/// Keeps the measurement that counts of each candidate.
static void add(RecordedMeasurement row, ProblemResults &results) {
  if (!isPossible(row.measurement))
    return;
  auto known =
      llvm::find_if(results.candidates, [&](const RecordedMeasurement &other) {
        return other.measurement.key == row.measurement.key;
      });
  if (known == results.candidates.end())
    results.candidates.push_back(std::move(row));
  else if (replaces(row.measurement, known->measurement))
    *known = std::move(row);
}

namespace {

/// Reads the problems of a session, some hundred at a time.
class ResultsReader {
public:
  ResultsReader(Database &database, const ResultsName &name,
                const Session &session, bool withSamples, JobScope scope)
      : database(database), name(name), session(session),
        withSamples(withSamples), scope(scope) {}

  /// Returns the rows of the next problems, ordered by problem and time; none
  /// after the last one. Problems whose jobs were begun anew may have no rows.
  Result<std::optional<Rows>> next();

private:
  Result<std::optional<int64_t>> findEnd();

  Database &database;
  const ResultsName &name;
  const Session &session;
  bool withSamples;
  JobScope scope;
  /// The last problem that was read.
  int64_t last = -1;
};

} // namespace

/// The column behind them: the row of the release's record.
static constexpr size_t kRecordColumn = kSamplesColumn + 1;

/// Results from before the job was begun anew do not count.
static constexpr const char *kOfLabel =
    "LEFT JOIN job ON job.session_id = measurement.session_id AND "
    "job.problem_id = measurement.problem_id WHERE measurement.session_id = "
    ":p1 AND measurement.problem_id > :p2 AND measurement.problem_id <= :p3 "
    "AND measurement.id > COALESCE(known_from, 0) AND :p4 <> '' ";

/// The first rounds of a job that was aborted, has failed, or goes on have
/// found times of a race, which are no result.
static constexpr const char *kOfDoneJobs =
    "AND COALESCE(job.state, 'done') = 'done' ";

/// The job may have been begun anew after the release was made. The record is
/// the release's even where the database's clock was set back since.
static constexpr const char *kOfRelease =
    "JOIN release_record ON release_record.session_id = measurement.session_id "
    "AND release_record.problem_id = measurement.problem_id JOIN release ON "
    "release.name = release_record.release LEFT JOIN job ON job.session_id = "
    "measurement.session_id AND job.problem_id = measurement.problem_id WHERE "
    "measurement.session_id = :p1 AND measurement.problem_id > :p2 AND "
    "measurement.problem_id <= :p3 AND release.name = :p4 AND "
    "(measurement.id <= measurement_id OR measurement.time <= "
    "release.created) AND (known_from IS NULL OR known_from >= "
    "measurement_id OR measurement.id > known_from) ";

/// Returns the last of the next problems.
Result<std::optional<int64_t>> ResultsReader::findEnd() {
  Result<Rows> rows = database.query(
      std::string("SELECT max(problem_id) FROM (SELECT DISTINCT problem_id "
                  "FROM ") +
          (name.isLabel ? "measurement WHERE :p3 <> ''"
                        : "release_record WHERE release = :p3") +
          " AND session_id = :p1 AND problem_id > :p2 ORDER BY problem_id "
          "LIMIT 250) AS page",
      {session.id, last, name.name});
  if (!rows)
    return rows.error();
  if (rows->empty() || rows->front().isNull(0))
    return std::optional<int64_t>();
  return std::optional(rows->front().integer(0));
}

Result<std::optional<Rows>> ResultsReader::next() {
  Result<std::optional<int64_t>> end = findEnd();
  if (!end)
    return end.error();
  if (!*end)
    return std::optional<Rows>();
  std::string more = kSampleColumns;
  more += name.isLabel ? ", 0" : ", release_record.measurement_id";
  Result<Rows> rows = database.query(
      selectMeasurements(withSamples, more.c_str()) +
          (name.isLabel ? kOfLabel : kOfRelease) +
          (name.isLabel && scope == JobScope::Done ? kOfDoneJobs : "") +
          "ORDER BY measurement.problem_id, measurement.id",
      {session.id, last, **end, name.name});
  if (!rows)
    return rows.error();
  last = **end;
  return std::optional(std::move(*rows));
}

/// A measurement that came in while the release was made may seem better than
/// its record, which is what counts.
static void restrictToRecord(int64_t record, ProblemResults &results) {
  const RecordedMeasurement *best = results.getBest();
  if (record == 0 || (best && best->row == record))
    return;
  llvm::erase_if(results.candidates, [&](const RecordedMeasurement &candidate) {
    return candidate.row != record;
  });
}

/// Takes the rows of the next problem from `first` on.
static ProblemResults takeProblem(const Session &session, Rows::iterator &first,
                                  Rows::iterator last) {
  ProblemResults results;
  results.problem = first->integer(kProblemColumn);
  int64_t record = first->integer(kRecordColumn);
  for (; first != last && first->integer(kProblemColumn) == results.problem;
       ++first) {
    RecordedMeasurement row = readRecordedMeasurement(*first);
    results.key = row.measurement.key.problem;
    // Nobody has run a candidate whose time is a model's, but for those of an
    // emulated device, all of whose times are.
    if (row.measurement.timeSource == session.context.getTimeSource())
      add(std::move(row), results);
  }
  restrictToRecord(record, results);
  return results;
}

Status tarpon::fleet::visitResults(
    Database &database, const ResultsName &name, const Session &session,
    bool withSamples, llvm::function_ref<Status(const ProblemResults &)> visit,
    JobScope scope) {
  ResultsReader reader(database, name, session, withSamples, scope);
  while (true) {
    Result<std::optional<Rows>> rows = reader.next();
    if (!rows)
      return rows.error();
    if (!*rows)
      return success();
    for (auto row = (*rows)->begin(); row != (*rows)->end();) {
      ProblemResults results = takeProblem(session, row, (*rows)->end());
      if (results.candidates.empty())
        continue;
      if (Status status = visit(results); !status)
        return status;
    }
  }
}
