//===- Results.h - The results of a label or a release ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A label has the measurements of its sessions; a release has one record per
// target and problem, which is a measurement of some session. Both are named in
// one way: "label:nightly", and "2026.11" for the release.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_RESULTS_H
#define TARPON_FLEET_RESULTS_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Session.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tarpon::fleet {

struct ResultsName {
  bool isLabel = false;
  std::string name;

  static ResultsName forLabel(std::string label) { return {true, label}; }
  static ResultsName forRelease(std::string name) { return {false, name}; }
  /// Parses "label:L" or a release's name.
  static ResultsName parse(llvm::StringRef text);
  /// The text that is parsed.
  std::string str() const;
};

/// The sessions of a label or of a release, in the order of their ids. An error
/// if there is no such label or release.
runtime::Result<std::vector<Session>> findSessions(Database &database,
                                                   const ResultsName &name);

/// A measurement with its row's number.
struct RecordedMeasurement {
  int64_t row = 0;
  Measurement measurement;
  /// The number of samples, which are not read for all purposes.
  int64_t samples = 0;
};

/// The last results of a problem's candidates in a session, by the rules of
/// journals (MeasurementOrder.h).
struct ProblemResults {
  int64_t problem = 0;
  std::string key;
  /// In the order of their first measurement.
  std::vector<RecordedMeasurement> candidates;

  /// The fastest verified candidate; null if there is none.
  const RecordedMeasurement *getBest() const;
};

/// The jobs of a label whose measurements are visited. Half of a search is no
/// result, and tells all the same how long its candidates take.
enum class JobScope : uint8_t { Done, All };

/// Visits the problems of a label or release that were measured in one of its
/// sessions, in the order of their ids. What was measured without a job counts
/// as done. A candidate whose time is a model's counts only in a session of an
/// emulated device, which has verified it. Of a release, these are the results
/// of its time; its record is the best of them.
runtime::Status
visitResults(Database &database, const ResultsName &name,
             const Session &session, bool withSamples,
             llvm::function_ref<runtime::Status(const ProblemResults &)> visit,
             JobScope scope = JobScope::Done);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_RESULTS_H
