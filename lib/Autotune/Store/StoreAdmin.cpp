//===- StoreAdmin.cpp - Maintenance of a store ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "BuildContext.h"
#include "ImportedSchema.h"
#include "JournalQueries.h"
#include "RecordVersion.h"
#include "RowChecksum.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"

#include "tarpon/Problem/Problem.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

StoreAdmin::StoreAdmin(std::unique_ptr<StoreFile> store)
    : store(std::move(store)) {}

StoreAdmin::~StoreAdmin() = default;

Result<std::unique_ptr<StoreAdmin>>
StoreAdmin::openForReading(const std::string &path) {
  Result<std::unique_ptr<StoreFile>> store =
      StoreFile::open(path, StoreFile::Mode::ReadOnly);
  if (!store)
    return store.error();
  return std::unique_ptr<StoreAdmin>(new StoreAdmin(std::move(*store)));
}

Result<std::unique_ptr<StoreAdmin>>
StoreAdmin::openForWriting(const std::string &path) {
  Result<std::unique_ptr<StoreFile>> store =
      StoreFile::open(path, StoreFile::Mode::ReadWrite);
  if (!store)
    return store.error();
  return std::unique_ptr<StoreAdmin>(new StoreAdmin(std::move(*store)));
}

Result<std::unique_ptr<StoreAdmin>>
StoreAdmin::openOrMake(const std::string &path) {
  Result<std::unique_ptr<StoreFile>> store =
      StoreFile::open(path, StoreFile::Mode::Create);
  if (!store)
    return store.error();
  return std::unique_ptr<StoreAdmin>(new StoreAdmin(std::move(*store)));
}

