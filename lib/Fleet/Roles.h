//===- Roles.h - Who may change what ----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_ROLES_H
#define TARPON_LIB_FLEET_ROLES_H

#include "tarpon/Fleet/Database.h"

namespace tarpon::fleet {

/// Makes the roles of PostgreSQL that are missing, and gives each its rights;
/// files of SQLite have the rights of the file. Roles cannot log in: an
/// administrator grants them to users.
runtime::Status grantRights(Database &database);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_ROLES_H
