//===- Schema.cpp - The tables of a fleet ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Schema.h"

#include "Roles.h"

#include "tarpon/Fleet/Job.h"

using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// The statements that lead from one version to the next: the n-th list to
/// version n + 1.
static constexpr const char *kVersion1[] = {
    R"(CREATE TABLE setting (
      name TEXT PRIMARY KEY, value TEXT NOT NULL))",
    R"(CREATE TABLE problem (
      id $ID, key TEXT NOT NULL UNIQUE, op TEXT NOT NULL, line TEXT NOT NULL,
      flops DOUBLE PRECISION NOT NULL))",
    R"(CREATE TABLE tag (
      problem_id BIGINT NOT NULL REFERENCES problem(id), name TEXT NOT NULL,
      is_recurrent BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (name, problem_id)))",
    // `device` is the model of the machine's CPU or GPU with its driver: that
    // of the first evaluator, unless the session names one.
    R"(CREATE TABLE session (
      id $ID, label TEXT NOT NULL, target TEXT NOT NULL,
      context_target TEXT NOT NULL, context_tarpon TEXT NOT NULL,
      context_llvm TEXT NOT NULL, context_caches TEXT NOT NULL,
      threads BIGINT NOT NULL, kernel_version TEXT NOT NULL,
      is_emulated BIGINT NOT NULL DEFAULT 0, device TEXT NOT NULL DEFAULT '',
      settings TEXT NOT NULL DEFAULT '{}',
      created DOUBLE PRECISION NOT NULL, deleted DOUBLE PRECISION,
      UNIQUE (label, target)))",
    // `lease` counts the job's leases and names the current one.
    R"(CREATE TABLE job (
      id $ID, session_id BIGINT NOT NULL REFERENCES session(id),
      problem_id BIGINT NOT NULL REFERENCES problem(id),
      phase TEXT NOT NULL DEFAULT 'compile'
        CHECK (phase IN ('compile', 'measure')),
      state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN
        ('waiting', 'leased', 'done', 'failed', 'aborted')), reason TEXT NOT NULL DEFAULT '',
      round BIGINT NOT NULL DEFAULT 0, priority DOUBLE PRECISION NOT NULL DEFAULT 0,
      gain DOUBLE PRECISION NOT NULL DEFAULT 0,
      available_at DOUBLE PRECISION NOT NULL DEFAULT 0,
      lease BIGINT NOT NULL DEFAULT 0, lease_until DOUBLE PRECISION,
      leased_at DOUBLE PRECISION, worker_id BIGINT, package TEXT,
      counted_from BIGINT NOT NULL DEFAULT 0,
      known_from BIGINT NOT NULL DEFAULT 0,
      finished DOUBLE PRECISION, UNIQUE (session_id, problem_id)))",
    R"(CREATE INDEX job_waiting ON job (session_id, phase, priority DESC,
      gain DESC, id) WHERE state = 'waiting')",
    R"(CREATE INDEX job_open ON job (session_id)
      WHERE state IN ('waiting', 'leased'))",
    R"(CREATE INDEX job_leased ON job (lease_until) WHERE state = 'leased')",
    R"(CREATE INDEX job_worker ON job (worker_id) WHERE state = 'leased')",
    R"(CREATE TABLE machine (
      id $ID, name TEXT NOT NULL UNIQUE, cpu TEXT NOT NULL,
      cores BIGINT NOT NULL, state TEXT NOT NULL DEFAULT 'ready'
        CHECK (state IN ('ready', 'draining')),
      seen DOUBLE PRECISION NOT NULL))",
    R"(CREATE TABLE worker (
      id $ID, machine_id BIGINT NOT NULL REFERENCES machine(id),
      role TEXT NOT NULL CHECK (role IN ('builder', 'evaluator')), label TEXT NOT NULL, device TEXT NOT NULL,
      process BIGINT NOT NULL, slurm_job TEXT NOT NULL DEFAULT '',
      started DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL,
      ended DOUBLE PRECISION, reason TEXT NOT NULL DEFAULT ''))",
    R"(CREATE INDEX worker_live ON worker (label) WHERE ended IS NULL)",
    R"(CREATE TABLE attempt (
      job_id BIGINT NOT NULL REFERENCES job(id), lease BIGINT NOT NULL,
      phase TEXT NOT NULL CHECK (phase IN ('compile', 'measure')),
      round BIGINT NOT NULL, worker_id BIGINT, started DOUBLE PRECISION NOT NULL, ended DOUBLE PRECISION NOT NULL,
      cause TEXT NOT NULL CHECK (cause IN ($CAUSES)),
      reason TEXT NOT NULL DEFAULT '', log TEXT NOT NULL DEFAULT '', PRIMARY KEY (job_id, lease)))",
    // Jobs of several labels may compile the same bytes, which are dropped with
    // each job's next round.
    R"(CREATE TABLE package (
      digest TEXT NOT NULL, job_id BIGINT NOT NULL, bytes BIGINT NOT NULL,
      parts BIGINT NOT NULL, recorded_by TEXT NOT NULL DEFAULT $USER,
      created DOUBLE PRECISION NOT NULL, PRIMARY KEY (job_id, digest)))",
    R"(CREATE TABLE package_part (
      digest TEXT NOT NULL, job_id BIGINT NOT NULL, part BIGINT NOT NULL,
      base64 TEXT NOT NULL, PRIMARY KEY (job_id, digest, part)))",
    R"(CREATE TABLE measurement (
      id $ID, session_id BIGINT NOT NULL REFERENCES session(id),
      problem_id BIGINT NOT NULL REFERENCES problem(id),
      job_id BIGINT, lease BIGINT, number BIGINT NOT NULL,
      solver TEXT NOT NULL, config TEXT NOT NULL,
      stage TEXT NOT NULL CHECK (stage IN ('race', 'final')),
      status TEXT NOT NULL CHECK (status IN
        ('ok', 'wrong', 'crashed', 'timed-out', 'failed')), samples TEXT NOT NULL,
      median DOUBLE PRECISION NOT NULL, mad DOUBLE PRECISION NOT NULL,
      max_error DOUBLE PRECISION, relative_l2 DOUBLE PRECISION,
      workspace BIGINT NOT NULL, rounds BIGINT NOT NULL,
      detail TEXT NOT NULL DEFAULT '', is_dropped BIGINT NOT NULL DEFAULT 0,
      is_modelled BIGINT NOT NULL DEFAULT 0,
      time DOUBLE PRECISION NOT NULL DEFAULT $NOW,
      UNIQUE (job_id, lease, number)))",
    R"(CREATE INDEX attempt_failed ON attempt (cause, ended)
      WHERE cause <> 'ok')",
    R"(CREATE INDEX worker_machine ON worker (machine_id))",
    R"(CREATE INDEX measurement_problem ON measurement (session_id, problem_id))",
    R"(CREATE TABLE release (
      name TEXT PRIMARY KEY, base TEXT NOT NULL DEFAULT '', label TEXT NOT NULL,
      remark TEXT NOT NULL DEFAULT '', created DOUBLE PRECISION NOT NULL))",
    R"(CREATE TABLE release_record (
      release TEXT NOT NULL REFERENCES release(name),
      session_id BIGINT NOT NULL REFERENCES session(id),
      target TEXT NOT NULL, problem_id BIGINT NOT NULL REFERENCES problem(id),
      measurement_id BIGINT NOT NULL REFERENCES measurement(id),
      PRIMARY KEY (release, target, problem_id)))",
};

