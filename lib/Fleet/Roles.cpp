//===- Roles.cpp - Who may change what ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roles.h"

using namespace tarpon::fleet;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// Roles belong to the server and may be there from another database.
static constexpr const char *kRoles[] = {"tarpon_reader", "tarpon_builder",
                                         "tarpon_evaluator",
                                         "tarpon_administrator"};

/// Builders alone record packages, and cannot say that somebody else did;
/// evaluators alone record measurements. Neither makes jobs, or changes what a
/// session or a job is about.
static constexpr const char *kGrants[] = {
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO tarpon_reader, "
    "tarpon_builder, tarpon_evaluator, tarpon_administrator",
    "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "
    "tarpon_administrator",
    "GRANT INSERT ON attempt, worker, machine TO tarpon_builder, "
    "tarpon_evaluator",
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
    "GRANT INSERT ON measurement TO tarpon_evaluator",
    "GRANT UPDATE (device) ON session TO tarpon_evaluator"};

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

Status tarpon::fleet::grantRights(Database &database) {
  if (!database.isPostgres())
    return success();
  for (const char *role : kRoles)
    if (Status status = createRole(database, role); !status)
      return status;
  for (const char *grant : kGrants)
    if (auto done = database.execute(grant); !done)
      return done.error();
  return success();
}
