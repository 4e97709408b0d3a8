//===- StoreFile.cpp - The SQLite file of a store -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreFile.h"

#include "FileSystemKind.h"
#include "JournalSchema.h"
#include "RecordVersion.h"
#include "RowChecksum.h"
#include "Sqlite/Sqlite.h"
#include "StoreMigration.h"
#include "StoreRecovery.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <sqlite3.h>

#include <cassert>
#include <cstdlib>
#include <mutex>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;
namespace fs = llvm::sys::fs;

/// A check takes 2 ms for each MiB, and opening a store may take a tenth of the
/// 300 ms of a first inference at most. Damage of larger files is detected when
/// they are read or written.
static constexpr uint64_t kLargeBytes = 16 << 20;

/// The time that a process waits for another one that writes.
static constexpr int kBusyTimeoutMs = 10000;

StoreFile::~StoreFile() { sqlite3_close(handle); }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// SQLite quotes damaged definitions of tables over many lines.
static std::string getFirstLine(llvm::StringRef text) {
  return text.split('\n').first.str();
}

Error StoreFile::makeDamageError(llvm::StringRef what) const {
  return {"journal " + path + " is damaged: " + getFirstLine(what) +
          (isImmutable ? "" : "; move it away or set TARPON_USER_DB_PATH")};
}

static bool isDamageCode(int code) {
  return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
}

Error StoreFile::makeError() const {
  if (isDamageCode(sqlite3_errcode(handle)))
    return makeDamageError(sqlite3_errmsg(handle));
  return {"cannot use journal " + path + ": " +
          getFirstLine(sqlite3_errmsg(handle))};
}

bool StoreFile::isCorrupt() const {
  return isDamageCode(sqlite3_errcode(handle));
}

bool StoreFile::isLarge() const {
  uint64_t bytes = 0;
  return !fs::file_size(path, bytes) && bytes > kLargeBytes;
}

bool StoreFile::isDamaged() const {
  // Written data fits the tables, unless their definitions are damaged.
  int code = sqlite3_errcode(handle);
  return isDamageCode(code) || code == SQLITE_CONSTRAINT ||
         code == SQLITE_ERROR || code == SQLITE_MISMATCH;
}

bool StoreFile::wasMoved() const {
  int hasMoved = 0;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved);
  return hasMoved != 0;
}

StoreFile::Fault StoreFile::makeFault() const {
  int code = sqlite3_errcode(handle);
  // The logs of a file that is set aside are moved before the file itself.
  bool mayBeMoved =
      code == SQLITE_IOERR || code == SQLITE_CANTOPEN || wasMoved();
  return {makeError(), isDamageCode(code), mayBeMoved};
}

StoreFile::Fault StoreFile::makeDamage(llvm::StringRef what) const {
  return {makeDamageError(what), true};
}

Status StoreFile::execute(const std::string &sql) const {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return makeError();
  return runtime::success();
}

int64_t StoreFile::countChanges() const { return sqlite3_changes64(handle); }

//===----------------------------------------------------------------------===//
// Checks of the file before anything is written
//===----------------------------------------------------------------------===//

/// The first column of the first row as text.
static std::string queryText(sqlite3 *database, const char *sql) {
  SqlStatement statement(database, sql);
  return statement.next() ? statement.text(0) : "";
}

/// Returns a table's missing column, or "" if every table has the columns that
/// are read and written.
static std::string describeMissing(sqlite3 *database) {
  for (const StoreTable &table : getStoreTables()) {
    std::string sql =
        "SELECT id, " + table.listColumns() + ", checksum FROM " + table.name;
    if (SqlStatement(database, sql.c_str()).failed())
      return sqlite3_errmsg(database);
  }
  return "";
}

/// Returns true if there are the tables that journals of any version have, and
/// other files lack.
static bool looksLikeJournal(sqlite3 *database) {
  return SqlStatement(database, "SELECT problem, solver, config, origin FROM "
                                "measurement")
                 .code() == SQLITE_OK &&
         SqlStatement(database, "SELECT model, inputs, solutions FROM pipeline")
                 .code() == SQLITE_OK;
}

