//===- Sqlite.h - Statements of SQLite, without its C --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SQLITE_SQLITE_H
#define TARPON_LIB_AUTOTUNE_SQLITE_SQLITE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace tarpon {

/// A prepared statement. It remembers its first failure in its code, so that
/// errors need to be checked only at the end.
class SqlStatement {
public:
  SqlStatement(sqlite3 *database, const char *sql);
  ~SqlStatement();
  SqlStatement(const SqlStatement &) = delete;
  SqlStatement &operator=(const SqlStatement &) = delete;

  /// Binds the next `?`. Parameters with names come behind all of these.
  SqlStatement &bind(llvm::StringRef text);
  SqlStatement &bind(int64_t value);
  SqlStatement &bind(double value);
  SqlStatement &bindBlob(llvm::StringRef bytes);
  /// Binds a parameter by its name, ":target"; a name that the statement lacks
  /// is ignored.
  SqlStatement &bind(const char *name, llvm::StringRef text);
  SqlStatement &bind(const char *name, int64_t value);

  /// Resets the statement, to be bound and run again.
  SqlStatement &reset();

  /// Steps to the next row; false at the end and on failure.
  bool next();
  /// Runs a statement without rows; returns true on success.
  bool run();

  /// The text of a column, or the bytes of a blob.
  std::string text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  bool isNull(int column) const;
  /// The value in the column with that name, which the statement selects.
  std::string text(const char *column) const { return text(find(column)); }
  int64_t integer(const char *column) const { return integer(find(column)); }
  double real(const char *column) const { return real(find(column)); }

  /// An SQLite result code: SQLITE_OK, SQLITE_ROW, SQLITE_DONE or an error.
  int code() const { return result; }
  bool failed() const;

private:
  int find(const char *column) const;

  sqlite3_stmt *statement = nullptr;
  int parameter = 0;
  int result;
};

/// A row to be inserted, column by column; columns that are not set get their
/// default.
class SqlRow {
public:
  SqlRow &set(const char *column, llvm::StringRef text) {
    return add(column, text.str());
  }
  SqlRow &set(const char *column, int64_t value) { return add(column, value); }
  SqlRow &set(const char *column, double value) { return add(column, value); }

  /// Inserts the row; returns false on failure.
  bool insertInto(sqlite3 *database, const char *table) const;

private:
  using Value = std::variant<std::string, int64_t, double>;
  SqlRow &add(const char *column, Value value) {
    values.emplace_back(column, std::move(value));
    return *this;
  }

  std::vector<std::pair<const char *, Value>> values;
};

/// Copies the main database of `from` over the schema `name` of `to`. Returns
/// SQLite's result code: SQLITE_OK if everything was copied.
int copyDatabase(sqlite3 *to, const char *name, sqlite3 *from);

/// The first fault in the answer of PRAGMA quick_check or integrity_check,
/// which may be many lines under a title.
std::string getFirstFault(llvm::StringRef answer);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SQLITE_SQLITE_H
