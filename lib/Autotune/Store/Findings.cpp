//===- Findings.cpp - What was finished, and what is forgotten ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sqlite.h"
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
    SqlStatement rows(
        file.database(),
        "SELECT 1 FROM sound_finding WHERE problem = ? AND target = ? AND "
        "threads = ? AND tarpon = ? AND llvm = ? AND kind = ?");
    rows.bind(problem).bind(context.target).bind(context.threads);
    rows.bind(context.tarpon).bind(context.llvm).bind(getKind(finding));
    isKnown = rows.next();
    return !rows.failed();
  });
  return isKnown;
}

Status Journal::recordFinding(llvm::StringRef problem, Finding finding) {
  if (hasFinding(problem, finding))
    return runtime::success();
  return write([&](const StoreFile &file) {
    SqlStatement insert(
        file.database(),
        "INSERT INTO finding (problem, target, threads, tarpon, "
        "llvm, kind, run) VALUES (?, ?, ?, ?, ?, ?, ?)");
    insert.bind(problem).bind(context.target).bind(context.threads);
    insert.bind(context.tarpon).bind(context.llvm).bind(getKind(finding));
    insert.bind(run);
    return insert.run();
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
    SqlStatement rows(store->database(),
                      "DELETE FROM measurement WHERE problem = ? AND solver = "
                      "? AND target = ? AND threads = ? AND id <= ?");
    rows.bind(problem).bind(solver).bind(context.target);
    rows.bind(context.threads).bind(lastRow);
    if (!rows.run())
      return store->makeError();
  }
  return transaction.commit();
}

Status Journal::forgetProblem(llvm::StringRef problem) {
  StoreTransaction transaction(*store);
  if (!transaction.begun())
    return transaction.begun();
  for (const char *sql :
       {"DELETE FROM measurement WHERE problem = ? AND target = ? AND threads "
        "= ?",
        "DELETE FROM finding WHERE problem = ? AND target = ? AND threads = "
        "?"}) {
    SqlStatement rows(store->database(), sql);
    rows.bind(problem).bind(context.target).bind(context.threads);
    if (!rows.run())
      return store->makeError();
  }
  return transaction.commit();
}
