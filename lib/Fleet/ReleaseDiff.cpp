//===- ReleaseDiff.cpp - Differences of two sets of results ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repeats.h"

#include "tarpon/Runtime/Measure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Result;
using runtime::Status;
using runtime::success;

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

using Property = std::pair<const char *, std::string (*)(const Session &)>;

static constexpr Property kProperties[] = {
    {"device", [](const Session &s) { return s.device; }},
    {"threads", [](const Session &s) { return std::to_string(s.threads); }},
    {"caches", [](const Session &s) { return s.context.caches; }},
    {"LLVM", [](const Session &s) { return s.context.llvm; }},
    {"code generator", [](const Session &s) { return s.context.tarpon; }},
    {"kernels", [](const Session &s) { return s.kernelVersion; }}};

/// The values of the sessions with records on that target: "a, b".
static std::string listValues(const ResultSet &set, const std::string &target,
                              std::string (*get)(const Session &)) {
  std::set<std::string> values;
  for (const Session &session : set.sessions)
    if (session.target == target)
      values.insert(get(session));
  return llvm::join(values, ", ");
}

static std::set<std::string> listTargets(const ResultSet &set) {
  std::set<std::string> targets;
  for (const Session &session : set.sessions)
    targets.insert(session.target);
  return targets;
}

static void compareSessions(const ResultSet &older, const ResultSet &newer,
                            const std::string &target, ReleaseDiff &diff) {
  for (const auto &[property, get] : kProperties) {
    std::string before = listValues(older, target, get),
                after = listValues(newer, target, get);
    if (before != after)
      diff.sessions.push_back({target, property, before, after});
  }
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Returns false for a problem that a label has left alone.
static bool hasTuned(const ResultSet &set, const TargetProblem &problem) {
  return !set.name.isLabel || set.tuned.count(problem);
}

static std::string findReason(const ResultSet &set,
                              const TargetProblem &problem) {
  auto found = set.tuned.find(problem);
  return found == set.tuned.end() ? "" : found->second;
}

static void addOlder(const ResultSet &newer, const TargetProblem &problem,
                     const ResultRecord &record, ReleaseDiff &diff) {
  if (!hasTuned(newer, problem)) {
    ++diff.notTuned;
    return;
  }
  ++diff.wins[record.solver].first;
  auto found = newer.records.find(problem);
  if (found == newer.records.end())
    diff.lost.push_back({record, findReason(newer, problem)});
  else if (found->second.measurement == record.measurement)
    ++diff.same;
  else
    diff.changes.push_back({record, found->second, Conditions::Different, {}});
}

static void addNewer(const ResultSet &older, const TargetProblem &problem,
                     const ResultRecord &record, ReleaseDiff &diff) {
  if (!hasTuned(older, problem)) {
    ++diff.notTuned;
    return;
  }
  ++diff.wins[record.solver].second;
  if (!older.records.count(problem))
    diff.gained.push_back(record);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

static const Session *findSession(const ResultSet &set, int64_t id) {
  auto found = llvm::find_if(
      set.sessions, [&](const Session &session) { return session.id == id; });
  return found == set.sessions.end() ? nullptr : &*found;
}

/// A release holds records of many sessions, so that each pair has conditions
/// of its own.
static Conditions getConditions(const Session *older, const Session *newer) {
  bool areSame = older && newer &&
                 llvm::all_of(kProperties, [&](const Property &property) {
                   return property.second(*older) == property.second(*newer);
                 });
  return areSame ? Conditions::Same : Conditions::Different;
}

/// The times of each group have a noise of their own.
static void judge(const std::map<TimeGroup, std::vector<TimePair>> &repeats,
                  ReleaseDiff &diff) {
  std::map<TimeGroup, std::vector<RecordChange *>> groups;
  for (RecordChange &change : diff.changes)
    groups[getGroup(change)].push_back(&change);
  auto comparisons = static_cast<int64_t>(diff.changes.size());
  for (auto &[group, changes] : groups) {
    std::vector<TimePair> pairs;
    for (const RecordChange *change : changes)
      pairs.push_back({change->older.time, change->newer.time});
    auto found = repeats.find(group);
    auto same =
        found == repeats.end() ? std::vector<TimePair>() : found->second;
    for (auto [change, time] : llvm::zip_equal(
             changes, compareTimes(pairs, same, comparisons, group.conditions)))
      change->time = time;
  }
}

static std::vector<RepeatedTimes>
summarize(const std::map<TimeGroup, std::vector<TimePair>> &repeats) {
  const double kWorthSaying = std::log1p(0.02);
  using Key = std::pair<std::string, Conditions>;
  std::map<Key, std::vector<double>> ratios;
  std::set<Key> shifted;
  for (const auto &[group, pairs] : repeats) {
    Key key(group.target, group.conditions);
    for (const TimePair &pair : pairs)
      ratios[key].push_back(pair.newer.median / pair.older.median);
    if (getMachineShift(pairs, group.conditions) > kWorthSaying)
      shifted.insert(key);
  }
  std::vector<RepeatedTimes> repeated;
  for (auto &[key, list] : ratios)
    repeated.push_back({key.first, static_cast<int64_t>(list.size()),
                        runtime::median(std::move(list)),
                        shifted.count(key) > 0});
  return repeated;
}

static Status judgeTimes(Database &database, ReleaseDiff &diff) {
  if (Status status = readSamples(database, diff.changes); !status)
    return status;
  auto repeats = readRepeats(database, diff.changes);
  if (!repeats)
    return repeats.error();
  judge(*repeats, diff);
  diff.repeated = summarize(*repeats);
  return success();
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

Result<ReleaseDiff> tarpon::fleet::compareResults(Database &database,
                                                  const ResultSet &older,
                                                  const ResultSet &newer) {
  ReleaseDiff diff;
  diff.older = older.name;
  diff.newer = newer.name;
  std::set<std::string> before = listTargets(older), after = listTargets(newer);
  for (const std::string &target : before)
    if (after.count(target))
      compareSessions(older, newer, target, diff);
  for (const auto &[problem, record] : older.records)
    addOlder(newer, problem, record, diff);
  for (const auto &[problem, record] : newer.records)
    addNewer(older, problem, record, diff);
  for (RecordChange &change : diff.changes)
    change.conditions = getConditions(findSession(older, change.older.session),
                                      findSession(newer, change.newer.session));
  if (Status status = judgeTimes(database, diff); !status)
    return status.error();
  return diff;
}

static void sortByChange(std::vector<const RecordChange *> &changes) {
  llvm::stable_sort(changes, [](const RecordChange *a, const RecordChange *b) {
    return std::abs(std::log(a->time.ratio)) >
           std::abs(std::log(b->time.ratio));
  });
}

std::vector<const RecordChange *> ReleaseDiff::find(TimeVerdict verdict) const {
  std::vector<const RecordChange *> found;
  for (const RecordChange &change : changes)
    if (change.time.verdict == verdict)
      found.push_back(&change);
  sortByChange(found);
  return found;
}

std::vector<const RecordChange *> ReleaseDiff::findNewSolutions() const {
  std::vector<const RecordChange *> found;
  for (const RecordChange &change : changes)
    if (!change.hasSameSolution())
      found.push_back(&change);
  sortByChange(found);
  return found;
}
