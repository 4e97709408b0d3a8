//===- RowChecksum.h - Checksums of rows ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SQLite detects damage to its own structures, but not to the contents of a
// row: a flipped byte in a time or a config makes a record that nobody
// measured. Therefore each row of the journal's tables has a column `checksum`,
// the CRC-32 of all others but the id (all bursts of up to 32 bits are found,
// and of any other damage all but one in four thousand million). Rows are read
// through the temporary views sound_measurement, sound_pipeline and
// sound_finding, which leave out those whose checksum is wrong or missing.
//
// Files older than the column get it by migration (StoreMigration.h).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_ROWCHECKSUM_H
#define TARPON_LIB_AUTOTUNE_STORE_ROWCHECKSUM_H

#include <cstdint>
#include <optional>
#include <string>

struct sqlite3;

namespace tarpon {

/// Defines the function row_checksum(...) of SQL for a connection. All return
/// SQLite's result codes.
int defineRowChecksum(sqlite3 *database);

/// Makes the views of a connection.
int createSoundViews(sqlite3 *database);

/// Makes a connection add the checksum of each row that it inserts.
int createChecksumTriggers(sqlite3 *database);

/// Counts the rows of the journal's tables whose checksum does not fit; none if
/// they cannot be read. Reads all rows.
std::optional<int64_t> countUnsoundRows(sqlite3 *database);

/// The statement that deletes such rows of a table.
std::string getDeletionOfUnsoundRows(const char *table);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_ROWCHECKSUM_H
