//===- ResultsFixture.cpp - Databases with results ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultsFixture.h"

#include "tarpon/Runtime/Measure.h"

#include <nlohmann/json.hpp>

#include <random>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using tarpon::runtime::Timing;

std::vector<double> test::drawSamples(double time, double spread, int count,
                                      uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back(time * std::exp(spread * normal(engine)));
  return samples;
}

void ResultsTest::addMeasurements(const std::vector<MeasuredRow> &rows) {
  constexpr size_t kPerStatement = 200, kColumns = 14;
  for (size_t first = 0; first < rows.size(); first += kPerStatement) {
    std::string sql =
        "INSERT INTO measurement (session_id, problem_id, number, solver, "
        "config, stage, status, samples, median, mad, max_error, workspace, "
        "rounds, is_modelled, time) VALUES ";
    std::vector<Value> values;
    size_t last = std::min(rows.size(), first + kPerStatement);
    for (size_t i = first; i < last; ++i) {
      const MeasuredRow &row = rows[i];
      Timing timing = tarpon::runtime::summarize(row.samples);
      double median = row.samples.empty() ? row.median : timing.medianMs;
      for (Value value :
           {Value(row.session), Value(row.problem), Value(int64_t(i)),
            Value(row.solver), Value(row.config), Value(row.stage),
            Value(row.status), Value(nlohmann::json(row.samples).dump()),
            Value(median), Value(timing.madMs), Value(1e-6), Value(int64_t(64)),
            Value(int64_t(2)), Value(int64_t(row.isModelled))})
        values.push_back(std::move(value));
      sql += i == first ? "(" : ", (";
      for (size_t column = 0; column < kColumns; ++column)
        sql +=
            ":p" + std::to_string(values.size() - kColumns + column + 1) + ", ";
      sql += "$NOW)";
    }
    run(sql, values);
  }
}

int64_t ResultsTest::addMeasurement(const MeasuredRow &row) {
  addMeasurements({row});
  return getInteger("SELECT max(id) FROM measurement");
}

void ResultsTest::addEndedJob(int64_t session, int64_t problem,
                              const std::string &state,
                              const std::string &reason) {
  int64_t job = addJob(session, problem);
  run("UPDATE job SET state = :p1, reason = :p2 WHERE id = :p3",
      {state, reason, job});
}

int64_t ResultsTest::addLabel(const std::string &label,
                              const std::string &target,
                              const std::vector<int64_t> &problems) {
  int64_t session = addSession(label, target);
  std::vector<MeasuredRow> rows;
  for (int64_t problem : problems) {
    addEndedJob(session, problem);
    rows.push_back({session, problem});
    rows.back().samples = {0.99, 1, 1, 1, 1.01};
  }
  addMeasurements(rows);
  return session;
}

ReleaseOutcome ResultsTest::tryRelease(const ReleaseRequest &request) {
  auto outcome = makeRelease(*database, request);
  EXPECT_TRUE(outcome) << outcome.message();
  return outcome ? *outcome : ReleaseOutcome();
}

void ResultsTest::release(const std::string &name, const std::string &base,
                          const std::string &label) {
  ReleaseOutcome outcome = tryRelease({name, base, label, ""});
  EXPECT_FALSE(outcome.isRefused) << outcome.describeFaults();
}

ReleaseDiff ResultsTest::diff(const std::string &newer,
                              const std::string &older) {
  auto after = readResultSet(*database, ResultsName::parse(newer)),
       before = readResultSet(*database, ResultsName::parse(older));
  EXPECT_TRUE(after) << after.message();
  EXPECT_TRUE(before) << before.message();
  if (!after || !before)
    return ReleaseDiff();
  auto compared = compareResults(*database, *before, *after);
  EXPECT_TRUE(compared) << compared.message();
  return compared ? *compared : ReleaseDiff();
}
