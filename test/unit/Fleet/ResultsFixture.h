//===- ResultsFixture.h - Databases with results ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_FLEET_RESULTSFIXTURE_H
#define TARPON_TEST_UNIT_FLEET_RESULTSFIXTURE_H

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/Release.h"

#include <string>
#include <vector>

namespace tarpon::fleet::test {

/// A measurement, as a row.
struct MeasuredRow {
  int64_t session = 0, problem = 0;
  double median = 1;
  std::string solver = "solver-a-v1", config = "tile=1", stage = "final",
              status = "ok";
  std::vector<double> samples = {};
  bool isModelled = false;
};

class ResultsTest : public FleetTest {
protected:
  /// Inserts the rows by few statements, and returns the first one's number.
  void addMeasurements(const std::vector<MeasuredRow> &rows);
  int64_t addMeasurement(const MeasuredRow &row);
  /// A job of that state.
  void addEndedJob(int64_t session, int64_t problem,
                   const std::string &state = "done",
                   const std::string &reason = "");
  /// A label of one session with a result of 1 ms for each problem.
  int64_t addLabel(const std::string &label, const std::string &target,
                   const std::vector<int64_t> &problems);

  /// A release of the label over the base, which is not refused.
  void release(const std::string &name, const std::string &base,
               const std::string &label);
  ReleaseOutcome tryRelease(const ReleaseRequest &request);
  ReleaseDiff diff(const std::string &newer, const std::string &older);
};

/// `count` samples around a time, spread by that share of it.
std::vector<double> drawSamples(double time, double spread, int count,
                                uint64_t seed);

} // namespace tarpon::fleet::test

#endif // TARPON_TEST_UNIT_FLEET_RESULTSFIXTURE_H
