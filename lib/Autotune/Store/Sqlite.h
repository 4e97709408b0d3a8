//===- Sqlite.h - Statements of SQLite, without its C --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_SQLITE_H
#define TARPON_LIB_AUTOTUNE_STORE_SQLITE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace tarpon {

/// One prepared statement. Every failure is remembered in its code; nothing has
/// to be checked before the end.
class SqlStatement {
public:
  SqlStatement(sqlite3 *database, const char *sql);
  ~SqlStatement();
  SqlStatement(const SqlStatement &) = delete;
  SqlStatement &operator=(const SqlStatement &) = delete;

  /// Binds the next parameter.
  SqlStatement &bind(llvm::StringRef text);
  SqlStatement &bind(int64_t value);
  SqlStatement &bind(double value);
  SqlStatement &bindBlob(llvm::StringRef bytes);

  /// Makes it ready to be bound and run again.
  SqlStatement &reset();

  /// Steps to the next row; false at the end and on failure.
  bool next();
  /// Runs a statement that gives no rows; whether it succeeded.
  bool run();

  /// Of a blob: its bytes.
  std::string text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  bool isNull(int column) const;

  /// An SQLite result code: SQLITE_OK, SQLITE_ROW, SQLITE_DONE or an error.
  int code() const { return result; }
  bool failed() const;

private:
  sqlite3_stmt *statement = nullptr;
  int parameter = 0;
  int result;
};

/// The first fault in what PRAGMA quick_check or integrity_check answers, which
/// may be many lines under a title.
std::string getFirstFault(llvm::StringRef answer);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_SQLITE_H
