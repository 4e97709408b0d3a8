//===- Measurements.cpp - The measurements of a fleet ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Measurements.h"

#include "MeasurementRows.h"

#include "llvm/ADT/STLExtras.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Result;
using runtime::Status;
using runtime::success;

static constexpr llvm::StringLiteral kStages[] = {"race", "final"};

llvm::StringRef tarpon::fleet::getStageName(MeasurementStage stage) {
  return kStages[static_cast<size_t>(stage)];
}

/// JSON and SQL have no infinity, which is the error of a NaN.
static Value finiteOrNull(double value) {
  return std::isfinite(value) ? Value(value) : Value();
}

/// The values of a row, in the order of the columns below.
static void addValues(std::vector<Value> &values, const Lease &lease,
                      int64_t number, const Measurement &m) {
  for (Value value :
       {Value(lease.session), Value(lease.problem), Value(lease.job),
        Value(lease.lease), Value(number), Value(m.key.solver),
        Value(m.key.config), Value(getStageName(m.stage).str()),
        Value(getStatusName(m.status).str()),
        Value(nlohmann::json(m.samples).dump()), Value(m.median), Value(m.mad),
        finiteOrNull(m.maxError), finiteOrNull(m.relativeL2),
        Value(m.workspaceBytes), Value(m.rounds), Value(m.detail),
        Value(int64_t(m.isDropped)),
        Value(int64_t(m.timeSource == TimeSource::Modelled))})
    values.push_back(std::move(value));
}

/// A round is one statement, since each costs a round trip.
Status
tarpon::fleet::writeMeasurements(Database &database, const Lease &lease,
                                 llvm::ArrayRef<Measurement> measurements) {
  if (measurements.empty())
    return success();
  std::vector<Value> values;
  std::string rows;
  for (auto [number, m] : llvm::enumerate(measurements)) {
    size_t first = values.size();
    addValues(values, lease, static_cast<int64_t>(number), m);
    rows += number == 0 ? "(" : ", (";
    for (size_t i = first; i < values.size(); ++i)
      rows += ":p" + std::to_string(i + 1) + ", ";
    rows.replace(rows.size() - 2, 2, ")");
  }
  auto done = database.execute(
      "INSERT INTO measurement (session_id, problem_id, job_id, lease, "
      "number, solver, config, stage, status, samples, median, mad, max_error, "
      "relative_l2, workspace, rounds, detail, is_dropped, is_modelled) "
      "VALUES " +
          rows,
      values);
  return done ? success() : Status(done.error());
}

std::string tarpon::fleet::selectMeasurements(bool withSamples,
                                              const char *more) {
  return std::string("SELECT measurement.id, (SELECT key FROM problem WHERE "
                     "problem.id = measurement.problem_id), solver, config, "
                     "stage, status, ") +
         (withSamples ? "samples" : "'[]'") +
         ", median, mad, max_error, relative_l2, workspace, rounds, detail, "
         "is_dropped, is_modelled" +
         more + " FROM measurement ";
}

std::vector<double> tarpon::fleet::parseSamples(const std::string &text) {
  std::vector<double> samples;
  auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_array())
    for (const auto &sample : json)
      if (sample.is_number())
        samples.push_back(sample.get<double>());
  return samples;
}

Measurement tarpon::fleet::readMeasurementRow(const Row &row) {
  Measurement m;
  m.key = {row.text(1), row.text(2), row.text(3)};
  m.stage = row.text(4) == kStages[1] ? MeasurementStage::Final
                                      : MeasurementStage::Race;
  m.status = parseStatusName(row.text(5));
  m.samples = parseSamples(row.text(6));
  m.median = row.real(7);
  m.mad = row.real(8);
  m.maxError = row.isNull(9) ? INFINITY : row.real(9);
  m.relativeL2 = row.isNull(10) ? INFINITY : row.real(10);
  m.workspaceBytes = row.integer(11);
  m.rounds = row.integer(12);
  m.detail = row.text(13);
  m.isDropped = row.integer(14) != 0;
  m.isEarlier = true;
  m.timeSource = row.integer(15) ? TimeSource::Modelled : TimeSource::Measured;
  return m;
}

