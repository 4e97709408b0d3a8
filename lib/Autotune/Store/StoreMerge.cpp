//===- StoreMerge.cpp - Taking over records of another store --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportedSchema.h"
#include "Sqlite.h"
#include "StoreFile.h"

#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Runtime/File.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// Runs that ended while they measured are not taken: that they did says
/// something of that machine only. The rows of one candidate come in the order
/// in which they were measured.
static constexpr const char *kMergeMeasurements = R"sql(
INSERT INTO main.measurement (problem, solver, config, target, threads, tarpon,
  llvm, origin, status, samples, median, mad, max_error, relative_l2, workspace,
  rounds, detail, run, time)
SELECT problem, solver, config, target, threads, tarpon,
  llvm, origin, status, samples, median, mad, max_error, relative_l2, workspace,
  rounds, detail, run, time
FROM other.measurement AS o
WHERE status <> 'started' AND NOT EXISTS (
  SELECT 1 FROM main.measurement AS m
  WHERE m.problem = o.problem AND m.solver = o.solver AND m.config = o.config
    AND m.target = o.target AND m.threads = o.threads AND m.tarpon = o.tarpon
    AND m.llvm = o.llvm AND m.origin = o.origin AND m.status <> 'started'
    AND m.time >= o.time)
ORDER BY o.id
)sql";

/// Which searches are finished; what was verified is so on that machine only.
static constexpr const char *kMergeFindings = R"sql(
INSERT INTO main.finding (problem, target, threads, tarpon, llvm, kind, run,
  time)
SELECT problem, target, threads, tarpon, llvm, kind, run, time
FROM other.finding AS o
WHERE kind <> 'verified' AND NOT EXISTS (
  SELECT 1 FROM main.finding AS m
  WHERE m.problem = o.problem AND m.target = o.target
    AND m.threads = o.threads AND m.tarpon = o.tarpon AND m.llvm = o.llvm
    AND m.kind = o.kind)
ORDER BY o.id
)sql";

static constexpr const char *kMergePipelines = R"sql(
INSERT INTO main.pipeline (model, inputs, dtype, layout, fusion, calibration,
  solutions, target, threads, tarpon, llvm, status, accuracy, samples, median,
  mad, rounds, detail, run, time)
SELECT model, inputs, dtype, layout, fusion, calibration,
  solutions, target, threads, tarpon, llvm, status, accuracy, samples, median,
  mad, rounds, detail, run, time
FROM other.pipeline AS o
WHERE NOT EXISTS (
  SELECT 1 FROM main.pipeline AS m
  WHERE m.model = o.model AND m.inputs = o.inputs AND m.dtype = o.dtype
    AND m.layout = o.layout AND m.fusion = o.fusion
    AND m.calibration = o.calibration AND m.solutions = o.solutions
    AND m.target = o.target AND m.threads = o.threads AND m.tarpon = o.tarpon
    AND m.llvm = o.llvm AND m.time >= o.time)
ORDER BY o.id
)sql";

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

/// Of the problems that were added, which have larger ids than those before.
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
static Status insert(const StoreFile &store, const char *sql, int64_t &count) {
  SqlStatement statement(store.database(), sql);
  if (!statement.run())
    return store.makeError();
  count = store.countChanges();
  return runtime::success();
}

/// Tables that came later are missing in older files.
static Result<bool> otherHasTable(const StoreFile &store, const char *name) {
  SqlStatement tables(store.database(),
                      "SELECT 1 FROM other.sqlite_master WHERE name = ?");
  bool isThere = tables.bind(name).next();
  if (tables.failed())
    return store.makeError();
  return isThere;
}

static Status mergeFindings(const StoreFile &store) {
  Result<bool> isThere = otherHasTable(store, "finding");
  if (!isThere)
    return isThere.error();
  int64_t ignored = 0;
  return *isThere ? insert(store, kMergeFindings, ignored) : runtime::success();
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
  if (Status status = insert(store, kMergeMeasurements, summary.measurements);
      !status)
    return status.error();
  if (Status status = mergeFindings(store); !status)
    return status.error();
  if (Status status = insert(store, kMergePipelines, summary.pipelines);
      !status)
    return status.error();
  if (Status status = mergeImported(store, summary.importedProblems); !status)
    return status.error();
  if (Status status = transaction.commit(); !status)
    return status.error();
  return summary;
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
  SqlStatement attach(store->database(), "ATTACH ? AS other");
  if (!attach.bind(otherPath).run())
    return store->makeError();
  Result<MergeSummary> summary = mergeAttached(*store);
  SqlStatement(store->database(), "DETACH other").run();
  return summary;
}
