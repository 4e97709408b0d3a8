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
#include "tarpon/Autotune/Store/Journal.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

static constexpr const char *kOfThis = " FROM tuning WHERE what = ? AND ";

Result<std::vector<std::string>> Journal::beginTuning(llvm::StringRef what) {
  std::vector<std::string> ended;
  Status written = write([&](const StoreFile &file) {
    if (!file.execute(kTuningSchema))
      return false;
    ended.clear();
    std::string sql = std::string("SELECT DISTINCT run") + kOfThis +
                      kOnThisTarget + " ORDER BY id";
    SqlStatement rows(file.database(), sql.c_str());
    bindContext(rows.bind(what), context);
    while (rows.next())
      if (rows.text(0) == run || !isProcessAlive(rows.text(0)))
        ended.push_back(rows.text(0));
    SqlStatement insert(file.database(),
                        "INSERT INTO tuning (what, target, threads, run) "
                        "VALUES (?, ?, ?, ?)");
    insert.bind(what).bind(context.target).bind(context.threads).bind(run);
    return !rows.failed() && insert.run();
  });
  if (!written)
    return written.error();
  return ended;
}

Status Journal::endTuning(llvm::StringRef what) {
  return write([&](const StoreFile &file) {
    std::string select =
        std::string("SELECT id, run") + kOfThis + kOnThisTarget;
    SqlStatement rows(file.database(), select.c_str());
    bindContext(rows.bind(what), context);
    std::vector<int64_t> ended;
    while (rows.next())
      if (rows.text(1) == run || !isProcessAlive(rows.text(1)))
        ended.push_back(rows.integer(0));
    return !rows.failed() && llvm::all_of(ended, [&](int64_t id) {
      SqlStatement drop(file.database(), "DELETE FROM tuning WHERE id = ?");
      return drop.bind(id).run();
    });
  });
}
