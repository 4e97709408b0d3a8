//===- Database.cpp - Statements of an SQL database -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that knows SOCI, which throws.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Database.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"

#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

int64_t Row::integer(size_t column) const {
  const Value &value = values[column];
  if (const auto *number = std::get_if<int64_t>(&value))
    return *number;
  if (const auto *number = std::get_if<double>(&value))
    return static_cast<int64_t>(*number);
  if (const auto *text = std::get_if<std::string>(&value))
    return std::strtoll(text->c_str(), nullptr, 10);
  return 0;
}

double Row::real(size_t column) const {
  const Value &value = values[column];
  if (const auto *number = std::get_if<double>(&value))
    return *number;
  if (const auto *text = std::get_if<std::string>(&value))
    return std::strtod(text->c_str(), nullptr);
  return static_cast<double>(integer(column));
}

std::string Row::text(size_t column) const {
  const Value &value = values[column];
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  if (const auto *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  if (const auto *number = std::get_if<double>(&value))
    return std::to_string(*number);
  return "";
}

bool Row::isNull(size_t column) const {
  return std::holds_alternative<std::monostate>(values[column]);
}

Result<Row> tarpon::fleet::takeRow(Result<Rows> rows,
                                   const std::string &noneMessage) {
  if (!rows)
    return rows.error();
  if (rows->empty())
    return Error{noneMessage};
  return std::move(rows->front());
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kSqlite = "sqlite:";
static constexpr llvm::StringLiteral kPostgres = "postgresql://";

namespace {

/// A parameter as SOCI binds it, which needs an address and an indicator.
struct Bound {
  long long integer = 0;
  double real = 0;
  std::string text;
  soci::indicator indicator = soci::i_ok;
};

/// A statement with the places of its parameters and of its row.
struct Prepared {
  explicit Prepared(soci::session &session) : statement(session) {}

  std::vector<Bound> bounds;
  soci::row row;
  soci::statement statement;
};

/// One run of a statement.
struct Run {
  Rows rows;
  int64_t changed = 0;
};

} // namespace

struct Database::Connection {
  Run run(const std::string &sql, llvm::ArrayRef<Value> parameters,
          bool hasRows, bool mayKeep);

  soci::session session;
  /// The statements that the server has parsed and planned, by their text and
  /// the types of their parameters.
  std::map<std::string, std::unique_ptr<Prepared>> kept;
};

Database::Database(std::string url) : url(std::move(url)) {}
Database::~Database() = default;

std::string Database::getShownUrl() const {
  return isPostgres() ? llvm::StringRef(url).split('?').first.str() : url;
}

bool Database::isPostgres() const {
  return llvm::StringRef(url).starts_with(kPostgres);
}

/// A server that vanishes is noticed after this many seconds, whether the
/// client waits for an answer (keepalives) or has sent something
/// (tcp_user_timeout, in milliseconds).
static std::string addTimeouts(std::string url) {
  bool hasQuery = url.find('?') != std::string::npos;
  constexpr const char *kDefaults[] = {
      "connect_timeout=10",     "keepalives_idle=10",
      "keepalives_interval=5",  "keepalives_count=2",
      "tcp_user_timeout=20000", "application_name=tarpon-fleet",
      "client_encoding=UTF8"};
  for (llvm::StringRef option : kDefaults) {
    if (llvm::StringRef(url).contains(option.split('=').first))
      continue;
    url += (hasQuery ? "&" : "?") + option.str();
    hasQuery = true;
  }
  return url;
}

/// Decodes "%70" as libpq does.
static std::string decodePercent(llvm::StringRef text) {
  std::string decoded;
  while (!text.empty()) {
    unsigned code;
    if (text.front() == '%' && text.size() > 2 &&
        !text.substr(1, 2).getAsInteger(16, code)) {
      decoded += static_cast<char>(code);
      text = text.drop_front(3);
    } else {
      decoded += text.front();
      text = text.drop_front();
    }
  }
  return decoded;
}

static Status checkUrl(llvm::StringRef url, bool create) {
  if (url.starts_with(kSqlite)) {
    llvm::StringRef file = url.drop_front(kSqlite.size());
    if (file.empty() || file.contains(' '))
      return Error{"'" + url.str() +
                   "' names no file: sqlite:FILE, without spaces"};
    if (!create && !llvm::sys::fs::exists(file))
      return Error{"there is no database '" + file.str() +
                   "': graph-opt fleet init " + url.str() + " makes one"};
    return success();
  }
  if (!url.starts_with(kPostgres))
    return Error{"'" + url.split(':').first.str() +
                 ":...' is no database: sqlite:FILE or postgresql://HOST/NAME"};
  llvm::StringRef rest = url.drop_front(kPostgres.size());
  llvm::StringRef authority = rest.substr(0, rest.find_first_of("/?"));
  bool hasUser = authority.contains('@');
  if ((hasUser && authority.substr(0, authority.rfind('@')).contains(':')) ||
      llvm::StringRef(decodePercent(rest)).contains("password="))
    return Error{"the database's address holds a password, which other users "
                 "could see: put it into ~/.pgpass or a service file"};
  return success();
}

Result<std::unique_ptr<Database>> Database::open(const std::string &url,
                                                 bool create) {
  if (Status status = checkUrl(url, create); !status)
    return status.error();
  std::unique_ptr<Database> database(new Database(url));
  if (Status status = database->reconnect(); !status)
    return status.error();
  return database;
}

/// Several processes write to one file of SQLite in turn: each waits up to a
/// minute, and readers do not wait at all (WAL).
static void prepareSqlite(soci::session &session) {
  session << "PRAGMA busy_timeout = 60000";
  session << "PRAGMA journal_mode = WAL";
  session << "PRAGMA synchronous = NORMAL";
  session << "PRAGMA foreign_keys = ON";
}

static std::string printIdleLimit(int64_t milliseconds) {
  return "SET idle_in_transaction_session_timeout = " +
         std::to_string(milliseconds);
}

Status Database::reconnect() {
  try {
    auto made = std::make_unique<Connection>();
    if (isPostgres()) {
      // Loaded by name, so that programs run without it.
      made->session.open("postgresql", addTimeouts(url));
      // Notices, of what is there already, would go to standard error.
      made->session << "SET client_min_messages = warning";
      if (idleLimit > 0)
        made->session << printIdleLimit(idleLimit);
    } else {
      made->session.open(soci::sqlite3, "dbname=" + url.substr(kSqlite.size()));
      prepareSqlite(made->session);
    }
    connection = std::move(made);
    disconnected = false;
    return success();
  } catch (const std::exception &error) {
    disconnected = true;
    return describe(error.what());
  }
}

Status Database::limitIdleTransactions(double seconds) {
  constexpr double kMillisecond = 1e-3;
  idleLimit =
      isPostgres()
          ? std::max<int64_t>(1, static_cast<int64_t>(seconds / kMillisecond))
          : 0;
  if (idleLimit == 0)
    return success();
  auto done = execute(printIdleLimit(idleLimit));
  return done ? success() : Status(done.error());
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// SOCI appends the statement with its parameters, which may hold text from
/// outside, and libpq writes several lines.
Error Database::describe(const std::string &message) {
  llvm::StringRef text = llvm::StringRef(message).split(" while ").first;
  for (llvm::StringRef start : {"Cannot execute query.", " Fatal error."})
    text.consume_front(start);
  // SOCI's function, of which the user knows nothing.
  if (text.starts_with("sqlite3_"))
    text = text.split(": ").second;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words, " \n\r\t");
  return Error{"the database " + getShownUrl() + ": " +
               llvm::StringRef(llvm::join(words, " ")).rtrim('.').str()};
}

/// Returns true if the server answers, and is no standby or read-only for
/// another reason.
static bool takesChanges(soci::session &session, bool isPostgres) {
  try {
    std::string isReadOnly;
    if (isPostgres)
      session << "SHOW transaction_read_only", soci::into(isReadOnly);
    else
      session << "SELECT 1";
    return isReadOnly != "on";
  } catch (const soci::soci_error &) {
    return false;
  }
}

/// Returns true if an error says that the same may succeed later. The server's
/// texts are English unless it was told otherwise; SQLite's are.
static bool isPassing(const soci::soci_error &error) {
  // Two transactions, or too many clients, were in each other's way, or a disk
  // is full.
  constexpr llvm::StringLiteral kPassing[] = {
      "deadlock detected",         "could not serialize",
      "too many clients",          "remaining connection slots",
      "the database system is",    "database is locked",
      "database or disk is full",  "disk I/O error",
      "write a readonly database", "No space left on device"};
  // The statement and the details, which follow, have texts from outside.
  std::string message = error.get_error_message();
  llvm::StringRef line = llvm::StringRef(message).split('\n').first;
  return llvm::any_of(
      kPassing, [&](llvm::StringRef text) { return line.contains(text); });
}

/// Returns true if the server does not answer any more, or cannot do what it is
/// asked for now. PostgreSQL's errors of the system are of disks, memory and
/// connections. In a transaction, what follows is a ROLLBACK, which finds out.
static bool isLost(soci::session &session, const soci::soci_error &error,
                   bool inTransaction, bool isPostgres) {
  soci::soci_error::error_category category = error.get_error_category();
  if (category == soci::soci_error::connection_error ||
      (isPostgres && category == soci::soci_error::system_error) ||
      isPassing(error))
    return true;
  return !inTransaction && !takesChanges(session, isPostgres);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

std::string Database::translate(llvm::StringRef sql) const {
  struct Word {
    llvm::StringLiteral name, sqlite, postgres;
  };
  static constexpr Word kWords[] = {
      {"$NOW", "((julianday('now') - 2440587.5) * 86400.0)",
       "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"},
      {"$ID", "INTEGER PRIMARY KEY AUTOINCREMENT",
       "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"},
      {"$SKIP", "", "FOR NO KEY UPDATE SKIP LOCKED"},
      {"$USER", "''", "session_user"},
      {"$RELAXED", "1",
       "(SELECT set_config('synchronous_commit', 'off', true))"}};
  std::string text = sql.str();
  for (const Word &word : kWords)
    for (size_t at = 0;
         (at = text.find(word.name.str(), at)) != std::string::npos;) {
      llvm::StringRef by = isPostgres() ? word.postgres : word.sqlite;
      text.replace(at, word.name.size(), by.str());
      at += by.size();
    }
  return text;
}

/// Messages of compilers and candidates may hold any bytes, and be of any
/// length; PostgreSQL takes UTF-8 without zeros.
static std::string makeStorable(const std::string &text) {
  constexpr size_t kLongest = size_t(16) << 20;
  std::string stored = text.substr(0, kLongest);
  std::replace(stored.begin(), stored.end(), '\0', '?');
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(stored.data());
  const llvm::UTF8 *at = begin, *end = begin + stored.size();
  while (!llvm::isLegalUTF8String(&at, end)) {
    stored[static_cast<size_t>(at - begin)] = '?';
    ++at;
  }
  return stored;
}

static void assign(Bound &bound, const Value &value) {
  bound.indicator = soci::i_ok;
  if (const auto *number = std::get_if<int64_t>(&value))
    bound.integer = *number;
  else if (const auto *number = std::get_if<double>(&value))
    bound.real = *number;
  else if (const auto *text = std::get_if<std::string>(&value))
    bound.text = makeStorable(*text);
  else
    bound.indicator = soci::i_null;
}

/// NULL is bound as text.
static void bindPlace(soci::statement &statement, const Value &value,
                      Bound &bound, const std::string &name) {
  if (std::holds_alternative<int64_t>(value))
    statement.exchange(soci::use(bound.integer, bound.indicator, name));
  else if (std::holds_alternative<double>(value))
    statement.exchange(soci::use(bound.real, bound.indicator, name));
  else
    statement.exchange(soci::use(bound.text, bound.indicator, name));
}

static Value readColumn(const soci::row &row, size_t column) {
  if (row.get_indicator(column) == soci::i_null)
    return std::monostate();
  switch (row.get_properties(column).get_data_type()) {
  case soci::dt_integer:
    return static_cast<int64_t>(row.get<int>(column));
  case soci::dt_long_long:
    return static_cast<int64_t>(row.get<long long>(column));
  case soci::dt_unsigned_long_long:
    return static_cast<int64_t>(row.get<unsigned long long>(column));
  case soci::dt_double:
    return row.get<double>(column);
  case soci::dt_string:
  case soci::dt_date:
  case soci::dt_blob:
  case soci::dt_xml:
    return row.get<std::string>(column);
  }
  return std::monostate();
}

static std::unique_ptr<Prepared> prepare(soci::session &session,
                                         const std::string &sql,
                                         llvm::ArrayRef<Value> parameters,
                                         bool hasRows, bool isKept) {
  auto prepared = std::make_unique<Prepared>(session);
  soci::statement &statement = prepared->statement;
  prepared->bounds.resize(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    bindPlace(statement, parameters[i], prepared->bounds[i],
              "p" + std::to_string(i + 1));
  if (hasRows)
    statement.exchange(soci::into(prepared->row));
  statement.alloc();
  statement.prepare(sql, isKept ? soci::details::st_repeatable_query
                                : soci::details::st_one_time_query);
  statement.define_and_bind();
  return prepared;
}

static Run runPrepared(Prepared &prepared, llvm::ArrayRef<Value> parameters,
                       bool hasRows) {
  for (size_t i = 0; i < parameters.size(); ++i)
    assign(prepared.bounds[i], parameters[i]);
  Run run;
  soci::statement &statement = prepared.statement;
  bool hasRow = statement.execute(/*with_data_exchange=*/true);
  for (; hasRows && hasRow; hasRow = statement.fetch()) {
    std::vector<Value> values;
    for (size_t i = 0; i < prepared.row.size(); ++i)
      values.push_back(readColumn(prepared.row, i));
    run.rows.emplace_back(std::move(values));
  }
  run.changed = hasRows ? 0 : statement.get_affected_rows();
  return run;
}

/// Workers run few statements, many times: from its second run on, the server
/// keeps a statement with its plan. That takes three messages, so that what
/// runs once is not kept.
Run Database::Connection::run(const std::string &sql,
                              llvm::ArrayRef<Value> parameters, bool hasRows,
                              bool mayKeep) {
  if (!mayKeep || parameters.empty())
    return runPrepared(*prepare(session, sql, parameters, hasRows, false),
                       parameters, hasRows);
  std::string key = sql + (hasRows ? " rows " : " ");
  for (const Value &value : parameters)
    key += std::to_string(value.index());
  constexpr size_t kMost = 64;
  if (kept.size() >= kMost && !kept.count(key))
    kept.clear();
  auto [entry, isNew] = kept.try_emplace(key);
  if (isNew)
    return run(sql, parameters, hasRows, false);
  // Whatever fails is not used again.
  std::unique_ptr<Prepared> prepared = std::move(entry->second);
  kept.erase(entry);
  if (!prepared)
    prepared = prepare(session, sql, parameters, hasRows, true);
  Run result = runPrepared(*prepared, parameters, hasRows);
  kept[key] = std::move(prepared);
  return result;
}

Result<Rows> Database::query(llvm::StringRef sql,
                             llvm::ArrayRef<Value> parameters) {
  try {
    return std::move(
        connection->run(translate(sql), parameters, true, isPostgres()).rows);
  } catch (const soci::soci_error &error) {
    disconnected =
        isLost(connection->session, error, inTransaction, isPostgres());
    return describe(error.what());
  }
}

Result<int64_t> Database::execute(llvm::StringRef sql,
                                  llvm::ArrayRef<Value> parameters) {
  try {
    return connection->run(translate(sql), parameters, false, isPostgres())
        .changed;
  } catch (const soci::soci_error &error) {
    disconnected =
        isLost(connection->session, error, inTransaction, isPostgres());
    return describe(error.what());
  }
}

Status Database::transact(llvm::function_ref<Status()> body) {
  // A transaction of SQLite that reads before it writes could fail in between.
  auto begun = execute(isPostgres() ? "BEGIN" : "BEGIN IMMEDIATE");
  if (!begun)
    return begun.error();
  inTransaction = true;
  disconnected = false;
  Status status = body();
  if (status)
    if (auto committed = execute("COMMIT"); !committed)
      status = committed.error();
  inTransaction = false;
  if (status)
    return status;
  // SQLite may have rolled back already, and refuses to do it again.
  bool isAway = disconnected;
  (void)execute("ROLLBACK");
  disconnected = isAway || !takesChanges(connection->session, isPostgres());
  return status;
}
