//===- Measurements.h - The measurements of a fleet -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_MEASUREMENTS_H
#define TARPON_FLEET_MEASUREMENTS_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Job.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <vector>

namespace tarpon::fleet {

/// Appends the measurements of a lease; call it within the transaction that
/// completes the job. The same ones are never written twice.
runtime::Status writeMeasurements(Database &database, const Lease &lease,
                                  llvm::ArrayRef<Measurement> measurements);

/// The measurements of a job's problem in its session, in their order. Those
/// from before the job was begun anew (`load --policy search-db-update`) are
/// left out.
runtime::Result<std::vector<Measurement>> readMeasurements(Database &database,
                                                           const Lease &lease);

/// The fastest right candidate of the problem in each of the last sessions, up
/// to `max` of them, that have tuned it for the session's target with as many
/// threads, by whatever build and under whatever label. They may have been
/// measured with kernels that are others by now.
runtime::Result<std::vector<CandidateKey>>
findEarlierWinners(Database &database, int64_t session, int64_t problem,
                   int64_t max);

/// The last row that was read of each session, by the session's number.
using LastRows = std::map<int64_t, int64_t>;

struct LatestMeasurements {
  /// In their order, without samples.
  std::vector<Measurement> measurements;
  /// The rows that were read by now: `after`, with the sessions that had more.
  LastRows lastRows;
};

/// The measurements behind the rows `after`: up to `max`, the latest ones of
/// the session, and then of the last four others in its context, whose times
/// are comparable.
runtime::Result<LatestMeasurements>
readLatestMeasurements(Database &database, int64_t session,
                       const LastRows &after, int64_t max);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_MEASUREMENTS_H
