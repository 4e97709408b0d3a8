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

/// Copies the measurements of a session behind row `after` into a journal, at
/// most `max` of them, and returns the last row that was copied.
runtime::Result<int64_t> copyMeasurements(Database &database, int64_t session,
                                          int64_t after, int64_t max,
                                          Journal &journal);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_MEASUREMENTS_H
