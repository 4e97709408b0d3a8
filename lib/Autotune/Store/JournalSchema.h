//===- JournalSchema.h - The tables and views of the journal ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_JOURNALSCHEMA_H
#define TARPON_LIB_AUTOTUNE_STORE_JOURNALSCHEMA_H

#include <cstdint>

namespace tarpon {

/// "TPNJ": tells a journal from other SQLite files.
inline constexpr int64_t kJournalApplicationId = 0x54504e4a;
inline constexpr int64_t kJournalVersion = 1;

/// Idempotent, so that two processes may create the file at the same time. Rows
/// are only ever inserted, but for tuning policies that replace or delete them
/// and `graph-opt db prune`. `run` names the process that wrote a row. Times
/// are in milliseconds.
inline constexpr const char *kJournalSchema = R"sql(
CREATE TABLE IF NOT EXISTS measurement (
  id INTEGER PRIMARY KEY,
  problem TEXT NOT NULL, solver TEXT NOT NULL, config TEXT NOT NULL,
  target TEXT NOT NULL, threads INTEGER NOT NULL,
  tarpon TEXT NOT NULL, llvm TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('race', 'final')),
  status TEXT NOT NULL CHECK (status IN
    ('started', 'ok', 'wrong', 'crashed', 'timed-out', 'failed')),
  samples TEXT NOT NULL DEFAULT '[]',
  median REAL, mad REAL, max_error REAL, relative_l2 REAL,
  workspace INTEGER NOT NULL DEFAULT 0,
  rounds INTEGER NOT NULL DEFAULT 0,
  detail TEXT NOT NULL DEFAULT '',
  run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE INDEX IF NOT EXISTS measurement_key
  ON measurement (problem, solver, config);
CREATE TABLE IF NOT EXISTS pipeline (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL, inputs TEXT NOT NULL,
  dtype TEXT NOT NULL, layout TEXT NOT NULL, fusion TEXT NOT NULL,
  calibration TEXT NOT NULL, solutions TEXT NOT NULL,
  target TEXT NOT NULL, threads INTEGER NOT NULL,
  tarpon TEXT NOT NULL, llvm TEXT NOT NULL,
  status TEXT NOT NULL, accuracy REAL,
  samples TEXT NOT NULL, median REAL, mad REAL,
  rounds INTEGER NOT NULL,
  detail TEXT NOT NULL, run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE INDEX IF NOT EXISTS pipeline_key ON pipeline (model);
-- The last result of every candidate at every stage.
CREATE VIEW IF NOT EXISTS latest AS
  SELECT *, max(id) AS last_id FROM measurement WHERE status <> 'started'
  GROUP BY problem, solver, config, target, threads, tarpon, llvm, origin;
-- Ranked solutions per problem: finalists first, then by time.
CREATE VIEW IF NOT EXISTS find_db AS
  SELECT problem, target, threads, tarpon, llvm,
         rank() OVER (PARTITION BY problem, target, threads, tarpon, llvm
                      ORDER BY origin <> 'final', median) AS rank,
         solver, config, median, mad, max_error, workspace, origin, time, last_id
  FROM latest AS l WHERE status = 'ok'
    AND NOT EXISTS (SELECT 1 FROM latest AS bad WHERE bad.problem = l.problem
      AND bad.solver = l.solver AND bad.config = l.config
      AND bad.target = l.target AND bad.threads = l.threads
      AND bad.tarpon = l.tarpon AND bad.llvm = l.llvm
      AND bad.status <> 'ok')
    AND (origin = 'final' OR NOT EXISTS (SELECT 1 FROM latest AS f
      WHERE f.problem = l.problem AND f.solver = l.solver
      AND f.config = l.config AND f.target = l.target
      AND f.threads = l.threads AND f.tarpon = l.tarpon AND f.llvm = l.llvm
      AND f.origin = 'final'));
-- The best perf config per problem and solver.
CREATE VIEW IF NOT EXISTS perf_db AS
  SELECT problem, target, threads, tarpon, llvm, solver, config, median,
         min(rank) AS rank
  FROM find_db GROUP BY problem, target, threads, tarpon, llvm, solver;
)sql";

/// Problems whose find or search was finished, and those whose record of the
/// system store was checked. Additive: files without it are valid.
inline constexpr const char *kFindingSchema = R"sql(
CREATE TABLE IF NOT EXISTS finding (
  id INTEGER PRIMARY KEY,
  problem TEXT NOT NULL, target TEXT NOT NULL, threads INTEGER NOT NULL,
  tarpon TEXT NOT NULL, llvm TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('found', 'searched', 'verified')),
  run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE INDEX IF NOT EXISTS finding_key ON finding (problem);
)sql";

/// Learned models, as bytes; the last one of a target and a number of threads
/// counts. Made when the first one is written: files without it are valid.
inline constexpr const char *kModelSchema = R"sql(
CREATE TABLE IF NOT EXISTS model (
  id INTEGER PRIMARY KEY,
  target TEXT NOT NULL, threads INTEGER NOT NULL,
  tarpon TEXT NOT NULL, llvm TEXT NOT NULL,
  data BLOB NOT NULL,
  run TEXT NOT NULL,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
)sql";

/// Every column that is read or written, to see that they are there.
inline constexpr const char *kMeasurementColumns =
    "SELECT id, problem, solver, config, target, threads, tarpon, llvm, "
    "origin, status, samples, median, mad, max_error, relative_l2, workspace, "
    "rounds, detail, run, time FROM measurement";
inline constexpr const char *kPipelineColumns =
    "SELECT id, model, inputs, dtype, layout, fusion, calibration, solutions, "
    "target, threads, tarpon, llvm, status, accuracy, samples, median, mad, "
    "rounds, detail, run, time FROM pipeline";

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_JOURNALSCHEMA_H
