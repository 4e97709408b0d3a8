//===- DbListCommands.cpp - graph-opt db list, diff -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Files/DbStore.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Store/ImportedRecords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

namespace tarpon {

namespace {

struct DbListArguments {
  StoreArguments store;
  /// Restrict the list to problems whose keys contain this, and to this solver.
  std::string problem, solver;
  bool stale = false;
  /// List the imported problems, beside the measurements of this machine.
  bool imported = false;
  std::optional<int64_t> limit;
};

struct DbDiffArguments {
  StoreArguments store;
  std::string other;
  double minChange = 0.05;
};

} // namespace

using namespace runtime;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Measurements of this machine
//===----------------------------------------------------------------------===//

static bool isWanted(const DbListArguments &arguments,
                     const BestSolution &solution) {
  const CandidateKey &key = solution.measurement.key;
  return (arguments.stale || !solution.isStale) &&
         llvm::StringRef(key.problem).contains(arguments.problem) &&
         (arguments.solver.empty() || key.solver == arguments.solver);
}

static Result<std::vector<BestSolution>>
readWanted(const DbListArguments &arguments) {
  Result<std::unique_ptr<StoreAdmin>> store = openStore(arguments.store);
  if (!store)
    return store.error();
  Result<std::vector<BestSolution>> solutions = (*store)->getBestSolutions();
  if (solutions)
    llvm::erase_if(*solutions, [&](const BestSolution &solution) {
      return !isWanted(arguments, solution);
    });
  return solutions;
}

static void printSolution(const BestSolution &solution) {
  const Measurement &m = solution.measurement;
  llvm::outs() << formatv(
      "{0}\n  {1:f6} ms (+- {2:f6}), workspace {3}, {4}, best of {5}, on {6} "
      "with {7}{8}{9}\n",
      m.key.problem, m.median, m.mad, m.workspaceBytes, describeSolution(m),
      solution.solutions, solution.context.target,
      count(solution.context.threads, "thread"),
      solution.context.caches.empty()
          ? ""
          : ", caches of " + solution.context.caches,
      solution.isStale ? " (stale)" : "");
}

static int listMeasured(const DbListArguments &arguments) {
  Result<std::vector<BestSolution>> solutions = readWanted(arguments);
  if (!solutions)
    return fail(solutions.message());
  auto total = static_cast<int64_t>(solutions->size());
  int64_t shown = std::min(total, arguments.limit.value_or(total));
  nlohmann::json json = nlohmann::json::array();
  for (int64_t i = 0; i < shown; ++i) {
    printSolution((*solutions)[i]);
    json.push_back(toJson((*solutions)[i]));
  }
  if (shown < total)
    llvm::outs() << formatv("{0} more\n", total - shown);
  if (Status status = writeJson(arguments.store, json); !status)
    return fail(status.message());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Imported problems
//===----------------------------------------------------------------------===//

namespace {
/// Prints imported problems with the best measurement of this machine.
class ImportedList {
public:
  explicit ImportedList(const DbListArguments &arguments)
      : arguments(arguments) {}

  Status run();

private:
  void visit(const ImportedSource &source, const ImportedProblem &problem);
  const BestSolution *findHere(const std::string &problem) const;

  const DbListArguments &arguments;
  /// The best solutions of the last version that is not stale, for any number
  /// of threads.
  std::map<std::string, BestSolution> here;
  nlohmann::json json = nlohmann::json::array();
  int64_t shown = 0, more = 0;
};
} // namespace

/// The fastest solution of a find DB; a perf DB has one config per solver and
/// no times.
static const miopen::Solution &getFirst(const miopen::Record &record) {
  return *llvm::min_element(record.solutions, [](const miopen::Solution &a,
                                                 const miopen::Solution &b) {
    // Estimates are negative, and rank behind measurements.
    auto rank = [](const miopen::Solution &s) {
      double time = s.milliseconds.value_or(0);
      return std::pair(time < 0, std::abs(time));
    };
    return rank(a) < rank(b);
  });
}

const BestSolution *ImportedList::findHere(const std::string &problem) const {
  auto found = here.find(problem);
  return found == here.end() ? nullptr : &found->second;
}

void ImportedList::visit(const ImportedSource &source,
                         const ImportedProblem &problem) {
  const miopen::Solution &first = getFirst(problem.record);
  if (!llvm::StringRef(problem.problem.empty() ? problem.record.key
                                               : problem.problem)
           .contains(arguments.problem) ||
      (!arguments.solver.empty() && first.solver != arguments.solver))
    return;
  if (arguments.limit && shown == *arguments.limit) {
    ++more;
    return;
  }
  ++shown;
  const BestSolution *ours = findHere(problem.problem);
  llvm::outs() << formatv("{0}\n  MIOpen on {1} ({2}): ", problem.record.key,
                          source.file.arch, source.file.name);
  if (first.milliseconds)
    llvm::outs() << llvm::format("%.6g ms", *first.milliseconds)
                 << formatv(", workspace {0}, {1}\n", first.workspaceBytes,
                            first.solver);
  else
    llvm::outs() << formatv("{0} {{{1}}\n", first.solver, first.config);
  llvm::outs() << "  "
               << (problem.problem.empty() ? "no problem of tarpon's"
                                           : problem.problem)
               << "\n";
  if (ours)
    llvm::outs() << formatv("  here: {0:f6} ms, {1}\n",
                            ours->measurement.median,
                            describeSolution(ours->measurement));
  if (arguments.store.json.empty())
    return;
  nlohmann::json entry = {{"origin", "miopen"},
                          {"file", source.file.name},
                          {"arch", source.file.arch},
                          {"compute_units", source.file.computeUnits},
                          {"key", problem.record.key},
                          {"problem", problem.problem},
                          {"solutions", nlohmann::json::array()}};
  for (const miopen::Solution &s : problem.record.solutions) {
    nlohmann::json solution = {{"solver", s.solver}};
    if (s.milliseconds)
      solution.update({{"median_ms", *s.milliseconds},
                       {"workspace_bytes", s.workspaceBytes},
                       {"algorithm", s.algorithm}});
    else
      solution["config"] = s.config;
    entry["solutions"].push_back(std::move(solution));
  }
  if (ours)
    entry["here"] = toJson(*ours);
  json.push_back(std::move(entry));
}

Status ImportedList::run() {
  Result<std::unique_ptr<StoreAdmin>> store = openStore(arguments.store);
  if (!store)
    return store.error();
  Result<std::vector<BestSolution>> solutions = (*store)->getBestSolutions();
  if (!solutions)
    return solutions.error();
  for (BestSolution &solution : *solutions) {
    if (solution.isStale)
      continue;
    auto [known, isNew] =
        here.try_emplace(solution.measurement.key.problem, solution);
    if (!isNew &&
        solution.measurement.median < known->second.measurement.median)
      known->second = std::move(solution);
  }
  Result<std::string> path = getStorePath(arguments.store);
  if (!path)
    return path.error();
  Result<std::unique_ptr<ImportedRecords>> records =
      ImportedRecords::openForReading(*path);
  if (!records)
    return records.error();
  Status status = (*records)->visit(
      "", [&](const ImportedSource &source, const ImportedProblem &problem) {
        visit(source, problem);
      });
  if (!status)
    return status;
  if (more > 0)
    llvm::outs() << more << " more\n";
  return writeJson(arguments.store, json);
}

static int runDbList(const DbListArguments &arguments) {
  if (!arguments.imported)
    return listMeasured(arguments);
  if (Status status = ImportedList(arguments).run(); !status)
    return fail(status.message());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// diff
//===----------------------------------------------------------------------===//

static void printChanges(llvm::StringRef title,
                         const std::vector<StoreDiff::Change> &changes) {
  if (!changes.empty())
    llvm::outs() << title << "\n";
  for (const StoreDiff::Change &change : changes) {
    const Measurement &a = change.here.measurement,
                      &b = change.there.measurement;
    llvm::outs() << formatv("  {0}\n    here {1:f6} ms, {2}\n    there "
                            "{3:f6} ms ({4:f3} times as long), {5}\n",
                            a.key.problem, a.median, describeSolution(a),
                            b.median, b.median / a.median, describeSolution(b));
  }
}

static void printOnly(llvm::StringRef title,
                      const std::vector<BestSolution> &solutions) {
  if (!solutions.empty())
    llvm::outs() << title << "\n";
  for (const BestSolution &solution : solutions)
    llvm::outs() << formatv(
        "  {0}\n    {1:f6} ms, {2}\n", solution.measurement.key.problem,
        solution.measurement.median, describeSolution(solution.measurement));
}

static nlohmann::json toJson(const StoreDiff &diff) {
  auto only = [](const std::vector<BestSolution> &solutions) {
    nlohmann::json list = nlohmann::json::array();
    for (const BestSolution &solution : solutions)
      list.push_back(toJson(solution));
    return list;
  };
  auto changes = [](const std::vector<StoreDiff::Change> &changes) {
    nlohmann::json list = nlohmann::json::array();
    for (const StoreDiff::Change &change : changes)
      list.push_back(
          {{"here", toJson(change.here)}, {"there", toJson(change.there)}});
    return list;
  };
  return {{"same", diff.same},
          {"only_here", only(diff.onlyHere)},
          {"only_there", only(diff.onlyThere)},
          {"other_solution", changes(diff.solutions)},
          {"other_time", changes(diff.times)}};
}

static int runDbDiff(const DbDiffArguments &arguments) {
  Result<std::unique_ptr<StoreAdmin>> store = openStore(arguments.store);
  if (!store)
    return fail(store.message());
  Result<std::unique_ptr<StoreAdmin>> other =
      StoreAdmin::openForReading(arguments.other);
  if (!other)
    return fail(other.message());
  Result<std::vector<BestSolution>> here = (*store)->getBestSolutions();
  if (!here)
    return fail(here.message());
  Result<std::vector<BestSolution>> there = (*other)->getBestSolutions();
  if (!there)
    return fail(there.message());
  StoreDiff diff = compareSolutions(*here, *there, arguments.minChange);
  printOnly("only here", diff.onlyHere);
  printOnly("only there", diff.onlyThere);
  printChanges("other solutions", diff.solutions);
  printChanges("other times", diff.times);
  llvm::outs() << formatv(
      "{0} only here, {1} only there, {2} with other solutions, {3} with other "
      "times, {4} the same\n",
      count(static_cast<int64_t>(diff.onlyHere.size()), "problem"),
      diff.onlyThere.size(), diff.solutions.size(), diff.times.size(),
      diff.same);
  if (Status status = writeJson(arguments.store, toJson(diff)); !status)
    return fail(status.message());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addDbList(CommandSet &commands) {
  using namespace options;
  auto [list, dbList] = commands.addVerb(
      "db", "list", "List problems with their best solutions", runDbList);
  addStore(list, dbList.store);
  addJson(list, dbList.store.json);
  list->add_option("--problem", dbList.problem,
                   "Only problems whose keys hold this text")
      ->type_name("TEXT");
  list->add_option("--solver", dbList.solver,
                   "Only problems that this solver is best at")
      ->type_name("ID");
  list->add_option("--limit", dbList.limit, "Print at most N")
      ->check(isBetween(int64_t(0), int64_t(1) << 40))
      ->type_name("N");
  CLI::Option *stale =
      list->add_flag("--stale", dbList.stale, "Other versions' records too");
  list->add_flag("--imported", dbList.imported,
                 "Imported problems, beside the best of this machine")
      ->excludes(stale);
}

void addDbDiff(CommandSet &commands) {
  using namespace options;
  auto [diff, dbDiff] = commands.addVerb(
      "db", "diff", "Compare the best solutions of two stores", runDbDiff);
  addStore(diff, dbDiff.store);
  addJson(diff, dbDiff.store.json);
  diff->add_option("OTHER", dbDiff.other, "The other store")
      ->required()
      ->type_name("");
  diff->add_option("--min-change", dbDiff.minChange,
                   "Least relative change of a time (default: 0.05)")
      ->check(isBetween(0.0, 1e9))
      ->type_name("FRACTION");
}

} // namespace tarpon
