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

/// The condition that a measurement's kernels are in the version of their
/// solver that the context stands for.
inline constexpr const char *kOfItsSolver =
    "version = coalesce(:solver_version, solver_version(solver))";

inline void bindContext(SqlStatement &statement,
                        const JournalContext &context) {
  statement.bind(":target", context.target).bind(":threads", context.threads);
  statement.bind(":tarpon", context.tarpon).bind(":llvm", context.llvm);
  statement.bind(":caches", context.caches);
  // A parameter that is not bound is NULL.
  if (context.solverVersion)
    statement.bind(":solver_version", *context.solverVersion);
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
