//===- RowChecksum.cpp - Checksums of rows --------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowChecksum.h"

#include "JournalSchema.h"
#include "Sqlite/Sqlite.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

#include <cstring>
#include <sqlite3.h>

using namespace tarpon;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Adds a type, a length or value, and the bytes to the sum, so that no two
/// rows have the same input.
static uint32_t add(uint32_t crc, char type, uint64_t value,
                    llvm::ArrayRef<uint8_t> bytes = {}) {
  uint8_t head[9];
  head[0] = static_cast<uint8_t>(type);
  llvm::support::endian::write64le(head + 1, value);
  crc = llvm::crc32(crc, head);
  // zlib returns the initial sum for null bytes.
  return bytes.empty() ? crc : llvm::crc32(crc, bytes);
}

static uint32_t addValue(uint32_t crc, sqlite3_value *value) {
  switch (sqlite3_value_type(value)) {
  case SQLITE_NULL:
    return add(crc, 'n', 0);
  case SQLITE_INTEGER:
    return add(crc, 'i', static_cast<uint64_t>(sqlite3_value_int64(value)));
  case SQLITE_FLOAT: {
    double number = sqlite3_value_double(value);
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return add(crc, 'r', bits);
  }
  default:
    const auto *bytes = static_cast<const uint8_t *>(sqlite3_value_blob(value));
    auto size = static_cast<size_t>(sqlite3_value_bytes(value));
    return add(crc, 't', size, llvm::ArrayRef(bytes, bytes ? size : 0));
  }
}

static void computeRowChecksum(sqlite3_context *context, int count,
                               sqlite3_value **values) {
  uint32_t crc = 0;
  for (int i = 0; i < count; ++i)
    crc = addValue(crc, values[i]);
  sqlite3_result_int64(context, crc);
}

int tarpon::defineRowChecksum(sqlite3 *database) {
  return sqlite3_create_function_v2(
      database, "row_checksum", -1,
      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
      computeRowChecksum, nullptr, nullptr, nullptr);
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

static std::string makeSum(const StoreTable &table) {
  return "row_checksum(" + table.listColumns() + ")";
}

static int execute(sqlite3 *database, const std::string &sql) {
  return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
}

int tarpon::createSoundViews(sqlite3 *database) {
  for (const StoreTable &table : getStoreTables()) {
    std::string sql = std::string("CREATE TEMP VIEW sound_") + table.name +
                      " AS SELECT * FROM main." + table.name +
                      " WHERE checksum = " + makeSum(table);
    if (int code = execute(database, sql); code != SQLITE_OK)
      return code;
  }
  return SQLITE_OK;
}

int tarpon::createChecksumTriggers(sqlite3 *database) {
  for (const StoreTable &table : getStoreTables()) {
    std::string name = table.name;
    int code = execute(database, "CREATE TEMP TRIGGER sum_" + name +
                                     " AFTER INSERT ON main." + name +
                                     " BEGIN UPDATE " + name +
                                     " SET checksum = " + makeSum(table) +
                                     " WHERE id = NEW.id; END");
    if (code != SQLITE_OK)
      return code;
  }
  return SQLITE_OK;
}

//===----------------------------------------------------------------------===//
// Unsound rows
//===----------------------------------------------------------------------===//

static std::string makeUnsound(const StoreTable &table) {
  return std::string(" FROM main.") + table.name + " WHERE checksum IS NOT " +
         makeSum(table);
}

std::optional<int64_t> tarpon::countUnsoundRows(sqlite3 *database) {
  int64_t total = 0;
  for (const StoreTable &table : getStoreTables()) {
    std::string sql = "SELECT count(*)" + makeUnsound(table);
    SqlStatement count(database, sql.c_str());
    if (!count.next())
      return std::nullopt;
    total += count.integer(0);
  }
  return total;
}

std::string tarpon::getDeletionOfUnsoundRows(const char *table) {
  return "DELETE" + makeUnsound(getStoreTable(table));
}