/// One row says when ended leases were last looked for: with every worker doing
/// so at each heartbeat, a thousand of them kept a server busy with the entries
/// of leases long gone, which an index holds until it is vacuumed.
static constexpr const char *kVersion2[] = {
    "CREATE TABLE reaping (last DOUBLE PRECISION NOT NULL)",
    "INSERT INTO reaping (last) VALUES (0)",
};

/// Each claim and each end of a phase writes to every index of the jobs, of
/// which two served few queries. Builders read the latest rows of a session, by
/// an index that only a condition of the same form may use: a server that plans
/// while a session has no rows took it for a problem's rows, too. Of millions
/// of candidates, those that have failed are counted by an index of their own.
static constexpr const char *kVersion3[] = {
    "DROP INDEX job_open",
    "DROP INDEX job_worker",
    "CREATE INDEX measurement_session ON measurement ((session_id + 0), id)",
    R"(CREATE INDEX measurement_failed ON measurement (session_id, status,
      problem_id, id) WHERE status <> 'ok')",
};

static constexpr llvm::ArrayRef<const char *> kVersions[] = {
    kVersion1, kVersion2, kVersion3};
static_assert(std::size(kVersions) == kSchemaVersion);

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

static Status runAll(Database &database,
                     llvm::ArrayRef<const char *> statements) {
  std::string causes;
  for (llvm::StringRef name : getCauseNames())
    causes += (causes.empty() ? "'" : ", '") + name.str() + "'";
  for (std::string statement : statements) {
    constexpr llvm::StringLiteral kCauses = "$CAUSES";
    if (size_t at = statement.find(kCauses); at != std::string::npos)
      statement.replace(at, kCauses.size(), causes);
    if (auto done = database.execute(statement); !done)
      return done.error();
  }
  return success();
}

