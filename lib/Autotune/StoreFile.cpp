//===- StoreFile.cpp - The SQLite file of a store -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreFile.h"

#include "JournalSchema.h"
#include "Sqlite.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sqlite3.h>

#include <cassert>
#include <cstdlib>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// How long one process waits for another that writes.
static constexpr int kBusyTimeoutMs = 10000;

StoreFile::~StoreFile() { sqlite3_close(handle); }

Error StoreFile::makeDamageError(llvm::StringRef what) const {
  return {"journal " + path + " is damaged: " + what.str() +
          (isImmutable ? "" : "; move it away or set TARPON_USER_DB_PATH")};
}

Error StoreFile::makeError() const {
  int code = sqlite3_errcode(handle);
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    return makeDamageError(sqlite3_errmsg(handle));
  return {"cannot use journal " + path + ": " + sqlite3_errmsg(handle)};
}

Status StoreFile::execute(const std::string &sql) const {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return makeError();
  return runtime::success();
}

int64_t StoreFile::countChanges() const { return sqlite3_changes64(handle); }

/// The first column of the first row as text.
static std::string queryText(sqlite3 *database, const char *sql) {
  SqlStatement statement(database, sql);
  return statement.next() ? statement.text(0) : "";
}

/// Whether every table has the columns that are read and written; "" if so.
static std::string describeMissing(sqlite3 *database) {
  for (const char *sql : {kMeasurementColumns, kPipelineColumns})
    if (SqlStatement(database, sql).failed())
      return sqlite3_errmsg(database);
  return "";
}

/// Checks what is there before anything is written. What was imported is not
/// looked at, which can be a hundred times as much as the rest and is never
/// served.
static std::string describeDamage(sqlite3 *database) {
  if (std::string missing = describeMissing(database); !missing.empty())
    return missing;
  for (const char *sql :
       {"PRAGMA quick_check(measurement)", "PRAGMA quick_check(pipeline)"}) {
    SqlStatement check(database, sql);
    if (!check.next())
      return sqlite3_errmsg(database);
    if (check.text(0) != "ok")
      return check.text(0);
  }
  return "";
}

Status StoreFile::configure(Mode mode) {
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  std::string tables = queryText(handle, "SELECT count(*) FROM sqlite_master");
  if (tables.empty())
    return makeError();
  bool isNew = tables == "0" && mode == Mode::Create;
  std::string id = queryText(handle, "PRAGMA application_id");
  if (id != std::to_string(kJournalApplicationId) && !(id == "0" && isNew))
    return Error{"file " + path + " is not a journal of tarpon"};
  std::string version = queryText(handle, "PRAGMA user_version");
  if (std::atoll(version.c_str()) > kJournalVersion)
    return Error{"journal " + path + " has schema version " + version +
                 ", which is newer than this tarpon's " +
                 std::to_string(kJournalVersion)};
  if (!isNew)
    if (std::string damage = describeDamage(handle); !damage.empty())
      return makeDamageError(damage);
  if (mode == Mode::ReadOnly || mode == Mode::Immutable)
    return runtime::success();

  // A file system without shared memory refuses WAL; then SQLite goes on with
  // its rollback journal, which is as safe and slower. In WAL mode NORMAL loses
  // no row to a killed process, only to a machine that loses power.
  SqlStatement(handle, "PRAGMA journal_mode = WAL").run();
  SqlStatement(handle, "PRAGMA synchronous = NORMAL").run();
  // Files that older versions made get the tables that came later.
  if (!isNew)
    return execute(kFindingSchema);
  return execute(
      std::string("BEGIN IMMEDIATE;") + kJournalSchema + kFindingSchema +
      "PRAGMA application_id = " + std::to_string(kJournalApplicationId) +
      "; PRAGMA user_version = " + std::to_string(kJournalVersion) +
      "; COMMIT;");
}

static int getOpenFlags(StoreFile::Mode mode) {
  switch (mode) {
  case StoreFile::Mode::ReadOnly:
    return SQLITE_OPEN_READONLY;
  case StoreFile::Mode::Immutable:
    return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  case StoreFile::Mode::ReadWrite:
    return SQLITE_OPEN_READWRITE;
  case StoreFile::Mode::Create:
    return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  assert(false && "unknown mode");
  return SQLITE_OPEN_READONLY;
}

/// Opened so, SQLite neither locks the file nor makes others beside it, which
/// an installed folder would refuse.
static std::string makeImmutableUri(const std::string &path) {
  std::string uri = "file:";
  for (char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += "%" + llvm::utohexstr(static_cast<uint8_t>(c));
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

Result<std::unique_ptr<StoreFile>> StoreFile::open(const std::string &path,
                                                   Mode mode) {
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  if (mode == Mode::Create && !parent.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(parent))
      return Error{"cannot create folder " + parent.str() + ": " +
                   error.message()};
  if (mode != Mode::Create && !llvm::sys::fs::is_regular_file(path))
    return Error{"there is no journal " + path};
  std::unique_ptr<StoreFile> store(new StoreFile(path));
  store->isImmutable = mode == Mode::Immutable;
  std::string name = store->isImmutable ? makeImmutableUri(path) : path;
  if (sqlite3_open_v2(name.c_str(), &store->handle, getOpenFlags(mode),
                      nullptr) != SQLITE_OK)
    return store->makeError();
  if (Status status = store->configure(mode); !status)
    return status.error();
  return store;
}

//===----------------------------------------------------------------------===//
// Transactions
//===----------------------------------------------------------------------===//

StoreTransaction::StoreTransaction(const StoreFile &store)
    : store(store), status(store.execute("BEGIN IMMEDIATE")),
      isOpen(static_cast<bool>(status)) {}

StoreTransaction::~StoreTransaction() {
  if (isOpen)
    SqlStatement(store.database(), "ROLLBACK").run();
}

Status StoreTransaction::commit() {
  Status committed = store.execute("COMMIT");
  isOpen = isOpen && !committed;
  return committed;
}
