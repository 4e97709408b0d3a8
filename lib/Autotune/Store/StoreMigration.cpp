//===- StoreMigration.cpp - Migrates files of older versions --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreMigration.h"

#include "Sqlite/Sqlite.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <sqlite3.h>
#include <vector>

using namespace tarpon;

namespace {

/// Every step returns true on success; the first failure is kept.
class Migrator {
public:
  Migrator(sqlite3 *database, llvm::ArrayRef<Migration> migrations)
      : database(database), migrations(migrations) {}

  std::optional<MigrationFailure> run();

private:
  bool execute(const std::string &sql);
  bool fail(int code);
  std::optional<int64_t> readVersion();
  bool readColumns(const StoreTable &table, std::vector<std::string> &columns);
  bool noteUnsoundRows(const StoreTable &table);
  bool renewChecksums(const StoreTable &table);
  bool migrate();

  sqlite3 *database;
  llvm::ArrayRef<Migration> migrations;
  std::optional<MigrationFailure> failure;
};

} // namespace

bool Migrator::fail(int code) {
  if (!failure)
    failure = {code, sqlite3_errmsg(database)};
  return false;
}

bool Migrator::execute(const std::string &sql) {
  int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK || fail(code);
}

std::optional<int64_t> Migrator::readVersion() {
  SqlStatement version(database, "PRAGMA user_version");
  if (version.next())
    return version.integer(0);
  fail(version.code());
  return std::nullopt;
}

/// Reads the columns without the id; none if there is no such table.
bool Migrator::readColumns(const StoreTable &table,
                           std::vector<std::string> &columns) {
  SqlStatement names(database, "SELECT name FROM pragma_table_info(?, 'main') "
                               "WHERE name <> 'id' ORDER BY cid");
  names.bind(llvm::StringRef(table.name));
  while (names.next())
    columns.push_back(names.text(0));
  return !names.failed() || fail(names.code());
}

/// The function of a row's columns other than its id and its checksum.
static std::string makeSum(std::vector<std::string> columns) {
  llvm::erase(columns, "checksum");
  return "row_checksum(" + llvm::join(columns, ", ") + ")";
}

bool Migrator::noteUnsoundRows(const StoreTable &table) {
  std::vector<std::string> columns;
  if (!readColumns(table, columns))
    return false;
  // The first files had no checksums: their rows are taken as they are.
  if (!llvm::is_contained(columns, "checksum"))
    return true;
  std::string name = table.name;
  return execute("INSERT INTO temp.unsound SELECT '" + name +
                 "', id FROM main." + name + " WHERE checksum IS NOT " +
                 makeSum(std::move(columns)));
}

bool Migrator::renewChecksums(const StoreTable &table) {
  std::vector<std::string> columns;
  if (!readColumns(table, columns))
    return false;
  std::string name = table.name;
  if (!llvm::is_contained(columns, "checksum") &&
      !execute("ALTER TABLE main." + name + " ADD COLUMN checksum INTEGER"))
    return false;
  return execute("UPDATE main." + name +
                 " SET checksum = CASE WHEN id IN (SELECT id FROM "
                 "temp.unsound WHERE of = '" +
                 name + "') THEN NULL ELSE " + makeSum(std::move(columns)) +
                 " END");
}

bool Migrator::migrate() {
  // Another process may have been faster.
  std::optional<int64_t> version = readVersion();
  if (!version || *version >= migrations.back().version)
    return version.has_value();
  if (!execute("CREATE TEMP TABLE unsound (of TEXT, id INTEGER)"))
    return false;
  for (const StoreTable &table : getStoreTables())
    if (!noteUnsoundRows(table))
      return false;
  // A view depends on the columns of its tables.
  if (!execute(getDropOfJournalViews()))
    return false;
  for (const Migration &migration : migrations)
    if (migration.version > *version && !execute(migration.sql))
      return false;
  for (const StoreTable &table : getStoreTables())
    if (!renewChecksums(table))
      return false;
  return execute(
      std::string("DROP TABLE temp.unsound;") + getJournalViews() +
      "PRAGMA user_version = " + std::to_string(migrations.back().version));
}

std::optional<MigrationFailure> Migrator::run() {
  if (!execute("BEGIN IMMEDIATE"))
    return failure;
  if (!migrate() || !execute("COMMIT"))
    sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
  return failure;
}

std::optional<MigrationFailure>
tarpon::migrateStore(sqlite3 *database, llvm::ArrayRef<Migration> migrations) {
  return Migrator(database, migrations).run();
}