/// Imported records are not checked: they can be a hundred times as large as
/// the rest, and are never served.
std::string StoreFile::describeDamage(Check check) const {
  if (std::string missing = isOld ? "" : describeMissing(handle);
      !missing.empty())
    return missing;
  if (check == Check::Quick && isLarge())
    return "";
  const char *pragma =
      check == Check::Quick ? "PRAGMA quick_check(" : "PRAGMA integrity_check(";
  for (const char *table : {"measurement", "pipeline", "finding"}) {
    // Older files lack the last table.
    std::string exists = std::string("SELECT 1 FROM ") + table + " LIMIT 0";
    if (SqlStatement(handle, exists.c_str()).code() == SQLITE_ERROR)
      continue;
    SqlStatement rows(handle, (pragma + std::string(table) + ")").c_str());
    if (!rows.next())
      return sqlite3_errmsg(handle);
    if (rows.text(0) != "ok")
      return getFirstFault(rows.text(0));
  }
  return "";
}

std::optional<StoreFile::Fault> StoreFile::inspect(Check check) {
  std::string tables = queryText(handle, "SELECT count(*) FROM sqlite_master");
  if (tables.empty())
    return makeFault();
  std::string id = queryText(handle, "PRAGMA application_id");
  // The process that made the file was stopped before its tables were there.
  // An installed store was whole.
  isNew = tables == "0" && id == "0" && !isImmutable;
  if (id != std::to_string(kJournalApplicationId) && !isNew) {
    // The application id is damaged.
    if (tables != "0" && looksLikeJournal(handle))
      return makeDamage("its application id is " + id);
    return Fault{{"file " + path + " is not a journal of tarpon"}};
  }
  std::string text = queryText(handle, "PRAGMA user_version");
  int64_t version = 0;
  // SQLite gives a number of 32 bits, always.
  (void)llvm::to_integer(text, version);
  if (version > getJournalVersion())
    return Fault{{"journal " + path + " has schema version " + text +
                  ", which is newer than this tarpon's " +
                  std::to_string(getJournalVersion())}};
  isOld = !isNew && version < getJournalVersion();
  if (!isNew)
    if (std::string damage = describeDamage(check); !damage.empty())
      return makeDamage(damage);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

/// Makes the remark once per file and process.
static void remarkOnNetwork(const std::string &path,
                            const std::string &network) {
  static std::mutex mutex;
  static llvm::StringSet<> reported;
  std::lock_guard<std::mutex> lock(mutex);
  if (reported.insert(path).second)
    llvm::errs() << "remark: journal " << path
                 << " is on a network file system (" << network
                 << "), so it is written with a rollback journal, which is "
                    "slower than the write-ahead log\n";
}

std::optional<StoreFile::Fault> StoreFile::chooseJournal() {
  if (network.empty()) {
    // Other file systems without shared memory refuse WAL; then SQLite uses its
    // rollback journal. In WAL mode, NORMAL loses no rows if the process is
    // killed, only if the machine loses power.
    SqlStatement(handle, "PRAGMA journal_mode = WAL").run();
    SqlStatement(handle, "PRAGMA synchronous = NORMAL").run();
    return std::nullopt;
  }
  remarkOnNetwork(path, network);
  if (queryText(handle, "PRAGMA journal_mode = DELETE") == "wal")
    return Fault{{"journal " + path + " is on a network file system (" +
                  network +
                  "), where it cannot leave WAL mode while other processes use "
                  "it"}};
  SqlStatement(handle, "PRAGMA synchronous = FULL").run();
  // The next read releases the lock.
  SqlStatement(handle, "PRAGMA locking_mode = NORMAL").run();
  queryText(handle, "SELECT count(*) FROM sqlite_master");
  return std::nullopt;
}

static bool isWritten(StoreFile::Mode mode) {
  return mode != StoreFile::Mode::ReadOnly &&
         mode != StoreFile::Mode::Immutable;
}

/// The functions that the schema and its migrations call.
static bool defineFunctions(sqlite3 *database) {
  return defineRowChecksum(database) == SQLITE_OK &&
         defineVersionFunctions(database) == SQLITE_OK;
}

std::optional<StoreFile::Fault> StoreFile::copyToMemory() {
  sqlite3 *copy = nullptr;
  int code = sqlite3_open(":memory:", &copy);
  if (code == SQLITE_OK)
    code = copyDatabase(copy, "main", handle);
  if (code != SQLITE_OK || !defineFunctions(copy)) {
    sqlite3_close(copy);
    if (isDamageCode(code))
      return makeDamage(sqlite3_errstr(code));
    return Fault{{"cannot use journal " + path + ": " + sqlite3_errstr(code)}};
  }
  sqlite3_close(handle);
  handle = copy;
  isCopy = true;
  return std::nullopt;
}

std::optional<StoreFile::Fault> StoreFile::migrate(Mode mode) {
  std::string version = queryText(handle, "PRAGMA user_version");
  if (!isWritten(mode))
    if (std::optional<Fault> fault = copyToMemory())
      return fault;
  if (std::optional<MigrationFailure> failure = migrateStore(handle)) {
    if (isDamageCode(failure->code))
      return makeDamage(failure->message);
    // This program may be wrong, so that the file is left as it is.
    return Fault{{"journal " + path +
                  " cannot be brought from schema version " + version + " to " +
                  std::to_string(getJournalVersion()) + ": " +
                  getFirstLine(failure->message)},
                 /*isDamage=*/false,
                 wasMoved()};
  }
  if (std::string missing = describeMissing(handle); !missing.empty())
    return makeDamage(missing);
  return std::nullopt;
}

std::optional<StoreFile::Fault> StoreFile::prepare(Mode mode) {
  if (isWritten(mode))
    if (std::optional<Fault> fault = chooseJournal())
      return fault;
  if (isNew && !isWritten(mode))
    if (std::optional<Fault> fault = copyToMemory())
      return fault;
  if (isNew && !execute("BEGIN IMMEDIATE;" + getJournalSchema() +
                        "PRAGMA application_id = " +
                        std::to_string(kJournalApplicationId) +
                        "; PRAGMA user_version = " +
                        std::to_string(getJournalVersion()) + "; COMMIT;"))
    return makeFault();
  if (isOld)
    if (std::optional<Fault> fault = migrate(mode))
      return fault;
  if (isWritten(mode) && createChecksumTriggers(handle) != SQLITE_OK)
    return makeFault();
  if (createSoundViews(handle) != SQLITE_OK)
    return makeFault();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static int getOpenFlags(StoreFile::Mode mode) {
  switch (mode) {
  case StoreFile::Mode::ReadOnly:
    return SQLITE_OPEN_READONLY;
  case StoreFile::Mode::Immutable:
    return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  case StoreFile::Mode::ReadWrite:
    return SQLITE_OPEN_READWRITE;
  case StoreFile::Mode::Create:
  case StoreFile::Mode::Replace:
    return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  assert(false && "unknown mode");
  return SQLITE_OPEN_READONLY;
}

/// With this URI, SQLite neither locks the file nor makes others beside it,
/// which an installed folder would refuse.
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

/// SQLite would take an emptied file for a new one, and delete its log.
/// Therefore the log is checked first: if there is one, the file was not empty.
static bool hasLostItsHead(const std::string &path) {
  uint64_t log = 0, file = 1;
  return !fs::file_size(path + "-wal", log) && log > 0 &&
         !fs::file_size(path, file) && file == 0;
}

/// Takes back what a process wrote that was killed before its transaction
/// ended. SQLite does that when a file is opened, unless it is opened for
/// reading. Who may not write gets SQLite's message afterwards.
static void rollBack(const std::string &path) {
  if (!fs::exists(path + "-journal"))
    return;
  sqlite3 *database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE,
                      nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(database, kBusyTimeoutMs);
    queryText(database, "SELECT count(*) FROM sqlite_master");
  }
  sqlite3_close(database);
}

std::optional<StoreFile::Fault> StoreFile::connect(Mode mode, Check check) {
  isImmutable = mode == Mode::Immutable;
  if (!isImmutable && hasLostItsHead(path))
    return makeDamage("it is empty, and its log is not");
  if (mode == Mode::ReadOnly)
    rollBack(path);
  std::string name = isImmutable ? makeImmutableUri(path) : path;
  if (sqlite3_open_v2(name.c_str(), &handle, getOpenFlags(mode), nullptr) !=
      SQLITE_OK)
    return makeFault();
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  // Closing a file that turns out to be damaged leaves it and its log as they
  // are.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  SqlStatement(handle, "PRAGMA temp_store = MEMORY").run();
  // In this mode no memory is shared, whatever the file's mode was.
  if (!network.empty())
    SqlStatement(handle, "PRAGMA locking_mode = EXCLUSIVE").run();
  if (!defineFunctions(handle))
    return makeFault();
  if (std::optional<Fault> fault = inspect(check))
    return fault;
  if (std::optional<Fault> fault = prepare(mode))
    return fault;
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  return std::nullopt;
}

struct StoreFile::Attempt {
  std::unique_ptr<StoreFile> store;
  std::optional<Fault> fault;
};

StoreFile::Attempt StoreFile::attempt(const std::string &path, Mode mode,
                                      Check check) {
  bool isMade = mode == Mode::Create || mode == Mode::Replace;
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  if (isMade && !parent.empty())
    if (std::error_code error = fs::create_directories(parent))
      return {nullptr, Fault{{"cannot create folder " + parent.str() + ": " +
                              error.message()}}};
  if (!isMade && !fs::is_regular_file(path))
    return {nullptr, Fault{{"there is no journal " + path}}};
  std::unique_ptr<StoreFile> store(new StoreFile(path));
  if (mode != Mode::Immutable && path != ":memory:")
    store->network = findNetworkFileSystem(parent.empty() ? "." : parent.str());
  std::optional<Fault> fault = store->connect(mode, check);
  if (fault)
    store.reset();
  return {std::move(store), std::move(fault)};
}

Result<std::unique_ptr<StoreFile>> StoreFile::open(const std::string &path,
                                                   Mode mode, Check check) {
  Attempt first = attempt(path, mode, check);
  if (!first.fault)
    return std::move(first.store);
  if (mode == Mode::Replace &&
      (first.fault->isDamage || first.fault->mayBeMoved))
    return replace(path, check, *first.fault);
  return first.fault->error;
}

Result<std::unique_ptr<StoreFile>>
StoreFile::reopen(std::unique_ptr<StoreFile> store) {
  std::string path = store->path;
  sqlite3_db_config(store->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                    nullptr);
  store.reset();
  return open(path, Mode::Replace, Check::Thorough);
}

/// Other processes may have found the same damage: the one that holds the lock
/// checks again, and finds either the damaged file or the new one that another
/// has made.
Result<std::unique_ptr<StoreFile>>
StoreFile::replace(const std::string &path, Check check, const Fault &fault) {
  StoreReplacementLock lock(path);
  if (!lock.isHeld())
    return fault.error;
  Attempt second = attempt(path, Mode::Replace, check);
  if (!second.fault)
    return std::move(second.store);
  if (!second.fault->isDamage)
    return second.fault->error;
  Result<std::string> place = setStoreAside(path);
  if (!place)
    return Error{second.fault->error.message + " (" + place.message() + ")"};
  llvm::StringRef what = second.fault->error.message;
  llvm::errs() << "remark: " << what.rsplit("; ").first
               << "; it was set aside as " << *place
               << ", and a new one is begun\n";
  Attempt fresh = attempt(path, Mode::Replace, check);
  if (fresh.fault)
    return fresh.fault->error;
  return std::move(fresh.store);
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
