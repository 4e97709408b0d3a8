//===- ReleaseReport.cpp - Differences as text and JSON -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/ReleaseReport.h"

#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

using namespace tarpon;
using namespace tarpon::fleet;
using llvm::formatv;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::vector<ReportGroup> tarpon::fleet::groupChanges(const ReleaseDiff &diff) {
  return {{"slower", diff.find(TimeVerdict::Rose)},
          {"faster", diff.find(TimeVerdict::Fell)},
          {"with times that cannot be compared",
           diff.find(TimeVerdict::Incomparable)},
          {"with another solution", diff.findNewSolutions()}};
}

std::string tarpon::fleet::summarize(const ReleaseDiff &diff) {
  std::string text =
      formatv("{0} lost, {1} gained", diff.lost.size(), diff.gained.size());
  for (const ReportGroup &group : groupChanges(diff))
    text += formatv(", {0} {1}", group.changes.size(), group.title).str();
  auto unchanged = diff.same + static_cast<int64_t>(
                                   diff.changes.size() -
                                   diff.find(TimeVerdict::Rose).size() -
                                   diff.find(TimeVerdict::Fell).size() -
                                   diff.find(TimeVerdict::Incomparable).size());
  text += formatv(", {0} as fast as before", unchanged).str();
  if (diff.notTuned > 0)
    text += formatv("; {0} that the label has not tuned", diff.notTuned).str();
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string showSolution(const ResultRecord &record) {
  return showText(record.solver) + " {" + showText(record.config) + "}";
}

static std::string showProblem(const ResultRecord &record) {
  return showText(record.target) + " " + showText(record.key);
}

static void print(const LostRecord &lost, llvm::raw_ostream &os) {
  os << formatv("  {0}\n    {1:f6} ms before, {2}", showProblem(lost.record),
                lost.record.time.median, showSolution(lost.record));
  if (!lost.reason.empty())
    os << "; now " << showText(lost.reason);
  os << "\n";
}

static void print(const ResultRecord &record, llvm::raw_ostream &os) {
  os << formatv("  {0}\n    {1:f6} ms, {2}\n", showProblem(record),
                record.time.median, showSolution(record));
}

static void print(const RecordChange &change, llvm::raw_ostream &os) {
  os << formatv("  {0}\n    {1:f6} -> {2:f6} ms ({3:f3} times as long, noise "
                "{4:f1} %), {5}",
                showProblem(change.newer), change.older.time.median,
                change.newer.time.median, change.time.ratio,
                100 * change.time.noise, showSolution(change.older));
  if (!change.hasSameSolution())
    os << " -> " << showSolution(change.newer);
  os << "\n";
}

static void print(const RecordChange *change, llvm::raw_ostream &os) {
  print(*change, os);
}

template <typename Row>
static void printGroup(llvm::StringRef title, const std::vector<Row> &rows,
                       size_t limit, llvm::raw_ostream &os) {
  if (rows.empty())
    return;
  os << title << "\n";
  for (const Row &row : llvm::ArrayRef(rows).take_front(limit))
    print(row, os);
  if (rows.size() > limit)
    os << formatv("  {0} more\n", rows.size() - limit);
}

llvm::StringRef tarpon::fleet::describeMachine(const RepeatedTimes &repeated) {
  return repeated.isMachine
             ? ", by the same build on the same model of a device: no time is "
               "accused of what the machine does to all"
             : "";
}

/// Prints what may explain times.
static void printConditions(const ReleaseDiff &diff, llvm::raw_ostream &os) {
  for (const SessionDifference &session : diff.sessions)
    os << formatv("{0}: {1} '{2}' before, '{3}' now\n",
                  showText(session.target), session.property,
                  showText(session.older), showText(session.newer));
  for (const RepeatedTimes &repeated : diff.repeated)
    os << formatv("{0}: {1} candidates were measured on both sides, and "
                  "typically take {2:f3} times as long{3}\n",
                  showText(repeated.target), repeated.candidates,
                  repeated.ratio, describeMachine(repeated));
}

void tarpon::fleet::printFaults(const ReleaseDiff &diff, size_t limit,
                                llvm::raw_ostream &os) {
  printConditions(diff, os);
  printGroup("lost", diff.lost, limit, os);
  printGroup("slower", diff.find(TimeVerdict::Rose), limit, os);
  printGroup("with times that cannot be compared",
             diff.find(TimeVerdict::Incomparable), limit, os);
}

void tarpon::fleet::printDiff(const ReleaseDiff &diff, size_t limit,
                              llvm::raw_ostream &os) {
  printConditions(diff, os);
  printGroup("lost", diff.lost, limit, os);
  for (const ReportGroup &group : groupChanges(diff))
    printGroup(group.title, group.changes, limit, os);
  printGroup("gained", diff.gained, limit, os);
  os << showText(diff.newer.str()) << " compared with "
     << (diff.older.name.empty() ? "nothing" : showText(diff.older.str()))
     << ": " << summarize(diff) << "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json toJson(const ResultRecord &record) {
  return {{"target", record.target},
          {"problem", record.key},
          {"solver", record.solver},
          {"config", record.config},
          {"median_ms", record.time.median},
          {"mad_ms", record.time.mad},
          {"samples", record.time.samples},
          {"source",
           record.time.source == TimeSource::Modelled ? "model" : "measured"}};
}

static const char *getVerdictName(TimeVerdict verdict) {
  switch (verdict) {
  case TimeVerdict::Same:
    return "same";
  case TimeVerdict::Rose:
    return "slower";
  case TimeVerdict::Fell:
    return "faster";
  case TimeVerdict::Incomparable:
    return "incomparable";
  }
  llvm_unreachable("unknown verdict");
}

json tarpon::fleet::toJson(const ReleaseDiff &diff) {
  json sessions = json::array(), lost = json::array(), gained = json::array(),
       changes = json::array(), wins = json::object(), repeated = json::array();
  for (const RepeatedTimes &times : diff.repeated)
    repeated.push_back({{"target", times.target},
                        {"candidates", times.candidates},
                        {"ratio", times.ratio},
                        {"is_machine", times.isMachine}});
  for (const SessionDifference &session : diff.sessions)
    sessions.push_back({{"target", session.target},
                        {"property", session.property},
                        {"older", session.older},
                        {"newer", session.newer}});
  for (const LostRecord &record : diff.lost) {
    json entry = ::toJson(record.record);
    entry["reason"] = record.reason;
    lost.push_back(std::move(entry));
  }
  for (const ResultRecord &record : diff.gained)
    gained.push_back(::toJson(record));
  for (const RecordChange &change : diff.changes)
    changes.push_back({{"older", ::toJson(change.older)},
                       {"newer", ::toJson(change.newer)},
                       {"ratio", change.time.ratio},
                       {"noise", change.time.noise},
                       {"verdict", getVerdictName(change.time.verdict)},
                       {"same_solution", change.hasSameSolution()}});
  for (const auto &[solver, counts] : diff.wins)
    wins[solver] = {{"older", counts.first}, {"newer", counts.second}};
  return {{"older", diff.older.str()},
          {"newer", diff.newer.str()},
          {"sessions", sessions},
          {"repeated", repeated},
          {"lost", lost},
          {"gained", gained},
          {"changes", changes},
          {"same", diff.same},
          {"not_tuned", diff.notTuned},
          {"wins", wins}};
}
