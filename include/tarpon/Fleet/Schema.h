//===- Schema.h - The tables of a fleet -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// problem        every problem that was ever imported, once, by its key
// tag            the tags of problems: any number each
// session        a label and a target, with what a worker has to have in common
// job            a problem to be tuned in a session: one each
// attempt        a lease of a job that has ended, with its cause and log
// worker,        the processes that take jobs, and where they run
// machine
// package        what a builder has compiled for a job, by digest; its bytes
// are package_part   in these rows, or in a shared folder (setting 'packages')
// measurement    what was measured, appended only
// release,       numbered results, with a row per problem
// release_record
// setting        the fleet's settings
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_SCHEMA_H
#define TARPON_FLEET_SCHEMA_H

#include "tarpon/Fleet/Database.h"

namespace tarpon::fleet {

/// The version of the tables that this build reads and writes.
inline constexpr int64_t kSchemaVersion = 3;

/// Creates the tables, and on PostgreSQL the roles tarpon_reader,
/// tarpon_builder, tarpon_evaluator and tarpon_administrator, with the least
/// rights that each needs. Packages are kept in the folder `packages`, which
/// all machines share, or in the database if that is empty. An error if there
/// are tables already.
runtime::Status createSchema(Database &database, const std::string &packages);

/// Brings the tables of an older version to this one's; returns the old
/// version.
runtime::Result<int64_t> upgradeSchema(Database &database);

/// An error if the tables are missing, or are of another version.
runtime::Status checkSchema(Database &database);

/// The value of a setting; "" if it is not set.
runtime::Result<std::string> getSetting(Database &database,
                                        const std::string &name);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_SCHEMA_H
