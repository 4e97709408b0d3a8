//===- StoreMerge.cpp - Merges the records of another store ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportedSchema.h"
#include "JournalSchema.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"

#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Runtime/File.h"

#include <sqlite3.h>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// Copies the rows of a table that are missing here: those for which no row
/// with the same key satisfies `isKnown`, a condition on `m`, the row that is
/// here, and `o`, the one to be copied. The rows of one candidate are in the
/// order of measurement.
static std::string makeMerge(const char *name, const std::string &condition,
                             const std::string &isKnown) {
  const StoreTable &table = getStoreTable(name);
  std::string columns = table.listColumns();
  std::string sql =
      std::string("INSERT INTO main.") + name + " (" + columns + ") SELECT " +
      columns + " FROM other." + name + " AS o WHERE " + condition +
      " AND NOT EXISTS (SELECT 1 FROM main." + name + " AS m WHERE " + isKnown;
  for (const StoreColumn &column : table.columns)
    if (column.use == ColumnUse::Key)
      sql += std::string(" AND m.") + column.name + " = o." + column.name;
  return sql + ") ORDER BY o.id";
}

/// Runs that died during a measurement are not copied: they concern the other
/// machine only.
static std::string mergeMeasurements() {
  return makeMerge("measurement", "status <> 'started'",
                   "m.status <> 'started' AND m.time >= o.time");
}

/// Copies the finished searches. Verifications hold for the other machine only.
static std::string mergeFindings() {
  return makeMerge("finding", "kind <> 'verified'", "true");
}

static std::string mergePipelines() {
  return makeMerge("pipeline", "true", "m.time >= o.time");
}

static constexpr const char *kMergeSources = R"sql(
INSERT OR IGNORE INTO main.imported_source (origin, file, format, arch,
  compute_units, time)
SELECT origin, file, format, arch, compute_units, time
FROM other.imported_source ORDER BY id
)sql";

static constexpr const char *kMergeProblems = R"sql(
INSERT INTO main.imported_problem (source, key, problem)
SELECT ms.id, op.key, op.problem
FROM other.imported_problem AS op
  JOIN other.imported_source AS os ON os.id = op.source
  JOIN main.imported_source AS ms ON ms.file = os.file
WHERE NOT EXISTS (SELECT 1 FROM main.imported_problem AS mp
  WHERE mp.key = op.key AND mp.source = ms.id)
ORDER BY op.id
)sql";

/// Copies the solutions of the added problems, which have larger ids than
/// existing ones.
static constexpr const char *kMergeSolutions = R"sql(
INSERT INTO main.imported_solution (problem, position, solver, algorithm,
  median, workspace, config)
SELECT mp.id, oi.position, oi.solver, oi.algorithm,
  oi.median, oi.workspace, oi.config
FROM main.imported_problem AS mp
  JOIN main.imported_source AS ms ON ms.id = mp.source
  JOIN other.imported_source AS os ON os.file = ms.file
  JOIN other.imported_problem AS op ON op.key = mp.key AND op.source = os.id
  JOIN other.imported_solution AS oi ON oi.problem = op.id
WHERE mp.id > ?
)sql";

/// Runs an insertion and counts its rows.
static Status insert(const StoreFile &store, const std::string &sql,
                     int64_t &count) {
  SqlStatement statement(store.database(), sql.c_str());
  if (!statement.run())
    return store.makeError();
  count = store.countChanges();
  return runtime::success();
}

/// Imported records have tables only if there are any.
static Result<bool> otherHasTable(const StoreFile &store, const char *name) {
  SqlStatement tables(store.database(),
                      "SELECT 1 FROM other.sqlite_master WHERE name = ?");
  bool isThere = tables.bind(name).next();
  if (tables.failed())
    return store.makeError();
  return isThere;
}

static Status mergeImported(const StoreFile &store, int64_t &count) {
  Result<bool> isThere = otherHasTable(store, "imported_solution");
  if (!isThere)
    return isThere.error();
  if (!*isThere)
    return runtime::success();
  if (Status made = store.execute(kImportedSchema); !made)
    return made;
  int64_t ignored = 0;
  SqlStatement last(store.database(),
                    "SELECT coalesce(max(id), 0) FROM main.imported_problem");
  if (!last.next())
    return store.makeError();
  int64_t lastProblem = last.integer(0);
  last.run();
  if (Status status = insert(store, kMergeSources, ignored); !status)
    return status;
  if (Status status = insert(store, kMergeProblems, count); !status)
    return status;
  SqlStatement solutions(store.database(), kMergeSolutions);
  if (!solutions.bind(lastProblem).run())
    return store.makeError();
  return runtime::success();
}

static Result<MergeSummary> mergeAttached(const StoreFile &store) {
  StoreTransaction transaction(store);
  if (!transaction.begun())
    return transaction.begun().error();
  MergeSummary summary;
  int64_t findings = 0;
  for (const auto &[sql, count] :
       {std::pair(mergeMeasurements(), &summary.measurements),
        std::pair(mergeFindings(), &findings),
        std::pair(mergePipelines(), &summary.pipelines)})
    if (Status status = insert(store, sql, *count); !status)
      return status.error();
  if (Status status = mergeImported(store, summary.importedProblems); !status)
    return status.error();
  if (Status status = transaction.commit(); !status)
    return status.error();
  return summary;
}

/// Attaches `other` as a schema of that name: the file itself, or the copy of a
/// file of an older version.
static Status attach(const StoreFile &store, const StoreFile &other) {
  std::string path = other.isMigratedCopy() ? ":memory:" : other.getPath();
  SqlStatement attach(store.database(), "ATTACH ? AS other");
  if (!attach.bind(path).run())
    return store.makeError();
  if (!other.isMigratedCopy())
    return runtime::success();
  int code = copyDatabase(store.database(), "other", other.database());
  if (code == SQLITE_OK)
    return runtime::success();
  SqlStatement(store.database(), "DETACH other").run();
  return Error{"cannot copy journal " + other.getPath() + ": " +
               sqlite3_errstr(code)};
}

Result<MergeSummary> StoreAdmin::merge(const std::string &otherPath) {
  if (runtime::isSameFile(store->getPath(), otherPath))
    return Error{"journal " + otherPath + " cannot be merged with itself"};
  // Damaged and foreign files are refused in the usual words.
  Result<std::unique_ptr<StoreAdmin>> other = openForReading(otherPath);
  if (!other)
    return other.error();
  if (Status sound = (*other)->check(); !sound)
    return sound.error();
  if (Status attached = attach(*store, *(*other)->store); !attached)
    return attached.error();
  Result<MergeSummary> summary = mergeAttached(*store);
  SqlStatement(store->database(), "DETACH other").run();
  return summary;
}
