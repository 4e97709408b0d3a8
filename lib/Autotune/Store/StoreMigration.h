//===- StoreMigration.h - Migrates files of older versions ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STOREMIGRATION_H
#define TARPON_LIB_AUTOTUNE_STOREMIGRATION_H

#include "JournalSchema.h"

#include <optional>
#include <string>

struct sqlite3;

namespace tarpon {

/// The reason why a store keeps its old version.
struct MigrationFailure {
  /// SQLite's result code and message.
  int code;
  std::string message;
};

/// Brings the tables of a connection to the version of the last migration, in
/// one transaction, so that a killed process leaves the file as it was. Of
/// several processes, one does it. Rows whose checksum fits get that of their
/// new columns; the others stay unsound. The connection needs the functions of
/// RowChecksum.h and RecordVersion.h.
std::optional<MigrationFailure>
migrateStore(sqlite3 *database,
             llvm::ArrayRef<Migration> migrations = getMigrations());

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STOREMIGRATION_H
