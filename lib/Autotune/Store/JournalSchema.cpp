//===- JournalSchema.cpp - The tables and views of the journal ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JournalSchema.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace tarpon;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static constexpr auto kKey = ColumnUse::Key;

/// The type of a column with the time of a row's insertion.
static constexpr const char *kTimeType =
    "TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";

/// Rows are only ever inserted, except by tuning policies that replace or
/// delete them and by `graph-opt db prune`. `run` names the process that wrote
/// a row. Times are in milliseconds. `tarpon` is the version of the code
/// generator (RecordVersion.h) and `version` that of the solver; `caches` is ''
/// in rows that were written before cache sizes were recorded; they are valid
/// for any.
static constexpr StoreColumn kMeasurementColumns[] = {
    {"problem", "TEXT NOT NULL", kKey},
    {"solver", "TEXT NOT NULL", kKey},
    {"config", "TEXT NOT NULL", kKey},
    {"target", "TEXT NOT NULL", kKey},
    {"threads", "INTEGER NOT NULL", kKey},
    {"tarpon", "TEXT NOT NULL", kKey},
    {"llvm", "TEXT NOT NULL", kKey},
    {"origin", "TEXT NOT NULL CHECK (origin IN ('race', 'final'))", kKey},
    {"status", "TEXT NOT NULL CHECK (status IN ('started', 'ok', 'wrong', "
               "'crashed', 'timed-out', 'failed'))"},
    {"samples", "TEXT NOT NULL DEFAULT '[]'"},
    {"median", "REAL"},
    {"mad", "REAL"},
    {"max_error", "REAL"},
    {"relative_l2", "REAL"},
    {"workspace", "INTEGER NOT NULL DEFAULT 0"},
    {"rounds", "INTEGER NOT NULL DEFAULT 0"},
    {"detail", "TEXT NOT NULL DEFAULT ''"},
    {"run", "TEXT NOT NULL"},
    {"time", kTimeType},
    {"version", "INTEGER NOT NULL DEFAULT 1", kKey},
    {"caches", "TEXT NOT NULL DEFAULT ''", kKey},
};

/// `passes` holds the versions of the passes and of the calibration, `ranges` a
/// digest of int8's ranges ('' for other dtypes), `layers` the times of layers
/// by problem, as a JSON object.
static constexpr StoreColumn kPipelineColumns[] = {
    {"model", "TEXT NOT NULL", kKey},
    {"inputs", "TEXT NOT NULL", kKey},
    {"dtype", "TEXT NOT NULL", kKey},
    {"layout", "TEXT NOT NULL", kKey},
    {"fusion", "TEXT NOT NULL", kKey},
    {"calibration", "TEXT NOT NULL", kKey},
    {"solutions", "TEXT NOT NULL", kKey},
    {"target", "TEXT NOT NULL", kKey},
    {"threads", "INTEGER NOT NULL", kKey},
    {"tarpon", "TEXT NOT NULL", kKey},
    {"llvm", "TEXT NOT NULL", kKey},
    {"status", "TEXT NOT NULL"},
    {"accuracy", "REAL"},
    {"samples", "TEXT NOT NULL"},
    {"median", "REAL"},
    {"mad", "REAL"},
    {"rounds", "INTEGER NOT NULL"},
    {"detail", "TEXT NOT NULL"},
    {"run", "TEXT NOT NULL"},
    {"time", kTimeType},
    {"passes", "TEXT NOT NULL DEFAULT '1.1'", kKey},
    {"ranges", "TEXT NOT NULL DEFAULT ''", kKey},
    {"caches", "TEXT NOT NULL DEFAULT ''", kKey},
    {"layers", "TEXT NOT NULL DEFAULT '{}'"},
};

/// Problems whose find or search was finished, and those whose record of the
/// system store was verified. `candidates` tells which solvers and configs the
/// problem had then (CandidateDigests.h); it is '' in rows that were written
/// before they were recorded.
static constexpr StoreColumn kFindingColumns[] = {
    {"problem", "TEXT NOT NULL", kKey},
    {"target", "TEXT NOT NULL", kKey},
    {"threads", "INTEGER NOT NULL", kKey},
    {"tarpon", "TEXT NOT NULL", kKey},
    {"llvm", "TEXT NOT NULL", kKey},
    {"kind", "TEXT NOT NULL CHECK (kind IN ('found', 'searched', 'verified'))",
     kKey},
    {"run", "TEXT NOT NULL"},
    {"time", kTimeType},
    {"caches", "TEXT NOT NULL DEFAULT ''", kKey},
    {"candidates", "TEXT NOT NULL DEFAULT ''", kKey},
};

static constexpr StoreTable kTables[] = {
    {"measurement", kMeasurementColumns, "problem, solver, config"},
    {"pipeline", kPipelineColumns, "model"},
    {"finding", kFindingColumns, "problem"}};

llvm::ArrayRef<StoreTable> tarpon::getStoreTables() { return kTables; }

const StoreTable &tarpon::getStoreTable(llvm::StringRef name) {
  const StoreTable *table = llvm::find_if(
      kTables, [&](const StoreTable &t) { return name == t.name; });
  assert(table != std::end(kTables) && "no table of this name");
  return *table;
}

