//===- InsertRows.h - Many rows by one statement ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_INSERTROWS_H
#define TARPON_LIB_FLEET_INSERTROWS_H

#include "tarpon/Fleet/Database.h"

#include <string>
#include <vector>

namespace tarpon::fleet {

/// The rows of one statement: a statement costs a round trip, and SQLite takes
/// no more than 32766 parameters.
inline constexpr size_t kRowsPerStatement = 250;

/// Inserts rows of so many columns, all of which `values` has one after
/// another, into "TABLE (COLUMN, ...)". Rows that are there already stay as
/// they are. Returns the number of new ones.
runtime::Result<int64_t> insertRows(Database &database, const std::string &into,
                                    size_t columns,
                                    const std::vector<Value> &values);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_INSERTROWS_H