Result<std::vector<Measurement>>
tarpon::fleet::readMeasurements(Database &database, const Lease &lease) {
  Result<Rows> rows = database.query(
      selectMeasurements() +
          "WHERE measurement.session_id = :p1 AND measurement.problem_id = "
          ":p2 AND measurement.id > (SELECT known_from FROM job WHERE id = "
          ":p3) ORDER BY measurement.id",
      {lease.session, lease.problem, lease.job});
  if (!rows)
    return rows.error();
  std::vector<Measurement> measurements;
  for (const Row &row : *rows)
    measurements.push_back(readMeasurementRow(row));
  return measurements;
}

/// Whatever was measured under a label stays when that is deleted.
Result<std::vector<CandidateKey>>
tarpon::fleet::findEarlierWinners(Database &database, int64_t session,
                                  int64_t problem, int64_t max) {
  Result<Rows> rows = database.query(
      "SELECT problem.key, solver, config FROM (SELECT session_id, problem_id, "
      "solver, config, ROW_NUMBER() OVER (PARTITION BY session_id ORDER BY "
      "stage = 'final' DESC, median, measurement.id) AS place FROM measurement "
      "WHERE problem_id = :p2 AND status = 'ok' AND is_dropped = 0 AND "
      "session_id IN (SELECT other.id FROM session AS own JOIN session AS "
      "other ON other.target = own.target AND other.threads = own.threads AND "
      "other.is_emulated = own.is_emulated AND other.id <> own.id WHERE own.id "
      "= :p1)) AS ranked JOIN problem ON problem.id = problem_id WHERE place = "
      "1 ORDER BY session_id DESC LIMIT :p3",
      {session, problem, max});
  if (!rows)
    return rows.error();
  std::vector<CandidateKey> winners;
  for (const Row &row : *rows)
    winners.push_back({row.text(0), row.text(1), row.text(2)});
  return winners;
}

/// The session, and then the last others in whose context times are comparable
/// with its own, the latest first. It has no device before an evaluator has
/// come.
static Result<Rows> findSameContext(Database &database, int64_t session) {
  return database.query(
      "SELECT other.id FROM session AS own JOIN session AS other ON "
      "other.context_target = own.context_target AND other.context_tarpon = "
      "own.context_tarpon AND other.context_llvm = own.context_llvm AND "
      "other.context_caches = own.context_caches AND other.kernel_version = "
      "own.kernel_version AND other.threads = own.threads AND "
      "other.is_emulated = own.is_emulated AND (other.device = own.device OR "
      "own.device = '') WHERE own.id = :p1 ORDER BY other.id <> own.id, "
      "other.id DESC LIMIT 5",
      {session});
}

/// Each session is a range of an index, of which the last row is kept: sessions
/// that are tuned at the same time have rows in any order.
Result<LatestMeasurements>
tarpon::fleet::readLatestMeasurements(Database &database, int64_t session,
                                      const LastRows &after, int64_t max) {
  Result<Rows> sessions = findSameContext(database, session);
  if (!sessions)
    return sessions.error();
  LatestMeasurements result = {{}, after};
  Rows latest;
  for (const Row &other : *sessions) {
    size_t left = static_cast<size_t>(max) - latest.size();
    if (left == 0)
      break;
    int64_t &lastRow = result.lastRows[other.integer(0)];
    Result<Rows> rows = database.query(
        selectMeasurements(/*withSamples=*/false) +
            "WHERE measurement.session_id + 0 = :p1 AND measurement.id > :p2 "
            "ORDER BY measurement.id DESC LIMIT " +
            std::to_string(left),
        {other.integer(0), lastRow});
    if (!rows)
      return rows.error();
    if (!rows->empty())
      lastRow = rows->front().integer(0);
    llvm::append_range(latest, *rows);
  }
  llvm::sort(latest, [](const Row &a, const Row &b) {
    return a.integer(0) < b.integer(0);
  });
  for (const Row &row : latest)
    result.measurements.push_back(readMeasurementRow(row));
  return result;
}
