//===- Findings.cpp - Finished and forgotten problems ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JournalQueries.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"
#include "tarpon/Autotune/Store/Journal.h"

#include <sqlite3.h>

#include <cassert>

using namespace tarpon;
using runtime::Status;

static llvm::StringRef getKind(Finding finding) {
  switch (finding) {
  case Finding::Found:
    return "found";
  case Finding::Searched:
    return "searched";
  case Finding::Verified:
    return "verified";
  }
  assert(false && "unknown finding");
  return "";
}

bool Journal::hasFinding(llvm::StringRef problem, Finding finding) const {
  bool isKnown = false;
  read([&](const StoreFile &file) {
    std::string sql =
        "SELECT 1 FROM sound_finding AS f WHERE problem = ? AND kind = ? AND " +
        std::string(kOfThisBuild) + " AND NOT " + kIsOutdatedFinding;
    SqlStatement rows(file.database(), sql.c_str());
    bindContext(rows.bind(problem).bind(getKind(finding)), context);
    isKnown = rows.next();
    return !rows.failed();
  });
  return isKnown;
}

Status Journal::recordFinding(llvm::StringRef problem, Finding finding) {
  if (hasFinding(problem, finding))
    return runtime::success();
  return write([&](const StoreFile &file) {
    SqlRow row;
    row.set("problem", problem).set("kind", getKind(finding)).set("run", run);
    setContext(row, context);
    return row.insertInto(file.database(), "finding");
  });
}

int64_t Journal::getLastRow() const {
  SqlStatement last(store->database(), "SELECT max(id) FROM measurement");
  return last.next() ? last.integer(0) : 0;
}

Status Journal::forgetSolvers(llvm::StringRef problem,
                              llvm::ArrayRef<std::string> solvers,
                              int64_t lastRow) {
  StoreTransaction transaction(*store);
  if (!transaction.begun())
    return transaction.begun();
  for (const std::string &solver : solvers) {
    std::string sql = "DELETE FROM measurement WHERE problem = ? AND solver = "
                      "? AND id <= ? AND " +
                      std::string(kOnThisMachine);
    SqlStatement rows(store->database(), sql.c_str());
    bindContext(rows.bind(problem).bind(solver).bind(lastRow), context);
    if (!rows.run())
      return store->makeError();
  }
  return transaction.commit();
}

Status Journal::forgetProblem(llvm::StringRef problem) {
  StoreTransaction transaction(*store);
  if (!transaction.begun())
    return transaction.begun();
  for (const char *table : {"measurement", "finding"}) {
    std::string sql = std::string("DELETE FROM ") + table +
                      " WHERE problem = ? AND " + kOnThisMachine;
    SqlStatement rows(store->database(), sql.c_str());
    bindContext(rows.bind(problem), context);
    if (!rows.run())
      return store->makeError();
  }
  return transaction.commit();
}
