//===- ReleaseDiff.h - Differences of two sets of results -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_RELEASEDIFF_H
#define TARPON_FLEET_RELEASEDIFF_H

#include "tarpon/Fleet/Results.h"
#include "tarpon/Fleet/TimeComparison.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tarpon::fleet {

/// The best verified result of a problem on a target.
struct ResultRecord {
  /// Numbers of rows.
  int64_t session = 0, problem = 0, measurement = 0;
  std::string target, key, solver, config;
  MeasurementStage stage = MeasurementStage::Race;
  NoisyTime time;
};

/// A target and the number of a problem.
using TargetProblem = std::pair<std::string, int64_t>;

/// The best results of a label or a release.
struct ResultSet {
  ResultsName name;
  std::vector<Session> sessions;
  std::map<TargetProblem, ResultRecord> records;
  /// The problems that a label has tuned, with the reason if they have no
  /// result. A release has tuned everything.
  std::map<TargetProblem, std::string> tuned;
  /// The number of a label's jobs that have not ended.
  int64_t unfinished = 0;
};

runtime::Result<ResultSet> readResultSet(Database &database,
                                         const ResultsName &name);

/// A problem with a result in both.
struct RecordChange {
  ResultRecord older, newer;
  /// Those of the two records' sessions.
  Conditions conditions = Conditions::Different;
  TimeChange time;

  bool hasSameSolution() const {
    return older.solver == newer.solver && older.config == newer.config;
  }
};

struct LostRecord {
  ResultRecord record;
  /// Says why there is no result now; may be empty.
  std::string reason;
};

/// A property in which the sessions of a target differ, and which may explain
/// why times do.
struct SessionDifference {
  std::string target, property, older, newer;
};

/// How long the candidates that both sides have measured on a target, under the
/// same conditions or not, take now, typically, over what they took before.
struct RepeatedTimes {
  std::string target;
  int64_t candidates = 0;
  double ratio = 1;
  /// True if more than 2 % of it are the machine's, of which no time is accused
  /// (TimeComparison.h).
  bool isMachine = false;
};

struct ReleaseDiff {
  ResultsName older, newer;
  std::vector<SessionDifference> sessions;
  std::vector<RepeatedTimes> repeated;
  std::vector<LostRecord> lost;
  std::vector<ResultRecord> gained;
  /// The problems with a result in both that is not the same measurement.
  std::vector<RecordChange> changes;
  /// The number of problems with the very same measurement, and of those that a
  /// label on either side has not tuned.
  int64_t same = 0, notTuned = 0;
  /// The number of problems that each solver is best at, on both sides, among
  /// those that are compared.
  std::map<std::string, std::pair<int64_t, int64_t>> wins;

  /// The changes with that verdict, the largest first.
  std::vector<const RecordChange *> find(TimeVerdict verdict) const;
  /// Those with another solver or config.
  std::vector<const RecordChange *> findNewSolutions() const;
};

/// Compares all problems but those that a label on either side has not tuned.
runtime::Result<ReleaseDiff> compareResults(Database &database,
                                            const ResultSet &older,
                                            const ResultSet &newer);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_RELEASEDIFF_H
