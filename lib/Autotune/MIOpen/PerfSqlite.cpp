//===- PerfSqlite.cpp - MIOpen's perf DBs in SQLite -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table `config` of problems, whose columns are the fields of the text form's
// key, and a table `perf_db` of (solver, config, params).
//
//===----------------------------------------------------------------------===//

#include "Formats.h"
#include "Sqlite/Sqlite.h"

#include "tarpon/Runtime/File.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

#include <sqlite3.h>

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// The columns in the order of the text form's key; the last three are texts.
static constexpr llvm::StringLiteral kColumns[] = {
    "spatial_dim",  "in_channels",   "in_h",          "in_w",
    "in_d",         "fil_h",         "fil_w",         "fil_d",
    "out_channels", "batchsize",     "pad_h",         "pad_w",
    "pad_d",        "conv_stride_h", "conv_stride_w", "conv_stride_d",
    "dilation_h",   "dilation_w",    "dilation_d",    "bias",
    "group_count",  "layout",        "data_type",     "direction"};
static constexpr size_t kNumIntegers = std::size(kColumns) - 3;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string printRowKey(const SqlStatement &rows, int firstColumn) {
  std::string key;
  for (size_t i = 0; i < std::size(kColumns); ++i)
    key += (i > 0 ? "x" : "") + rows.text(firstColumn + static_cast<int>(i));
  return key;
}

/// Reads rows; those of one problem are consecutive.
static void readRows(SqlStatement &rows, Database &database) {
  RecordCollector collector(database);
  Record *record = nullptr;
  std::string lastProblem;
  for (bool isFirst = true; rows.next(); isFirst = false) {
    collector.startLine();
    std::string problem = rows.text(3);
    if (isFirst || problem != lastProblem) {
      collector.dropEmpty();
      record = nullptr;
      lastProblem = problem;
      if (rows.isNull(4))
        collector.reject("there is no config " + problem);
      else
        record = collector.add(printRowKey(rows, 4));
    } else if (!record) {
      collector.reject("its problem is malformed");
    }
    if (!record)
      continue;
    Solution solution;
    solution.solver = rows.text(1);
    solution.config = rows.text(2);
    if (!isName(solution.solver))
      collector.reject(quote(solution.solver) + " is no name of a solver");
    else if (!isConfig(solution.config))
      collector.reject(quote(solution.config) + " is no config of " +
                       solution.solver);
    else
      collector.add(*record, std::move(solution));
  }
  collector.dropEmpty();
}

Status miopen::readPerfSqlite(const std::string &path, Database &database) {
  // SQLite would create a missing file.
  if (Result<runtime::InputFile> file = runtime::InputFile::open(path); !file)
    return file.error();
  sqlite3 *handle = nullptr;
  int opened =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  llvm::scope_exit close([&] { sqlite3_close(handle); });
  auto fail = [&] {
    return Error{"cannot read '" + path +
                 "' as a perf DB of MIOpen: " + sqlite3_errmsg(handle)};
  };
  if (opened != SQLITE_OK)
    return fail();
  std::string sql = "SELECT p.id, p.solver, p.params, p.config";
  for (StringRef column : kColumns)
    sql += (", c." + column).str();
  sql += " FROM perf_db AS p LEFT JOIN config AS c ON c.id = p.config "
         "ORDER BY p.config, p.id";
  SqlStatement rows(handle, sql.c_str());
  if (rows.failed())
    return fail();
  readRows(rows, database);
  if (rows.failed())
    return fail();
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string makeSchema() {
  std::string config = "CREATE TABLE config (id INTEGER PRIMARY KEY ASC",
              index = "CREATE UNIQUE INDEX idx_config ON config (";
  for (auto [i, column] : llvm::enumerate(kColumns)) {
    config += (", " + column +
               (i < kNumIntegers ? " INT NOT NULL" : " TEXT NOT NULL"))
                  .str();
    index += ((i > 0 ? ", " : "") + column).str();
  }
  return "BEGIN;" + config + ");" + index +
         ");CREATE TABLE perf_db (id INTEGER PRIMARY KEY ASC, solver TEXT NOT "
         "NULL, config INTEGER NOT NULL, params TEXT NOT NULL);"
         "CREATE UNIQUE INDEX idx_perf_db ON perf_db (solver, config);";
}

/// Binds the fields of a key; false if their number is not that of the columns.
static bool bindKey(SqlStatement &insert, StringRef key) {
  llvm::SmallVector<StringRef, 24> fields;
  key.split(fields, 'x');
  if (fields.size() != std::size(kColumns))
    return false;
  for (auto [i, field] : llvm::enumerate(fields)) {
    int64_t value = 0;
    if (i >= kNumIntegers)
      insert.bind(field);
    else if (field.getAsInteger(10, value))
      return false;
    else
      insert.bind(value);
  }
  return true;
}

static Status insertRecords(sqlite3 *handle, const Database &database) {
  std::string sql = "INSERT INTO config VALUES (?";
  for (size_t i = 0; i < std::size(kColumns); ++i)
    sql += ", ?";
  sql += ")";
  SqlStatement config(handle, sql.c_str());
  SqlStatement row(handle, "INSERT INTO perf_db (solver, config, params) "
                           "VALUES (?, ?, ?)");
  for (auto [index, record] : llvm::enumerate(database.records)) {
    auto id = static_cast<int64_t>(index) + 1;
    config.reset().bind(id);
    if (!bindKey(config, record.key))
      return Error{"the key " + quote(record.key) + " of " +
                   database.file.name + " has no place in a perf DB of SQLite"};
    if (!config.run())
      return Error{sqlite3_errmsg(handle)};
    for (const Solution &solution : record.solutions) {
      row.reset().bind(solution.solver).bind(id).bind(solution.config);
      if (!row.run())
        return Error{sqlite3_errmsg(handle)};
    }
  }
  return runtime::success();
}

Status miopen::writePerfSqlite(const std::string &path,
                               const Database &database) {
  sqlite3 *handle = nullptr;
  sqlite3_open(":memory:", &handle);
  llvm::scope_exit close([&] { sqlite3_close(handle); });
  auto execute = [&](const std::string &sql) -> Status {
    if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) !=
        SQLITE_OK)
      return Error{sqlite3_errmsg(handle)};
    return runtime::success();
  };
  if (Status status = execute(makeSchema()); !status)
    return status;
  if (Status status = insertRecords(handle, database); !status)
    return status;
  if (Status status = execute("COMMIT"); !status)
    return status;
  sqlite3_int64 size = 0;
  unsigned char *bytes = sqlite3_serialize(handle, "main", &size, 0);
  llvm::scope_exit release([&] { sqlite3_free(bytes); });
  if (!bytes)
    return Error{"cannot write '" + path + "': there is not enough memory"};
  return runtime::writeFileAtomically(
      path,
      {{reinterpret_cast<const char *>(bytes), static_cast<size_t>(size)}});
}