static bool hasImported(sqlite3 *database, const char *schema) {
  std::string sql = std::string("SELECT 1 FROM ") + schema +
                    ".sqlite_master WHERE name = 'imported_solution'";
  return SqlStatement(database, sql.c_str()).next();
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {
/// Orders contexts by all their fields.
struct ContextOrder {
  static auto tie(const JournalContext &c) {
    return std::tie(c.target, c.threads, c.tarpon, c.llvm);
  }
  bool operator()(const JournalContext &a, const JournalContext &b) const {
    return tie(a) < tie(b);
  }
};
} // namespace

static JournalContext readContext(const SqlStatement &rows, int column) {
  return {rows.text(column), rows.integer(column + 1), rows.text(column + 2),
          rows.text(column + 3)};
}

/// Reads rows of a text and a number.
static bool readCounts(sqlite3 *database, const char *sql,
                       std::map<std::string, int64_t> &counts) {
  SqlStatement rows(database, sql);
  while (rows.next())
    counts[rows.text(0)] = rows.integer(1);
  return !rows.failed();
}

Result<StoreStats> StoreAdmin::getStats() const {
  StoreStats stats;
  std::map<JournalContext, ContextCount, ContextOrder> contexts;
  SqlStatement rows(store->database(),
                    "SELECT target, threads, tarpon, llvm, count(*), "
                    "count(DISTINCT problem), sum(version <> "
                    "solver_version(solver)) FROM measurement WHERE status <> "
                    "'started' GROUP BY target, threads, tarpon, llvm");
  while (rows.next()) {
    ContextCount &count = contexts[readContext(rows, 0)];
    count.measurements = rows.integer(4);
    count.problems = rows.integer(5);
    count.outdated = rows.integer(6);
  }
  SqlStatement pipelines(store->database(),
                         "SELECT target, threads, tarpon, llvm, count(*), "
                         "sum(passes <> ?) FROM pipeline GROUP BY target, "
                         "threads, tarpon, llvm");
  pipelines.bind(getPassesVersion());
  while (pipelines.next()) {
    ContextCount &count = contexts[readContext(pipelines, 0)];
    count.pipelines = pipelines.integer(4);
    count.outdated += pipelines.integer(5);
  }
  bool isRead =
      !rows.failed() && !pipelines.failed() &&
      readCounts(store->database(),
                 "SELECT solver, count(*) FROM measurement WHERE status <> "
                 "'started' GROUP BY solver",
                 stats.solvers) &&
      readCounts(store->database(),
                 "SELECT status, count(*) FROM measurement WHERE status <> "
                 "'started' GROUP BY status",
                 stats.statuses) &&
      readCounts(store->database(),
                 "SELECT origin, count(*) FROM measurement WHERE status <> "
                 "'started' GROUP BY origin",
                 stats.stages);
  if (!isRead)
    return store->makeError();
  for (auto &[context, count] : contexts) {
    count.context = context;
    count.isStale = isStale(context);
    stats.measurements += count.measurements;
    stats.pipelines += count.pipelines;
    stats.stale +=
        count.isStale ? count.measurements + count.pipelines : count.outdated;
    stats.contexts.push_back(std::move(count));
  }
  return stats;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

Error StoreAdmin::makeInconsistencyError(const std::string &what) const {
  return {"journal " + store->getPath() + " contradicts itself: " + what};
}

namespace {
/// Impossible rows, and the query that counts them.
struct Rule {
  const char *what, *sql;
};
} // namespace

static constexpr Rule kJournalRules[] = {
    {"measurements have impossible times",
     "SELECT count(*) FROM measurement WHERE status = 'ok' AND (median IS NULL "
     "OR NOT (median > 0 AND median < 9e999))"},
    {"measurements have samples that cannot be read",
     "SELECT count(*) FROM measurement WHERE NOT json_valid(samples)"},
    {"measurements have a negative workspace",
     "SELECT count(*) FROM measurement WHERE workspace < 0"},
    {"pipelines have impossible times",
     "SELECT count(*) FROM pipeline WHERE status = 'ok' AND NOT (median > 0 "
     "AND median < 9e999)"}};

static constexpr Rule kImportedRules[] = {
    {"imported problems belong to no file",
     "SELECT count(*) FROM imported_problem WHERE source NOT IN (SELECT id "
     "FROM imported_source)"},
    {"imported problems have no solutions",
     "SELECT count(*) FROM imported_problem AS p WHERE NOT EXISTS (SELECT 1 "
     "FROM imported_solution WHERE problem = p.id)"},
    {"imported solutions belong to no problem",
     "SELECT count(*) FROM imported_solution WHERE problem NOT IN (SELECT id "
     "FROM imported_problem)"}};

Status StoreAdmin::checkTables() const {
  std::optional<int64_t> unsound = countUnsoundRows(store->database());
  if (!unsound)
    return store->makeError();
  if (*unsound != 0)
    return makeInconsistencyError(std::to_string(*unsound) +
                                  " rows do not fit their checksum");
  std::vector<Rule> rules(std::begin(kJournalRules), std::end(kJournalRules));
  if (hasImported(store->database(), "main"))
    rules.insert(rules.end(), std::begin(kImportedRules),
                 std::end(kImportedRules));
  for (const Rule &rule : rules) {
    SqlStatement count(store->database(), rule.sql);
    if (!count.next())
      return store->makeError();
    if (count.integer(0) != 0)
      return makeInconsistencyError(std::to_string(count.integer(0)) + " " +
                                    rule.what);
  }
  return runtime::success();
}

/// Checks keys of this version only: those of other versions may have another
/// form.
Status StoreAdmin::checkProblems() const {
  SqlStatement rows(store->database(),
                    "SELECT target, threads, tarpon, llvm, problem FROM "
                    "measurement GROUP BY target, threads, tarpon, llvm, "
                    "problem");
  while (rows.next()) {
    std::string problem = rows.text(4), fault;
    if (!isStale(readContext(rows, 0)) &&
        mlir::failed(parseProblem(problem, &fault)))
      return makeInconsistencyError("'" + problem +
                                    "' is no problem: " + fault);
  }
  if (rows.failed())
    return store->makeError();
  return runtime::success();
}

Status StoreAdmin::check() const {
  SqlStatement rows(store->database(), "PRAGMA integrity_check(1)");
  if (!rows.next())
    return store->makeError();
  if (rows.text(0) != "ok")
    return Error{"journal " + store->getPath() +
                 " is damaged: " + getFirstFault(rows.text(0))};
  if (Status status = checkTables(); !status)
    return status;
  return checkProblems();
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

/// Returns true on success, and adds the number of rows to `count`.
static bool removeStale(const StoreFile &store, const std::string &table,
                        int64_t &count) {
  std::vector<JournalContext> stale;
  std::string contexts =
      "SELECT DISTINCT target, threads, tarpon, llvm FROM " + table;
  SqlStatement rows(store.database(), contexts.c_str());
  while (rows.next())
    if (JournalContext context = readContext(rows, 0); isStale(context))
      stale.push_back(std::move(context));
  if (rows.failed())
    return false;
  std::string deletion =
      "DELETE FROM " + table +
      " WHERE target = ? AND threads = ? AND tarpon = ? AND llvm = ?";
  for (const JournalContext &context : stale) {
    SqlStatement statement(store.database(), deletion.c_str());
    statement.bind(context.target).bind(context.threads);
    statement.bind(context.tarpon).bind(context.llvm);
    if (!statement.run())
      return false;
    count += store.countChanges();
  }
  return true;
}

/// Removes the rows of solvers and passes that have another version by now, and
/// the findings that depend on them: to a build of those versions they would
/// seem to hold.
static bool removeOutdated(const StoreFile &store, PruneSummary &summary) {
  if (!SqlStatement(store.database(),
                    "DELETE FROM finding WHERE NOT "
                    "are_candidates_of_this_build(candidates)")
           .run())
    return false;
  SqlStatement rows(store.database(), "DELETE FROM measurement WHERE version "
                                      "<> solver_version(solver)");
  if (!rows.run())
    return false;
  summary.measurements += store.countChanges();
  SqlStatement pipelines(store.database(),
                         "DELETE FROM pipeline WHERE passes <> ?");
  if (!pipelines.bind(getPassesVersion()).run())
    return false;
  summary.pipelines += store.countChanges();
  return true;
}

Result<PruneSummary> StoreAdmin::prune(bool isDryRun) {
  StoreTransaction transaction(*store);
  if (!transaction.begun())
    return transaction.begun().error();
  PruneSummary summary;
  int64_t findings = 0;
  if (!removeStale(*store, "measurement", summary.measurements) ||
      !removeStale(*store, "pipeline", summary.pipelines) ||
      !removeStale(*store, "finding", findings) ||
      !removeOutdated(*store, summary))
    return store->makeError();
  // Rows whose checksum does not fit are pruned as well.
  for (auto [table, count] :
       {std::pair("measurement", &summary.measurements),
        std::pair("pipeline", &summary.pipelines),
        std::pair("finding", static_cast<int64_t *>(nullptr))}) {
    if (Status deleted = store->execute(getDeletionOfUnsoundRows(table));
        !deleted)
      return deleted.error();
    if (count)
      *count += store->countChanges();
  }
  // A dry run is rolled back.
  if (isDryRun)
    return summary;
  if (Status committed = transaction.commit(); !committed)
    return committed.error();
  // Freed pages are returned to the file system, unless another process is in
  // the way; otherwise SQLite uses them for new rows.
  SqlStatement(store->database(), "VACUUM").run();
  return summary;
}
