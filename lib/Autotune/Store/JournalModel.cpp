//===- JournalModel.cpp - The learned model in a journal ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JournalSchema.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"
#include "tarpon/Autotune/Store/Journal.h"

using namespace tarpon;
using runtime::Status;

std::vector<std::string> Journal::getProblems() const {
  std::vector<std::string> problems;
  read([&](const StoreFile &file) {
    SqlStatement rows(file.database(),
                      "SELECT DISTINCT problem FROM measurement "
                      "WHERE target = ? AND threads = ? ORDER BY problem");
    rows.bind(context.target).bind(context.threads);
    problems.clear();
    while (rows.next())
      problems.push_back(rows.text(0));
    return !rows.failed();
  });
  return problems;
}

std::vector<JournalContext> Journal::listContexts() const {
  std::vector<JournalContext> contexts;
  read([&](const StoreFile &file) {
    // Predictions of a model are no measurements. Of the sizes of caches, those
    // of the most records are taken.
    SqlStatement rows(file.database(),
                      "SELECT target, caches, max(records) FROM "
                      "(SELECT target, caches, count(*) AS records "
                      "FROM measurement WHERE threads = ? "
                      "AND target NOT LIKE '%/model:%' GROUP BY target, caches)"
                      " GROUP BY target ORDER BY target");
    rows.bind(context.threads);
    contexts.clear();
    while (rows.next()) {
      JournalContext &other = contexts.emplace_back(context);
      other.target = rows.text(0);
      other.caches = rows.text(1);
    }
    return !rows.failed();
  });
  return contexts;
}

std::optional<std::string> Journal::getModel() const {
  std::optional<std::string> bytes;
  read([&](const StoreFile &file) {
    // The query fails on a file without the table.
    SqlStatement rows(file.database(),
                      "SELECT data FROM model WHERE target = ? AND "
                      "threads = ? ORDER BY id DESC LIMIT 1");
    rows.bind(context.target).bind(context.threads);
    bytes.reset();
    if (rows.next())
      bytes = rows.text(0);
    return !rows.failed();
  });
  return bytes;
}

Status Journal::recordModel(llvm::StringRef bytes) {
  // A rollback clears SQLite's error, so that it is kept here.
  Status failure = runtime::success();
  Status written = write([&](const StoreFile &file) {
    StoreTransaction transaction(file);
    failure = transaction.begun();
    if (failure)
      failure = file.execute(kModelSchema);
    if (!failure)
      return false;
    SqlStatement drop(file.database(),
                      "DELETE FROM model WHERE target = ? AND threads = ?");
    drop.bind(context.target).bind(context.threads);
    SqlStatement insert(
        file.database(),
        "INSERT INTO model (target, threads, tarpon, llvm, data, run) "
        "VALUES (?, ?, ?, ?, ?, ?)");
    insert.bind(context.target).bind(context.threads);
    insert.bind(context.tarpon).bind(context.llvm).bindBlob(bytes).bind(run);
    failure = drop.run() && insert.run() ? transaction.commit()
                                         : Status(file.makeError());
    return static_cast<bool>(failure);
  });
  return written || failure ? written : failure;
}
