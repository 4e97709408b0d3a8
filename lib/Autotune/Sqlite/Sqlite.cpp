//===- Sqlite.cpp - Statements of SQLite, without its C -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sqlite/Sqlite.h"

#include <cassert>
#include <cstring>
#include <sqlite3.h>

using namespace tarpon;

SqlStatement::SqlStatement(sqlite3 *database, const char *sql) {
  result = sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
}

SqlStatement::~SqlStatement() { sqlite3_finalize(statement); }

bool SqlStatement::failed() const {
  return result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE;
}

SqlStatement &SqlStatement::bind(llvm::StringRef text) {
  // A null pointer would bind NULL.
  const char *data = text.empty() ? "" : text.data();
  if (!failed())
    result = sqlite3_bind_text64(statement, ++parameter, data, text.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

SqlStatement &SqlStatement::bind(int64_t value) {
  if (!failed())
    result = sqlite3_bind_int64(statement, ++parameter, value);
  return *this;
}

SqlStatement &SqlStatement::bind(double value) {
  // SQLite stores a NaN as NULL, which reads back as 0: columns that can be NaN
  // are read with real(), which returns NaN for NULL.
  if (!failed())
    result = sqlite3_bind_double(statement, ++parameter, value);
  return *this;
}

SqlStatement &SqlStatement::bindBlob(llvm::StringRef bytes) {
  const char *data = bytes.empty() ? "" : bytes.data();
  if (!failed())
    result = sqlite3_bind_blob64(statement, ++parameter, data, bytes.size(),
                                 SQLITE_TRANSIENT);
  return *this;
}

SqlStatement &SqlStatement::bind(const char *name, llvm::StringRef text) {
  int index = failed() ? 0 : sqlite3_bind_parameter_index(statement, name);
  if (index != 0)
    result =
        sqlite3_bind_text64(statement, index, text.empty() ? "" : text.data(),
                            text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

SqlStatement &SqlStatement::bind(const char *name, int64_t value) {
  int index = failed() ? 0 : sqlite3_bind_parameter_index(statement, name);
  if (index != 0)
    result = sqlite3_bind_int64(statement, index, value);
  return *this;
}

SqlStatement &SqlStatement::reset() {
  if (!failed()) {
    result = sqlite3_reset(statement);
    parameter = 0;
  }
  return *this;
}

bool SqlStatement::next() {
  if (failed())
    return false;
  result = sqlite3_step(statement);
  return result == SQLITE_ROW;
}

bool SqlStatement::run() {
  while (next()) {
  }
  return !failed();
}

int SqlStatement::find(const char *column) const {
  int count = sqlite3_column_count(statement);
  for (int i = 0; i < count; ++i)
    if (std::strcmp(sqlite3_column_name(statement, i), column) == 0)
      return i;
  assert(false && "the statement does not select this column");
  return -1;
}

std::string SqlStatement::text(int column) const {
  const auto *data =
      reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
  return data ? std::string(data, sqlite3_column_bytes(statement, column)) : "";
}

int64_t SqlStatement::integer(int column) const {
  return sqlite3_column_int64(statement, column);
}

bool SqlStatement::isNull(int column) const {
  return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

double SqlStatement::real(int column) const {
  if (isNull(column))
    return __builtin_nan("");
  return sqlite3_column_double(statement, column);
}

bool SqlRow::insertInto(sqlite3 *database, const char *table) const {
  std::string columns, marks;
  for (const auto &[column, value] : values) {
    columns += (columns.empty() ? "" : ", ") + std::string(column);
    marks += marks.empty() ? "?" : ", ?";
  }
  std::string sql = std::string("INSERT INTO ") + table + " (" + columns +
                    ") VALUES (" + marks + ")";
  SqlStatement insert(database, sql.c_str());
  for (const auto &[column, value] : values)
    std::visit([&](const auto &v) { insert.bind(v); }, value);
  return insert.run();
}

int tarpon::copyDatabase(sqlite3 *to, const char *name, sqlite3 *from) {
  sqlite3_backup *backup = sqlite3_backup_init(to, name, from, "main");
  if (!backup)
    return sqlite3_errcode(to);
  int step = sqlite3_backup_step(backup, -1);
  int end = sqlite3_backup_finish(backup);
  // A copy that a lock has stopped may be finished without an error.
  return end == SQLITE_OK && step != SQLITE_DONE ? step : end;
}

std::string tarpon::getFirstFault(llvm::StringRef answer) {
  if (answer.starts_with("*** "))
    answer = answer.split('\n').second;
  return answer.split('\n').first.str();
}
