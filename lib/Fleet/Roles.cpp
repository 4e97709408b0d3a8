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
    "package_part, measurement, release, release_record, reaping";

/// Builders alone record packages, and cannot say that somebody else did;
/// evaluators alone record measurements, at the time that the database says.
/// Neither makes jobs, or changes what a session or a job is about.
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
    "GRANT UPDATE ON reaping TO tarpon_builder, tarpon_evaluator, "
    "tarpon_administrator",
    // Who may only read makes no tables, not even temporary ones.
    "REVOKE TEMPORARY ON DATABASE $DATABASE FROM PUBLIC",
    "REVOKE CREATE ON SCHEMA $SCHEMA FROM PUBLIC"};

/// Rights on columns do not tell phases apart: a worker changes jobs of its own
/// role's phase, takes back leases that have ended, and revives no job. Only a
/// builder says that a job is done. Workers of one role trust each other.
static constexpr const char *kGuardFunction =
    R"(CREATE OR REPLACE FUNCTION $SCHEMA.guard_job() RETURNS trigger
    LANGUAGE plpgsql AS $body$
    BEGIN
      IF pg_has_role(session_user, 'tarpon_administrator', 'MEMBER') THEN
        RETURN NEW;
      END IF;
      IF OLD.state = 'leased' AND OLD.lease_until < $NOW AND
          NEW.state IN ('waiting', 'failed') AND NEW.lease = OLD.lease THEN
        RETURN NEW;
      END IF;
      IF OLD.state IN ('waiting', 'leased') AND NEW.lease >= OLD.lease AND
          pg_has_role(session_user, CASE OLD.phase WHEN 'compile' THEN
            'tarpon_builder' ELSE 'tarpon_evaluator' END, 'MEMBER') AND
          (NEW.state IN ('waiting', 'leased', 'failed') OR
           (NEW.state = 'done' AND OLD.phase = 'compile')) THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'permission denied, % may not make job % of phase % %',
        session_user, OLD.id, OLD.phase, NEW.state;
    END $body$)";

static constexpr const char *kGuard[] = {
    kGuardFunction, "DROP TRIGGER IF EXISTS guard_job ON job",
    "CREATE TRIGGER guard_job BEFORE UPDATE ON job FOR EACH ROW "
    "EXECUTE FUNCTION guard_job()"};

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
  for (llvm::ArrayRef<const char *> list :
       {llvm::ArrayRef(kGrants), llvm::ArrayRef(kGuard)})
    for (std::string statement : list) {
      replace(statement, "$TABLES", kTables);
      replace(statement, "$SCHEMA", names->text(0));
      replace(statement, "$DATABASE", names->text(1));
      if (auto done = database.execute(statement); !done)
        return done.error();
    }
  return success();
}
