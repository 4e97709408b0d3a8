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

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace tarpon;
using runtime::Status;

namespace {
/// A kind of finding with its spelling in the journal.
struct FindingKind {
  Finding finding;
  llvm::StringLiteral name;
};
} // namespace

static constexpr FindingKind kKinds[] = {{Finding::Found, "found"},
                                         {Finding::Searched, "searched"},
                                         {Finding::Verified, "verified"}};

std::vector<FindingRecord>
Journal::getFindings(llvm::StringRef problem,
                     llvm::ArrayRef<std::string> hiddenRuns) const {
  std::vector<FindingRecord> findings;
  read([&](const StoreFile &file) {
    std::string sql = "SELECT kind, candidates, run FROM sound_finding WHERE "
                      "problem = ? AND " +
                      std::string(kOfThisBuild);
    SqlStatement rows(file.database(), sql.c_str());
    bindContext(rows.bind(problem), context);
    findings.clear();
    while (rows.next())
      for (const FindingKind &kind : kKinds)
        if (rows.text(0) == kind.name &&
            !llvm::is_contained(hiddenRuns, rows.text(2)))
          findings.push_back(
              {kind.finding, CandidateDigests::parse(rows.text(1))});
    return !rows.failed();
  });
  return findings;
}

Status Journal::recordFinding(llvm::StringRef problem,
                              const FindingRecord &finding) {
  if (llvm::is_contained(getFindings(problem), finding))
    return runtime::success();
  const FindingKind *kind = llvm::find_if(
      kKinds, [&](const FindingKind &k) { return k.finding == finding.kind; });
  assert(kind != std::end(kKinds) && "every kind has a name");
  return write([&](const StoreFile &file) {
    SqlRow row;
    row.set("problem", problem).set("kind", kind->name).set("run", run);
    row.set("candidates", finding.candidates.str());
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
