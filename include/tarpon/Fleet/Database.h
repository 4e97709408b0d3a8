//===- Database.h - Statements of an SQL database ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One connection to the database of a fleet: a file of SQLite, or a server of
// PostgreSQL, through SOCI. Statements are SQL that both understand, with
// parameters :p1, :p2, ... that are bound and never pasted. These words stand
// for what differs:
//
//   $NOW     the database's time, in seconds since 1970. All times of a fleet
//            are the database's: clocks of machines may be wrong.
//   $ID      the type of a column that numbers its rows
//   $USER    the name of the role that has connected, "" with SQLite
//   $SKIP    FOR NO KEY UPDATE SKIP LOCKED, where rows are locked one by one
//   $RELAXED a column, with which the statement's commit does not wait for
//            PostgreSQL's disk
//
// Not thread-safe: one thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_DATABASE_H
#define TARPON_FLEET_DATABASE_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tarpon::fleet {

/// A parameter or a column; monostate is NULL.
using Value = std::variant<std::monostate, int64_t, double, std::string>;

/// A row of an answer.
class Row {
public:
  explicit Row(std::vector<Value> values) : values(std::move(values)) {}

  /// The column with that index; numbers are converted, NULL is 0 or "".
  int64_t integer(size_t column) const;
  double real(size_t column) const;
  std::string text(size_t column) const;
  bool isNull(size_t column) const;
  size_t size() const { return values.size(); }

private:
  std::vector<Value> values;
};

using Rows = std::vector<Row>;

class Database {
public:
  /// Connects to `url`: "sqlite:FILE" or
  /// "postgresql://[user@]host[:port]/name". Credentials come from PostgreSQL's
  /// own places (its service file, .pgpass, peer authentication, certificates);
  /// a password in the address is refused, since other users of the machine
  /// would see it. A file of SQLite has to exist unless `create` is set.
  static runtime::Result<std::unique_ptr<Database>> open(const std::string &url,
                                                         bool create = false);
  ~Database();

  /// Returns the rows of a query, or of RETURNING.
  runtime::Result<Rows> query(llvm::StringRef sql,
                              llvm::ArrayRef<Value> parameters = {});

  /// Runs a statement; returns the number of rows that it changed.
  runtime::Result<int64_t> execute(llvm::StringRef sql,
                                   llvm::ArrayRef<Value> parameters = {});

  /// Runs `body` in a transaction, which is rolled back if it returns an error.
  /// Transactions do not nest.
  runtime::Status transact(llvm::function_ref<runtime::Status()> body);

  /// Returns true if the last statement failed since the server could not be
  /// reached, shuts down, or starts, or takes no changes, as its disk is full
  /// or it is a standby: it may succeed later, on a new connection.
  bool isDisconnected() const { return disconnected; }
  /// Connects again.
  runtime::Status reconnect();

  /// Lets the server end this connection, and those that follow it, when a
  /// transaction has waited for its client for so long: one that is stopped or
  /// cut off would keep its locks for hours. Files have no server.
  runtime::Status limitIdleTransactions(double seconds);

  bool isPostgres() const;
  /// The address for people: without what follows "?", which may name files of
  /// keys.
  std::string getShownUrl() const;

private:
  struct Connection;
  explicit Database(std::string url);
  std::string translate(llvm::StringRef sql) const;
  runtime::Error describe(const std::string &message);

  std::string url;
  std::unique_ptr<Connection> connection;
  /// In milliseconds; 0 for no limit.
  int64_t idleLimit = 0;
  bool disconnected = false, inTransaction = false;
};

/// Returns the only row of an answer, or an error with that text if there is
/// none.
runtime::Result<Row> takeRow(runtime::Result<Rows> rows,
                             const std::string &noneMessage);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_DATABASE_H
