//===- WorkList.cpp - The problems that a fleet knows ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/WorkList.h"

#include "InsertRows.h"

#include "tarpon/Driver/Workload.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

Status tarpon::fleet::checkName(const std::string &what,
                                const std::string &name) {
  constexpr size_t kLongest = 100;
  constexpr llvm::StringLiteral kOthers = "._:+-/@ ";
  bool isGood = !name.empty() && name.size() <= kLongest &&
                std::ranges::all_of(name, [&](char c) {
                  return llvm::isAlnum(c) || kOthers.contains(c);
                });
  if (isGood)
    return success();
  std::string shown;
  llvm::raw_string_ostream(shown).write_escaped(name.substr(0, kLongest));
  return Error{what + " '" + shown +
               "' is not 1 to 100 letters, digits and \"._:+-/@ \""};
}

static Result<int64_t> addProblems(Database &database,
                                   llvm::ArrayRef<Problem> problems) {
  std::vector<Value> values;
  for (const Problem &problem : problems)
    for (Value value :
         {Value(problem.key()), Value(getOpName(problem.op).str()),
          Value(printDriverLine(problem)), Value(problem.flops())})
      values.push_back(std::move(value));
  return insertRows(database, "problem (key, op, line, flops)", 4, values);
}

static Result<int64_t> addTags(Database &database,
                               llvm::ArrayRef<Problem> problems,
                               const std::string &tag, bool isRecurrent) {
  std::string keys;
  std::vector<Value> values = {tag, int64_t(isRecurrent)};
  for (const Problem &problem : problems) {
    values.emplace_back(problem.key());
    keys += (keys.empty() ? ":p" : ", :p") + std::to_string(values.size());
  }
  return database.execute(
      "INSERT INTO tag (problem_id, name, is_recurrent) SELECT id, "
      "CAST(:p1 AS TEXT), CAST(:p2 AS BIGINT) FROM problem WHERE key IN (" +
          keys + ") ON CONFLICT DO NOTHING",
      values);
}

Result<ImportCount>
tarpon::fleet::importProblems(Database &database,
                              llvm::ArrayRef<Problem> problems,
                              const std::string &tag, bool isRecurrent) {
  if (Status status = checkName("the tag", tag); !status)
    return status.error();
  ImportCount count;
  Status status = database.transact([&]() -> Status {
    for (size_t first = 0; first < problems.size();
         first += kRowsPerStatement) {
      llvm::ArrayRef<Problem> some =
          problems.drop_front(first).take_front(kRowsPerStatement);
      Result<int64_t> added = addProblems(database, some);
      if (!added)
        return added.error();
      count.added += *added;
      Result<int64_t> tagged = addTags(database, some, tag, isRecurrent);
      if (!tagged)
        return tagged.error();
      count.tagged += *tagged;
    }
    return success();
  });
  if (!status)
    return status.error();
  return count;
}
