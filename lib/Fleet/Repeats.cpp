//===- Repeats.cpp - Candidates of two sessions ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repeats.h"

#include "InsertRows.h"
#include "MeasurementRows.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Result;
using runtime::Status;
using runtime::success;

/// Appends the numbers as parameters, and returns ":p3, :p4" for them.
static std::string bindList(llvm::ArrayRef<int64_t> numbers,
                            std::vector<Value> &values) {
  std::string text;
  for (int64_t number : numbers) {
    values.emplace_back(number);
    text += (text.empty() ? ":p" : ", :p") + std::to_string(values.size());
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

Status tarpon::fleet::readSamples(Database &database,
                                  std::vector<RecordChange> &changes) {
  std::map<int64_t, std::vector<NoisyTime *>> times;
  for (RecordChange &change : changes)
    for (ResultRecord *record : {&change.older, &change.newer})
      times[record->measurement].push_back(&record->time);
  std::vector<int64_t> numbers;
  for (const auto &[number, list] : times)
    numbers.push_back(number);
  for (size_t first = 0; first < numbers.size(); first += kRowsPerStatement) {
    std::vector<Value> values;
    std::string list = bindList(
        llvm::ArrayRef(numbers).drop_front(first).take_front(kRowsPerStatement),
        values);
    Result<Rows> rows = database.query(
        "SELECT id, samples FROM measurement WHERE id IN (" + list + ")",
        values);
    if (!rows)
      return rows.error();
    for (const Row &row : *rows)
      for (NoisyTime *time : times[row.integer(0)])
        time->setSamples(parseSamples(row.text(1)));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

namespace {
/// Two sessions, with the problems of which both have results.
struct SessionPair {
  TimeGroup group;
  int64_t older, newer;

  auto operator<=>(const SessionPair &) const = default;
};
} // namespace

/// More than this many problems tell nothing new about noise.
static constexpr size_t kMostProblems = 500;

/// A row that is compared with itself, as where a label is compared with a
/// release of it, would say nothing.
static constexpr const char *kSelectRepeats =
    "SELECT older.median, older.mad, older.samples, newer.median, newer.mad, "
    "newer.samples FROM measurement AS older JOIN measurement AS newer ON "
    "newer.problem_id = older.problem_id AND newer.solver = older.solver AND "
    "newer.config = older.config AND newer.stage = older.stage WHERE "
    "older.session_id = :p1 AND newer.session_id = :p2 AND older.stage = :p3 "
    "AND (older.session_id <> newer.session_id OR older.id < newer.id) AND "
    "older.status = 'ok' AND newer.status = 'ok' "
    "AND older.is_dropped = 0 AND newer.is_dropped = 0 AND older.is_modelled = "
    "0 AND newer.is_modelled = 0 AND older.median > 0 AND newer.median > 0 AND "
    "older.problem_id IN (";

static NoisyTime readTime(const Row &row, size_t column) {
  NoisyTime time = {row.real(column), row.real(column + 1)};
  time.setSamples(parseSamples(row.text(column + 2)));
  return time;
}

static Status readPairs(Database &database, const SessionPair &sessions,
                        llvm::ArrayRef<int64_t> problems,
                        std::vector<TimePair> &repeats) {
  MeasurementStage stage =
      sessions.group.isFinal ? MeasurementStage::Final : MeasurementStage::Race;
  while (!problems.empty()) {
    std::vector<Value> values = {sessions.older, sessions.newer,
                                 getStageName(stage).str()};
    std::string list = bindList(problems.take_front(kRowsPerStatement), values);
    problems =
        problems.drop_front(std::min(problems.size(), kRowsPerStatement));
    Result<Rows> rows = database.query(kSelectRepeats + list + ")", values);
    if (!rows)
      return rows.error();
    for (const Row &row : *rows)
      repeats.push_back({readTime(row, 0), readTime(row, 3)});
  }
  return success();
}

/// Keeps problems from all over the list.
static std::vector<int64_t> thin(const std::vector<int64_t> &problems) {
  if (problems.size() <= kMostProblems)
    return problems;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < kMostProblems; ++i)
    kept.push_back(problems[i * problems.size() / kMostProblems]);
  return kept;
}

Result<std::map<TimeGroup, std::vector<TimePair>>>
tarpon::fleet::readRepeats(Database &database,
                           const std::vector<RecordChange> &changes) {
  std::map<SessionPair, std::vector<int64_t>> problems;
  for (const RecordChange &change : changes)
    problems[{getGroup(change), change.older.session, change.newer.session}]
        .push_back(change.newer.problem);
  std::map<TimeGroup, std::vector<TimePair>> repeats;
  for (const auto &[sessions, list] : problems)
    if (Status status =
            readPairs(database, sessions, thin(list), repeats[sessions.group]);
        !status)
      return status.error();
  return repeats;
}
