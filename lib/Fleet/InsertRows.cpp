//===- InsertRows.cpp - Many rows by one statement ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertRows.h"

using namespace tarpon::fleet;

tarpon::runtime::Result<int64_t>
tarpon::fleet::insertRows(Database &database, const std::string &into,
                          size_t columns, const std::vector<Value> &values) {
  std::string sql = "INSERT INTO " + into + " VALUES ";
  for (size_t i = 0; i < values.size(); ++i) {
    sql += i % columns == 0 ? (i ? ", (" : "(") : ", ";
    sql += ":p" + std::to_string(i + 1);
    if (i % columns == columns - 1)
      sql += ")";
  }
  return database.execute(sql + " ON CONFLICT DO NOTHING", values);
}
