//===- Repeats.h - Candidates of two sessions -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_REPEATS_H
#define TARPON_LIB_FLEET_REPEATS_H

#include "tarpon/Fleet/ReleaseDiff.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tarpon::fleet {

/// Times that are measured alike.
struct TimeGroup {
  std::string target;
  bool isFinal;
  Conditions conditions;

  auto operator<=>(const TimeGroup &) const = default;
};

inline TimeGroup getGroup(const RecordChange &change) {
  bool isFinal = change.older.stage == MeasurementStage::Final &&
                 change.newer.stage == MeasurementStage::Final;
  return {change.older.target, isFinal, change.conditions};
}

/// Reads the samples of the changes' times.
runtime::Status readSamples(Database &database,
                            std::vector<RecordChange> &changes);

/// Reads the candidates that the sessions of both sides have measured for the
/// changes' problems, or for a part of them that is large enough.
runtime::Result<std::map<TimeGroup, std::vector<TimePair>>>
readRepeats(Database &database, const std::vector<RecordChange> &changes);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_REPEATS_H