std::string StoreTable::listColumns() const {
  std::string text;
  for (const StoreColumn &column : columns)
    text += (text.empty() ? "" : ", ") + std::string(column.name);
  return text;
}

static std::string makeCreation(const StoreTable &table) {
  std::string name = table.name;
  std::string sql =
      "CREATE TABLE IF NOT EXISTS " + name + " (id INTEGER PRIMARY KEY";
  for (const StoreColumn &column : table.columns)
    sql += std::string(", ") + column.name + " " + column.type;
  return sql + ", checksum INTEGER); CREATE INDEX IF NOT EXISTS " + name +
         "_key ON " + name + " (" + table.indexed + ");\n";
}

std::string tarpon::getJournalSchema() {
  std::string sql;
  for (const StoreTable &table : kTables)
    sql += makeCreation(table);
  return sql + getJournalViews();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

const char *tarpon::getJournalViews() {
  return R"sql(
-- The last result of every candidate at every stage.
CREATE VIEW IF NOT EXISTS latest AS
  SELECT *, max(id) AS last_id FROM measurement WHERE status <> 'started'
  GROUP BY problem, solver, config, target, threads, tarpon, llvm, version,
           caches, origin;
-- Ranked solutions per problem and machine: finalists first, then by time.
CREATE VIEW IF NOT EXISTS find_db AS
  SELECT problem, target, threads, tarpon, llvm,
         rank() OVER (PARTITION BY problem, target, threads, tarpon, llvm,
                                   caches
                      ORDER BY origin <> 'final', median) AS rank,
         solver, config, median, mad, max_error, workspace, origin, time,
         last_id, version, caches
  FROM latest AS l WHERE status = 'ok'
    AND NOT EXISTS (SELECT 1 FROM latest AS bad WHERE bad.problem = l.problem
      AND bad.solver = l.solver AND bad.config = l.config
      AND bad.target = l.target AND bad.threads = l.threads
      AND bad.tarpon = l.tarpon AND bad.llvm = l.llvm
      AND bad.version = l.version AND bad.caches = l.caches
      AND bad.status <> 'ok')
    AND (origin = 'final' OR NOT EXISTS (SELECT 1 FROM latest AS f
      WHERE f.problem = l.problem AND f.solver = l.solver
      AND f.config = l.config AND f.target = l.target
      AND f.threads = l.threads AND f.tarpon = l.tarpon AND f.llvm = l.llvm
      AND f.version = l.version AND f.caches = l.caches
      AND f.origin = 'final'));
-- The best perf config per problem, machine and version of a solver.
CREATE VIEW IF NOT EXISTS perf_db AS
  SELECT problem, target, threads, tarpon, llvm, solver, config, median,
         min(rank) AS rank, version, caches
  FROM find_db GROUP BY problem, target, threads, tarpon, llvm, caches, solver,
                        version;
)sql";
}

const char *tarpon::getDropOfJournalViews() {
  return "DROP VIEW IF EXISTS perf_db; DROP VIEW IF EXISTS find_db; "
         "DROP VIEW IF EXISTS latest;";
}

//===----------------------------------------------------------------------===//
// Migrations
//===----------------------------------------------------------------------===//

/// Version 1 is that of 6d49224 and all earlier files. The first of them had no
/// findings yet. Its `tarpon` was a digest of sources, and up to version 2 so
/// was the version of a model.
static constexpr Migration kMigrations[] = {
    {2, R"sql(
CREATE TABLE IF NOT EXISTS finding (
  id INTEGER PRIMARY KEY,
  problem TEXT NOT NULL, target TEXT NOT NULL, threads INTEGER NOT NULL,
  tarpon TEXT NOT NULL, llvm TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('found', 'searched', 'verified')),
  run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE INDEX IF NOT EXISTS finding_key ON finding (problem);
ALTER TABLE measurement ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE measurement ADD COLUMN caches TEXT NOT NULL DEFAULT '';
ALTER TABLE pipeline ADD COLUMN passes TEXT NOT NULL DEFAULT '1.1';
ALTER TABLE pipeline ADD COLUMN ranges TEXT NOT NULL DEFAULT '';
ALTER TABLE pipeline ADD COLUMN caches TEXT NOT NULL DEFAULT '';
ALTER TABLE finding ADD COLUMN caches TEXT NOT NULL DEFAULT '';
UPDATE measurement SET tarpon = record_version(tarpon, llvm, target);
UPDATE pipeline SET tarpon = record_version(tarpon, llvm, target);
UPDATE finding SET tarpon = record_version(tarpon, llvm, target);
)sql"},
    // The static model of GPUs was named by a digest of its sources.
    {3, R"sql(
ALTER TABLE finding ADD COLUMN candidates TEXT NOT NULL DEFAULT '';
UPDATE measurement SET target = record_target(target);
UPDATE pipeline SET target = record_target(target);
UPDATE finding SET target = record_target(target);
)sql"},
    {4, R"sql(
ALTER TABLE pipeline ADD COLUMN layers TEXT NOT NULL DEFAULT '{}';
)sql"},
};

llvm::ArrayRef<Migration> tarpon::getMigrations() { return kMigrations; }

int64_t tarpon::getJournalVersion() { return getMigrations().back().version; }
