//===- Tunings.cpp - Tunings that have not come to their end --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JournalQueries.h"
#include "JournalSchema.h"
#include "ProcessId.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/Journal.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

namespace {
/// A row of the table.
struct Begun {
  int64_t id;
  std::string run;
};
} // namespace

/// Returns the rows of a tuning whose processes have ended, and this process's.
/// Those of other machines and containers are taken to live for a while.
static bool readEnded(const StoreFile &file, llvm::StringRef what,
                      const JournalContext &context, llvm::StringRef own,
                      std::vector<Begun> &ended) {
  std::string sql =
      "SELECT id, run, time < strftime('%Y-%m-%dT%H:%M:%SZ', 'now', ?) AS "
      "isOld FROM tuning WHERE what = ? AND " +
      std::string(kOnThisTarget) + " ORDER BY id";
  SqlStatement rows(file.database(), sql.c_str());
  rows.bind("-" + std::to_string(policy::kLongestMeasurementHours) + " hours");
  bindContext(rows.bind(what), context);
  ended.clear();
  while (rows.next()) {
    std::string run = rows.text("run");
    if (run == own || hasProcessAbandoned(run, rows.integer("isOld")))
      ended.push_back({rows.integer("id"), run});
  }
  return !rows.failed();
}

static bool drop(const StoreFile &file, const std::vector<Begun> &rows) {
  return llvm::all_of(rows, [&](const Begun &row) {
    SqlStatement statement(file.database(), "DELETE FROM tuning WHERE id = ?");
    return statement.bind(row.id).run();
  });
}

/// One row of a process is enough.
Result<std::vector<std::string>> Journal::beginTuning(llvm::StringRef what) {
  std::vector<std::string> runs;
  Status written = write([&](const StoreFile &file) {
    std::vector<Begun> ended;
    if (!file.execute(kTuningSchema) ||
        !readEnded(file, what, context, run, ended))
      return false;
    runs.clear();
    for (const Begun &row : ended)
      if (!llvm::is_contained(runs, row.run))
        runs.push_back(row.run);
    llvm::erase_if(ended, [&](const Begun &row) { return row.run != run; });
    SqlStatement insert(file.database(),
                        "INSERT INTO tuning (what, target, threads, run) "
                        "VALUES (?, ?, ?, ?)");
    insert.bind(what).bind(context.target).bind(context.threads).bind(run);
    return drop(file, ended) && insert.run();
  });
  if (!written)
    return written.error();
  return runs;
}

Status Journal::endTuning(llvm::StringRef what) {
  return write([&](const StoreFile &file) {
    std::vector<Begun> ended;
    return readEnded(file, what, context, run, ended) && drop(file, ended);
  });
}
