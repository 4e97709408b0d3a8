//===- StoreSolutions.cpp - The best solutions of a store -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildContext.h"
#include "JournalQueries.h"
#include "Sqlite/Sqlite.h"
#include "StoreFile.h"

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using runtime::Result;

//===----------------------------------------------------------------------===//
// The best of each problem
//===----------------------------------------------------------------------===//

namespace {
/// A problem of one version on one target. The rows of solvers that have
/// another version by now are separate.
struct ProblemInContext {
  std::string problem;
  JournalContext context;
  bool isOutdated;

  bool operator<(const ProblemInContext &other) const {
    auto tie = [](const ProblemInContext &p) {
      const JournalContext &c = p.context;
      return std::tie(p.problem, c.target, c.threads, c.tarpon, c.llvm,
                      p.isOutdated);
    };
    return tie(*this) < tie(other);
  }
};

/// The last result of each solver and config.
struct Candidates {
  std::map<std::pair<std::string, std::string>, Measurement> results;
  int64_t lastRow = 0;
};
} // namespace

/// Computes the answer of Journal::getBest, for all problems at once.
static std::optional<BestSolution> findBest(const Candidates &candidates) {
  std::optional<BestSolution> best;
  int64_t solutions = 0;
  for (const auto &[key, m] : candidates.results) {
    if (m.status != MeasurementStatus::Ok)
      continue;
    ++solutions;
    if (!best || m.stage > best->measurement.stage ||
        (m.stage == best->measurement.stage &&
         m.median < best->measurement.median))
      best = BestSolution{{}, false, m, 0, candidates.lastRow};
  }
  if (best)
    best->solutions = solutions;
  return best;
}

Result<std::vector<BestSolution>> StoreAdmin::getBestSolutions() const {
  std::map<ProblemInContext, Candidates> problems;
  SqlStatement rows(store->database(),
                    "SELECT *, version <> solver_version(solver) AS outdated "
                    "FROM sound_measurement WHERE status <> 'started' ORDER BY "
                    "id");
  while (rows.next()) {
    Measurement m = readMeasurement(rows);
    // A best solution lacks samples, and those of all rows would take much
    // memory.
    m.samples.clear();
    bool isTime = std::isfinite(m.median) && m.median > 0;
    if (m.status == MeasurementStatus::Ok && !isTime)
      continue;
    ProblemInContext key = {m.key.problem,
                            {rows.text("target"), rows.integer("threads"),
                             rows.text("tarpon"), rows.text("llvm")},
                            rows.integer("outdated") != 0};
    Candidates &candidates = problems[std::move(key)];
    candidates.lastRow = rows.integer("id");
    auto [known, isNew] = candidates.results.try_emplace(
        std::pair(m.key.solver, m.key.config), m);
    if (!isNew && (m.stage >= known->second.stage || !m.mayBeRight()))
      known->second = std::move(m);
  }
  if (rows.failed())
    return store->makeError();
  std::vector<BestSolution> solutions;
  for (const auto &[key, candidates] : problems) {
    std::optional<BestSolution> best = findBest(candidates);
    if (!best)
      continue;
    best->context = key.context;
    best->isStale = key.isOutdated || isStale(key.context);
    solutions.push_back(std::move(*best));
  }
  return solutions;
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

/// The best solution of the last version, per problem, target and number of
/// threads.
using SolutionMap =
    std::map<std::tuple<std::string, std::string, int64_t>, BestSolution>;

static SolutionMap makeMap(const std::vector<BestSolution> &solutions) {
  SolutionMap map;
  for (const BestSolution &solution : solutions) {
    auto [known, isNew] = map.try_emplace(
        std::tuple(solution.measurement.key.problem, solution.context.target,
                   solution.context.threads),
        solution);
    if (!isNew && solution.lastRow > known->second.lastRow)
      known->second = solution;
  }
  return map;
}

StoreDiff tarpon::compareSolutions(const std::vector<BestSolution> &here,
                                   const std::vector<BestSolution> &there,
                                   double minChange) {
  SolutionMap ours = makeMap(here), theirs = makeMap(there);
  StoreDiff diff;
  for (const auto &[key, solution] : ours) {
    auto other = theirs.find(key);
    if (other == theirs.end()) {
      diff.onlyHere.push_back(solution);
      continue;
    }
    const Measurement &a = solution.measurement, &b = other->second.measurement;
    double ratio = std::max(a.median / b.median, b.median / a.median);
    if (a.key != b.key)
      diff.solutions.push_back({solution, other->second});
    else if (ratio > 1 + minChange)
      diff.times.push_back({solution, other->second});
    else
      ++diff.same;
  }
  for (const auto &[key, solution] : theirs)
    if (!ours.count(key))
      diff.onlyThere.push_back(solution);
  return diff;
}
