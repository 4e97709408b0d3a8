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

#include "tarpon/Autotune/Store/MeasurementOrder.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tarpon;
using runtime::Result;

//===----------------------------------------------------------------------===//
// The results of each problem
//===----------------------------------------------------------------------===//

namespace {
/// A problem of one version on one machine. The rows of solvers that have
/// another version by now are separate.
struct ProblemInContext {
  std::string problem;
  JournalContext context;
  bool isOutdated;

  /// Without cache sizes, by which the order goes last.
  auto getGroup() const {
    return std::tie(problem, context.target, context.threads, context.tarpon,
                    context.llvm, isOutdated);
  }
  bool operator<(const ProblemInContext &other) const {
    return std::tuple_cat(getGroup(), std::tie(context.caches)) <
           std::tuple_cat(other.getGroup(), std::tie(other.context.caches));
  }
};

/// The last result of each solver and config.
struct Candidates {
  std::map<std::pair<std::string, std::string>, Measurement> results;
  int64_t lastRow = 0;

  void add(const Measurement &m, int64_t row) {
    lastRow = row;
    auto [known, isNew] =
        results.try_emplace(std::pair(m.key.solver, m.key.config), m);
    if (!isNew && replaces(m, known->second))
      known->second = m;
  }
};

/// The results of all problems, by the rules of Journal::getMeasurements. Rows
/// without cache sizes belong to every machine of their target.
class StoreResults {
public:
  using Map = std::map<ProblemInContext, Candidates>;

  /// Rows come in the order of their ids.
  void add(ProblemInContext where, const Measurement &m, int64_t row);
  const Map &finish();

private:
  Map problems;
};
} // namespace

void StoreResults::add(ProblemInContext where, const Measurement &m,
                       int64_t row) {
  auto [entry, isNew] = problems.try_emplace(where);
  if (!where.context.caches.empty()) {
    where.context.caches.clear();
    if (auto any = problems.find(where); isNew && any != problems.end())
      entry->second = any->second;
    entry->second.add(m, row);
    return;
  }
  for (auto it = entry;
       it != problems.end() && it->first.getGroup() == where.getGroup(); ++it)
    it->second.add(m, row);
}

/// Drops results that belong to every machine where those of machines have
/// them.
const StoreResults::Map &StoreResults::finish() {
  for (auto it = problems.begin(); it != problems.end();) {
    auto next = std::next(it);
    bool isCovered = it->first.context.caches.empty() &&
                     next != problems.end() &&
                     next->first.getGroup() == it->first.getGroup();
    it = isCovered ? problems.erase(it) : next;
  }
  return problems;
}

/// Returns false if the store cannot be read.
static bool readResults(const StoreFile &store, StoreResults &results) {
  SqlStatement rows(store.database(),
                    "SELECT *, version <> solver_version(solver) AS outdated "
                    "FROM sound_measurement WHERE status <> 'started' ORDER BY "
                    "id");
  while (rows.next()) {
    Measurement m = readMeasurement(rows);
    // A best solution lacks samples, and those of all rows would take much
    // memory.
    m.samples.clear();
    if (!isPossible(m))
      continue;
    results.add({m.key.problem,
                 {rows.text("target"), rows.integer("threads"),
                  rows.text("tarpon"), rows.text("llvm"), rows.text("caches")},
                 rows.integer("outdated") != 0},
                m, rows.integer("id"));
  }
  return !rows.failed();
}

//===----------------------------------------------------------------------===//
// The best of them
//===----------------------------------------------------------------------===//

/// Adds a right solution to the best one so far: finalists go before all
/// others, as in Journal::getBest.
static void improve(std::optional<BestSolution> &best, const Measurement &m) {
  int64_t solutions = best ? best->solutions : 0;
  if (!best || wins(m, best->measurement)) {
    best.emplace();
    best->measurement = m;
  }
  best->solutions = solutions + 1;
}

