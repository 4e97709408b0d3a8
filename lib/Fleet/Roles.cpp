//===- Roles.cpp - Who may change what ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roles.h"

using namespace tarpon::fleet;
using tarpon::runtime::Result;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// Roles belong to the server and may be there from another database.
static constexpr const char *kRoles[] = {"tarpon_reader", "tarpon_builder",
                                         "tarpon_evaluator",
                                         "tarpon_administrator"};

/// The tables by name: a schema may have others.
static constexpr const char *kTables =
    "setting, problem, tag, session, job, machine, worker, attempt, package, "
    "package_part, measurement, release, release_record";

/// Builders alone record packages, and cannot say that somebody else did;
/// evaluators alone record measurements, at the time that the database says.
/// Neither makes jobs, or changes what a session or a job is about. Workers may
/// spoil the state of each other's jobs, but no result that was recorded.
static constexpr const char *kGrants[] = {
    "GRANT USAGE ON SCHEMA $SCHEMA TO tarpon_reader, tarpon_builder, "
    "tarpon_evaluator, tarpon_administrator",
    "GRANT SELECT ON $TABLES TO tarpon_reader, tarpon_builder, "
    "tarpon_evaluator, tarpon_administrator",
    "GRANT INSERT, UPDATE, DELETE ON setting, problem, tag, session, job, "
    "machine, worker, attempt, release, release_record TO "
    "tarpon_administrator",
    "GRANT DELETE ON package, package_part TO tarpon_administrator",
    "GRANT INSERT ON attempt TO tarpon_builder, tarpon_evaluator",
    "GRANT INSERT (name, cpu, cores, seen) ON machine TO tarpon_builder, "
    "tarpon_evaluator",
    "GRANT INSERT (machine_id, role, label, device, process, slurm_job, "
    "started, seen) ON worker TO tarpon_builder, tarpon_evaluator",
    "GRANT UPDATE (cpu, cores, seen) ON machine TO tarpon_builder, "
    "tarpon_evaluator",
    "GRANT UPDATE (seen, ended, reason) ON worker TO tarpon_builder, "
    "tarpon_evaluator",
    "GRANT UPDATE (phase, state, reason, round, gain, available_at, lease, "
    "lease_until, leased_at, worker_id, finished) ON job TO tarpon_builder, "
    "tarpon_evaluator",
    "GRANT UPDATE (package) ON job TO tarpon_builder",
    "GRANT INSERT (digest, job_id, bytes, parts, created) ON package TO "
    "tarpon_builder",
    "GRANT INSERT, DELETE ON package_part TO tarpon_builder",
    "GRANT INSERT (session_id, problem_id, job_id, lease, number, solver, "
    "config, stage, status, samples, median, mad, max_error, relative_l2, "
    "workspace, rounds, detail, is_dropped, is_modelled) ON measurement TO "
    "tarpon_evaluator",
    "GRANT UPDATE (device) ON session TO tarpon_evaluator",
    // Who may only read makes no tables, not even temporary ones.
    "REVOKE TEMPORARY ON DATABASE $DATABASE FROM PUBLIC",
    "REVOKE CREATE ON SCHEMA $SCHEMA FROM PUBLIC"};

static Status createRole(Database &database, const char *role) {
  auto known = database.query("SELECT 1 FROM pg_roles WHERE rolname = :p1",
                              {std::string(role)});
  if (!known)
    return known.error();
  if (!known->empty())
    return success();
  auto made = database.execute(std::string("CREATE ROLE ") + role + " NOLOGIN");
  return made ? success() : Status(made.error());
}

static void replace(std::string &text, llvm::StringRef word,
                    llvm::StringRef by) {
  if (size_t at = text.find(word.str()); at != std::string::npos)
    text.replace(at, word.size(), by.str());
}

Status tarpon::fleet::grantRights(Database &database) {
  if (!database.isPostgres())
    return success();
  for (const char *role : kRoles)
    if (Status status = createRole(database, role); !status)
      return status;
  // The tables are in the first schema of the search path.
  Result<Row> names =
      takeRow(database.query("SELECT quote_ident(current_schema()), "
                             "quote_ident(current_database())"),
              "the database does not say its name");
  if (!names)
    return names.error();
  for (std::string grant : kGrants) {
    replace(grant, "$TABLES", kTables);
    replace(grant, "$SCHEMA", names->text(0));
    replace(grant, "$DATABASE", names->text(1));
    if (auto done = database.execute(grant); !done)
      return done.error();
  }
  return success();
}
