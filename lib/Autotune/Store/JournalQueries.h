//===- JournalQueries.h - Rows of one context -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_JOURNALQUERIES_H
#define TARPON_LIB_AUTOTUNE_JOURNALQUERIES_H

#include "Sqlite/Sqlite.h"

#include "tarpon/Autotune/Store/Journal.h"

namespace tarpon {

/// Conditions on the columns of a JournalContext, which bindContext binds.
inline constexpr const char *kOnThisTarget =
    "target = :target AND threads = :threads";
inline constexpr const char *kOnThisMachine =
    "target = :target AND threads = :threads AND caches IN ('', :caches)";
inline constexpr const char *kOfThisBuild =
    "target = :target AND threads = :threads AND caches IN ('', :caches) AND "
    "tarpon = :tarpon AND llvm = :llvm";

/// The condition that a finding `f` is out of date: a solver of the problem has
/// another version by now, with which it had not been measured when the finding
/// was recorded.
inline constexpr const char *kIsOutdatedFinding =
    "EXISTS (SELECT 1 FROM measurement AS old WHERE old.problem = f.problem "
    "AND old.target = f.target AND old.threads = f.threads AND old.tarpon = "
    "f.tarpon AND old.llvm = f.llvm AND old.status <> 'started' AND "
    "old.version <> solver_version(old.solver) AND NOT EXISTS (SELECT 1 FROM "
    "measurement AS new WHERE new.problem = f.problem AND new.solver = "
    "old.solver AND new.target = f.target AND new.threads = f.threads AND "
    "new.tarpon = f.tarpon AND new.llvm = f.llvm AND new.status <> 'started' "
    "AND new.version = solver_version(new.solver) AND new.time <= f.time))";

inline void bindContext(SqlStatement &statement,
                        const JournalContext &context) {
  statement.bind(":target", context.target).bind(":threads", context.threads);
  statement.bind(":tarpon", context.tarpon).bind(":llvm", context.llvm);
  statement.bind(":caches", context.caches);
}

inline void setContext(SqlRow &row, const JournalContext &context) {
  row.set("target", context.target).set("threads", context.threads);
  row.set("tarpon", context.tarpon).set("llvm", context.llvm);
  row.set("caches", context.caches);
}

/// Reads the measurement in a row that has all columns.
Measurement readMeasurement(const SqlStatement &row);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_JOURNALQUERIES_H
