//===- Release.cpp - Numbered releases of results -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Release.h"

#include "InsertRows.h"

#include "tarpon/Fleet/WorkList.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/StringExtras.h"

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

/// Whatever a release without an older one loses would not be seen.
static Status checkBase(Database &database, const ReleaseRequest &request) {
  if (!request.base.empty() || request.accept)
    return success();
  Result<Rows> known = database.query("SELECT 1 FROM release LIMIT 1");
  if (!known)
    return known.error();
  if (!known->empty())
    return Error{"there are releases already: --base names the one to compare "
                 "with (--accept makes one that is compared with none)"};
  return success();
}

static Status checkRequest(Database &database, const ReleaseRequest &request) {
  if (Status status = checkName("the release", request.name); !status)
    return status;
  if (ResultsName::parse(request.name).isLabel)
    return Error{"the release '" + request.name +
                 "' would be taken for a label: it begins with 'label:'"};
  if (showText(request.remark) != request.remark)
    return Error{"the remark '" + showText(request.remark) +
                 "' has characters that are not printed"};
  Result<Rows> known =
      database.query("SELECT 1 FROM release WHERE name = :p1", {request.name});
  if (!known)
    return known.error();
  if (!known->empty())
    return Error{"there is a release '" + request.name +
                 "' already, and releases are not changed"};
  return checkBase(database, request);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Lays the label's results over those of the older release.
static ResultSet overlay(const std::string &name, const ResultSet &base,
                         const ResultSet &label) {
  ResultSet release;
  release.name = ResultsName::forRelease(name);
  release.sessions = base.sessions;
  release.sessions.insert(release.sessions.end(), label.sessions.begin(),
                          label.sessions.end());
  release.records = label.records;
  for (const auto &[problem, record] : base.records) {
    auto tuned = label.tuned.find(problem);
    if (tuned == label.tuned.end())
      release.records.insert({problem, record});
    else if (!label.records.count(problem))
      release.tuned.insert(*tuned);
  }
  return release;
}

int64_t ReleaseOutcome::count(TimeVerdict verdict) const {
  return static_cast<int64_t>(diff.find(verdict).size());
}

static std::string print(int64_t number, const std::string &noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string ReleaseOutcome::describeFaults() const {
  std::vector<std::string> faults;
  auto add = [&](int64_t number, const std::string &noun, const char *one,
                 const char *many) {
    if (number > 0)
      faults.push_back(print(number, noun) + (number == 1 ? one : many));
  };
  add(static_cast<int64_t>(diff.lost.size()), "problem", " is lost",
      " are lost");
  add(count(TimeVerdict::Rose), "time", " rose", " rose");
  add(count(TimeVerdict::Incomparable), "time", " cannot be compared",
      " cannot be compared");
  add(unfinished, "job", " has not ended", " have not ended");
  return llvm::join(faults, ", ");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Status writeRecords(Database &database, const std::string &name,
                           const ResultSet &release) {
  constexpr size_t kColumns = 5;
  std::vector<Value> values;
  auto flush = [&]() -> Status {
    Result<int64_t> added =
        insertRows(database,
                   "release_record (release, session_id, target, problem_id, "
                   "measurement_id)",
                   kColumns, values);
    values.clear();
    return added ? success() : Status(added.error());
  };
  for (const auto &[problem, record] : release.records) {
    for (Value value :
         {Value(name), Value(record.session), Value(record.target),
          Value(record.problem), Value(record.measurement)})
      values.push_back(std::move(value));
    if (values.size() == kColumns * kRowsPerStatement)
      if (Status status = flush(); !status)
        return status;
  }
  return values.empty() ? success() : flush();
}

static Status write(Database &database, const ReleaseRequest &request,
                    const ResultSet &release) {
  return database.transact([&]() -> Status {
    auto made = database.execute(
        "INSERT INTO release (name, base, label, remark, created) VALUES (:p1, "
        ":p2, :p3, :p4, $NOW)",
        {request.name, request.base, request.label, request.remark});
    if (!made)
      return made.error();
    return writeRecords(database, request.name, release);
  });
}

Result<ReleaseOutcome>
tarpon::fleet::makeRelease(Database &database, const ReleaseRequest &request) {
  if (Status status = checkRequest(database, request); !status)
    return status.error();
  ResultSet base;
  base.name = ResultsName::forRelease(request.base);
  if (!request.base.empty()) {
    Result<ResultSet> read = readResultSet(database, base.name);
    if (!read)
      return read.error();
    base = std::move(*read);
  }
  Result<ResultSet> label =
      readResultSet(database, ResultsName::forLabel(request.label));
  if (!label)
    return label.error();
  if (label->records.empty())
    return Error{"label '" + request.label + "' has no verified results"};
  ResultSet release = overlay(request.name, base, *label);
  Result<ReleaseDiff> diff = compareResults(database, base, release);
  if (!diff)
    return diff.error();
  ReleaseOutcome outcome;
  outcome.diff = std::move(*diff);
  outcome.records = static_cast<int64_t>(release.records.size());
  outcome.fromLabel = static_cast<int64_t>(label->records.size());
  outcome.unfinished = label->unfinished;
  outcome.isRefused = !request.accept && !outcome.describeFaults().empty();
  if (outcome.isRefused)
    return outcome;
  if (Status status = write(database, request, release); !status)
    return status.error();
  return outcome;
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

Result<std::vector<ReleaseInfo>>
tarpon::fleet::listReleases(Database &database) {
  Result<Rows> rows = database.query(
      "SELECT name, base, label, remark, created, target, count(*) FROM "
      "release "
      "LEFT JOIN release_record ON release = name GROUP BY name, base, label, "
      "remark, created, target ORDER BY created, name, target");
  if (!rows)
    return rows.error();
  std::vector<ReleaseInfo> releases;
  for (const Row &row : *rows) {
    if (releases.empty() || releases.back().name != row.text(0))
      releases.push_back({row.text(0),
                          row.text(1),
                          row.text(2),
                          row.text(3),
                          row.real(4),
                          {}});
    if (!row.isNull(5))
      releases.back().targets[row.text(5)] = row.integer(6);
  }
  return releases;
}