static Result<bool> hasTables(Database &database) {
  auto rows = database.query(
      database.isPostgres()
          ? "SELECT 1 FROM pg_tables WHERE tablename = 'setting' AND "
            "schemaname = current_schema()"
          : "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = "
            "'setting'");
  if (!rows)
    return rows.error();
  return !rows->empty();
}

static Result<int64_t> getVersion(Database &database) {
  Result<bool> exist = hasTables(database);
  if (!exist)
    return exist.error();
  if (!*exist)
    return Error{"the database " + database.getShownUrl() +
                 " has no tables of a fleet: graph-opt fleet init makes them"};
  Result<std::string> version = getSetting(database, "schema");
  if (!version)
    return version.error();
  int64_t number;
  if (llvm::StringRef(*version).getAsInteger(10, number) || number < 1)
    return Error{"the database " + database.getShownUrl() +
                 " does not say the version of its tables"};
  return number;
}

static Status raise(Database &database, int64_t from) {
  for (int64_t version = from; version < kSchemaVersion; ++version)
    if (Status status = runAll(database, kVersions[version]); !status)
      return status;
  auto set = database.execute(
      "INSERT INTO setting (name, value) VALUES ('schema', :p1) "
      "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      {std::to_string(kSchemaVersion)});
  return set ? grantRights(database) : Status(set.error());
}

Status tarpon::fleet::createSchema(Database &database,
                                   const std::string &packages) {
  Result<bool> exist = hasTables(database);
  if (!exist)
    return exist.error();
  if (*exist)
    return Error{"the database " + database.getShownUrl() +
                 " has tables of a fleet already: graph-opt fleet upgrade "
                 "brings them up to date"};
  return database.transact([&]() -> Status {
    if (Status status = raise(database, 0); !status)
      return status;
    auto set = database.execute(
        "INSERT INTO setting (name, value) VALUES ('packages', :p1)",
        {packages});
    return set ? success() : Status(set.error());
  });
}

Result<int64_t> tarpon::fleet::upgradeSchema(Database &database) {
  Result<int64_t> version = getVersion(database);
  if (!version)
    return version;
  if (*version > kSchemaVersion)
    return checkSchema(database).error();
  Status status = database.transact([&] { return raise(database, *version); });
  if (!status)
    return status.error();
  return version;
}

Status tarpon::fleet::checkSchema(Database &database) {
  Result<int64_t> version = getVersion(database);
  if (!version)
    return version.error();
  if (*version > kSchemaVersion)
    return Error{"the database " + database.getShownUrl() +
                 " was made by a newer Tarpon (tables of version " +
                 std::to_string(*version) + ")"};
  if (*version < kSchemaVersion)
    return Error{"the database " + database.getShownUrl() +
                 " has tables of version " + std::to_string(*version) +
                 ": graph-opt fleet upgrade brings them up to date"};
  return success();
}

Result<std::string> tarpon::fleet::getSetting(Database &database,
                                              const std::string &name) {
  auto rows =
      database.query("SELECT value FROM setting WHERE name = :p1", {name});
  if (!rows)
    return rows.error();
  return rows->empty() ? std::string() : rows->front().text(0);
}
