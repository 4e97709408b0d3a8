//===- JournalSchema.h - The tables and views of the journal ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The columns of each table are listed once, in JournalSchema.cpp: tables,
// checksums and merges follow from that list. A column is added in three steps:
// its row at the end of the list, a migration for the files that lack it, and
// the code in Journal.cpp that writes and reads it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_JOURNALSCHEMA_H
#define TARPON_LIB_AUTOTUNE_STORE_JOURNALSCHEMA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tarpon {

/// "TPNJ": tells a journal from other SQLite files.
inline constexpr int64_t kJournalApplicationId = 0x54504e4a;

enum class ColumnUse : uint8_t {
  Key,   ///< rows that are equal in all of these are about the same thing
  Value, ///< what is known about that thing
};

struct StoreColumn {
  const char *name;
  /// The type and the constraints, as in CREATE TABLE.
  const char *type;
  ColumnUse use = ColumnUse::Value;
};

/// A table whose rows have checksums. Beside its columns it has `id`, in the
/// order of insertion, and `checksum`.
struct StoreTable {
  const char *name;
  llvm::ArrayRef<StoreColumn> columns;
  /// The columns of its index.
  const char *indexed;

  /// Lists the columns without id and checksum: "problem, solver, ...".
  std::string listColumns() const;
};

/// The tables of measurements, pipelines and findings.
llvm::ArrayRef<StoreTable> getStoreTables();
const StoreTable &getStoreTable(llvm::StringRef name);

/// The statements that create the tables, their indexes and the views.
/// Idempotent, so that two processes may create a file at the same time.
std::string getJournalSchema();
/// The statements that create the views, and those that drop them.
const char *getJournalViews();
const char *getDropOfJournalViews();

/// Brings a file from one version to the next.
struct Migration {
  /// The version that a file has afterwards: SQLite's user_version.
  int64_t version;
  /// Statements that are never changed again once they have landed. They can
  /// ignore checksums and views, and may call record_version(tarpon, llvm,
  /// target) and record_target(target) (RecordVersion.h).
  const char *sql;
};

/// The migrations in ascending order of versions, without gaps.
llvm::ArrayRef<Migration> getMigrations();
/// The version of the last migration.
int64_t getJournalVersion();

/// Learned models, as bytes; the last one of a target and a number of threads
/// counts. The table is created when the first model is written: files without
/// it are valid.
inline constexpr const char *kModelSchema = R"sql(
CREATE TABLE IF NOT EXISTS model (
  id INTEGER PRIMARY KEY,
  target TEXT NOT NULL, threads INTEGER NOT NULL,
  tarpon TEXT NOT NULL, llvm TEXT NOT NULL,
  data BLOB NOT NULL,
  run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
)sql";

/// The tunings of models that have begun and not come to their end. The table
/// is created when the first one begins.
inline constexpr const char *kTuningSchema = R"sql(
CREATE TABLE IF NOT EXISTS tuning (
  id INTEGER PRIMARY KEY,
  what TEXT NOT NULL,
  target TEXT NOT NULL, threads INTEGER NOT NULL,
  run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
)sql";

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_JOURNALSCHEMA_H