/// Returns the best solution, or the best one of each solver.
static std::vector<BestSolution> findBest(const ProblemInContext &where,
                                          const Candidates &candidates,
                                          bool ofEachSolver) {
  std::map<std::string, std::optional<BestSolution>> best;
  for (const auto &[key, m] : candidates.results)
    if (m.status == MeasurementStatus::Ok)
      improve(best[ofEachSolver ? m.key.solver : ""], m);
  std::vector<BestSolution> solutions;
  for (auto &[solver, solution] : best) {
    solution->context = where.context;
    solution->isStale = where.isOutdated || isStale(where.context);
    solution->lastRow = candidates.lastRow;
    solutions.push_back(std::move(*solution));
  }
  return solutions;
}

Result<std::vector<BestSolution>>
StoreAdmin::findSolutions(bool ofEachSolver) const {
  StoreResults results;
  if (!readResults(*store, results))
    return store->makeError();
  std::vector<BestSolution> solutions;
  for (const auto &[where, candidates] : results.finish())
    llvm::append_range(solutions, findBest(where, candidates, ofEachSolver));
  return solutions;
}

Result<std::vector<BestSolution>> StoreAdmin::getBestSolutions() const {
  return findSolutions(/*ofEachSolver=*/false);
}

Result<std::vector<BestSolution>> StoreAdmin::getBestOfSolvers() const {
  return findSolutions(/*ofEachSolver=*/true);
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

/// The best solution of the last version by cache sizes, per problem, target
/// and number of threads.
using SolutionMap = std::map<std::tuple<std::string, std::string, int64_t>,
                             std::map<std::string, BestSolution>>;

static auto getKey(const BestSolution &solution) {
  return std::tuple(solution.measurement.key.problem, solution.context.target,
                    solution.context.threads);
}

static SolutionMap makeMap(const std::vector<BestSolution> &solutions) {
  SolutionMap map;
  for (const BestSolution &solution : solutions) {
    auto [known, isNew] =
        map[getKey(solution)].try_emplace(solution.context.caches, solution);
    if (!isNew && solution.lastRow > known->second.lastRow)
      known->second = solution;
  }
  // A version that did not record cache sizes is older than those that do.
  for (auto &[key, machines] : map)
    if (machines.size() > 1)
      machines.erase("");
  return map;
}

/// Finds the solution of the same machine. One without cache sizes may be of
/// any machine.
static const BestSolution *findSame(const SolutionMap &map,
                                    const BestSolution &solution) {
  auto known = map.find(getKey(solution));
  if (known == map.end())
    return nullptr;
  const auto &machines = known->second;
  auto same = machines.find(solution.context.caches);
  if (same == machines.end())
    same =
        solution.context.caches.empty() ? machines.begin() : machines.find("");
  return same == machines.end() ? nullptr : &same->second;
}

/// The solutions of `map` that `others` lacks.
static std::vector<BestSolution> findOnly(const SolutionMap &map,
                                          const SolutionMap &others) {
  std::vector<BestSolution> only;
  for (const auto &[key, machines] : map)
    for (const auto &[caches, solution] : machines)
      if (!findSame(others, solution))
        only.push_back(solution);
  return only;
}

static void compare(const BestSolution &here, const BestSolution &there,
                    double minChange, StoreDiff &diff) {
  const Measurement &a = here.measurement, &b = there.measurement;
  double ratio = std::max(a.median / b.median, b.median / a.median);
  if (a.key != b.key)
    diff.solutions.push_back({here, there});
  else if (ratio > 1 + minChange)
    diff.times.push_back({here, there});
  else
    ++diff.same;
}

StoreDiff tarpon::compareSolutions(const std::vector<BestSolution> &here,
                                   const std::vector<BestSolution> &there,
                                   double minChange) {
  SolutionMap ours = makeMap(here), theirs = makeMap(there);
  StoreDiff diff;
  diff.onlyHere = findOnly(ours, theirs);
  diff.onlyThere = findOnly(theirs, ours);
  for (const auto &[key, machines] : ours)
    for (const auto &[caches, solution] : machines)
      if (const BestSolution *other = findSame(theirs, solution))
        compare(solution, *other, minChange, diff);
  return diff;
}
