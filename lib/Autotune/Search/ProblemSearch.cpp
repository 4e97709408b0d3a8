//===- ProblemSearch.cpp - The search over one problem --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/ProblemSearch.h"

#include "Search/Methods/ConfigSpace.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/ThreadPool.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tarpon;
using runtime::Status;

ProblemSearch::ProblemSearch(SearchContext context, const Problem &problem,
                             SearchScope scope)
    : context(context), scope(std::move(scope)), problem(problem),
      race({context.measurer, context.journal, context.progress,
            context.statistics, context.deadline},
           problem.key()) {
  collectCandidates();
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The reference is no candidate if any other solver is applicable: it is slow
/// by design. Solvers and configs are ordered by the best guess.
void ProblemSearch::collectCandidates() {
  const TargetInfo &target = context.target;
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    if (solver == &getReferenceSolver())
      continue;
    if (!scope.limits.allows(*solver, problem, target)) {
      isLimited = true;
      continue;
    }
    for (const PerfConfig &config : getConfigs(*solver))
      addCandidate(*solver, config);
  }
}

std::vector<PerfConfig> ProblemSearch::getConfigs(const Solver &solver) const {
  const TargetInfo &target = context.target;
  if (!scope.only)
    return scope.allConfigs
               ? getConfigSpace(solver, problem, target)
               : std::vector{solver.defaultConfig(problem, target)};
  auto config = PerfConfig::parse(scope.only->config);
  if (scope.only->solver != solver.id() || mlir::failed(config))
    return {};
  return {*config};
}

/// Adds a candidate unless it is one already.
void ProblemSearch::addCandidate(const Solver &solver,
                                 const PerfConfig &config) {
  Contender contender;
  contender.key = {problem.key(), solver.id().str(), config.str()};
  contender.solver = &solver;
  contender.config = config;
  contender.workspaceBytes = solver.workspaceSize(problem, context.target);
  std::vector<Contender> &contenders = race.getContenders();
  if (llvm::none_of(contenders, [&](const Contender &known) {
        return known.key == contender.key;
      }))
    contenders.push_back(std::move(contender));
}

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

/// The input of the search method.
SearchSpace ProblemSearch::makeSpace() const {
  const TargetInfo &target = context.target;
  SearchSpace space;
  std::vector<SolverConfig> solutions;
  for (const Contender &contender : race.getContenders())
    solutions.push_back({contender.solver, contender.config});
  std::vector<double> expected =
      expectTimes(problem, solutions, target, context.ranker);
  for (auto [index, contender] : llvm::enumerate(race.getContenders()))
    space.candidates.push_back(
        {contender.key.solver, contender.config, expected[index],
         getKernels(*contender.solver, contender.config, problem, target)});
  space.compiled = context.compiled;
  space.features = describeProblem(problem).features;
  space.parallel = std::clamp<size_t>(runtime::availableCores(), 1,
                                      context.measurer.getMaxProposals());
  if (scope.allConfigs && context.options.method == SearchMethodKind::Guided)
    space.related = context.related.find(
        problem, context.journal, context.system, target, context.ranker);
  return space;
}

static SearchResult makeResult(size_t candidate, const Measurement &m) {
  SearchResult result;
  result.candidate = candidate;
  if (m.status == MeasurementStatus::Ok)
    result.milliseconds = m.median;
  return result;
}

/// The results in the order in which they were measured.
std::vector<SearchResult> ProblemSearch::getKnownResults() const {
  std::vector<SearchResult> results;
  for (const Measurement &known : scope.known)
    for (auto [index, contender] : llvm::enumerate(race.getContenders()))
      if (contender.result && contender.key == known.key)
        results.push_back(makeResult(index, *contender.result));
  return results;
}

/// Returns true if the user's limit is reached. The search is not finished
/// then.
bool ProblemSearch::isAtLimit(llvm::ArrayRef<SearchResult> results,
                              const Deadline &searchEnd) {
  const SearchOptions &options = context.options;
  if (!scope.allConfigs)
    return false;
  auto count = static_cast<int64_t>(results.size());
  bool isAt =
      (options.iterations && count >= *options.iterations) ||
      (options.patience && isPatienceOver(results, *options.patience)) ||
      searchEnd.isOver();
  isStopped |= isAt;
  return isAt;
}

/// The number of results that the user's limit leaves: candidates beyond it
/// need not be compiled.
size_t ProblemSearch::countLeft(llvm::ArrayRef<SearchResult> results) const {
  if (!scope.allConfigs || !context.options.iterations)
    return policy::kMaxBatch;
  return std::max<int64_t>(1, *context.options.iterations -
                                  static_cast<int64_t>(results.size()));
}

/// Compiles and measures the batch, until a limit is hit.
Status ProblemSearch::raceBatch(llvm::ArrayRef<size_t> batch,
                                const Deadline &searchEnd,
                                std::vector<SearchResult> &results) {
  if (Status status = race.build(batch); !status)
    return status;
  for (size_t index : batch) {
    const Contender &contender = race.getContenders()[index];
    for (std::string &name : getKernels(*contender.solver, contender.config,
                                        problem, context.target))
      context.compiled.insert(std::move(name));
  }
  for (size_t index : batch) {
    if (race.isOver() || isAtLimit(results, searchEnd))
      return runtime::success();
    if (Status status = race.measure(index); !status)
      return status;
    results.push_back(makeResult(index, *race.getContenders()[index].result));
  }
  return runtime::success();
}

Status ProblemSearch::raceAll() {
  if (llvm::all_of(race.getContenders(), [](const Contender &contender) {
        return contender.result.has_value();
      }))
    return runtime::success();
  SearchSpace space = makeSpace();
  std::vector<SearchResult> results = getKnownResults();
  // If each solver has one config, all of them are wanted.
  std::unique_ptr<SearchMethod> method = makeSearchMethod(
      scope.allConfigs ? context.options.method : SearchMethodKind::Exhaustive,
      space, context.options.seed);
  Deadline searchEnd = context.options.problemSeconds
                           ? Deadline::after(*context.options.problemSeconds)
                           : Deadline::never();
  size_t batch = context.measurer.getBatchSize();
  while (true) {
    std::vector<size_t> next =
        method->propose(results, std::min(batch, countLeft(results)));
    if (next.empty() || race.isOver() || isAtLimit(results, searchEnd))
      return runtime::success();
    if (Status status = raceBatch(next, searchEnd, results); !status)
      return status;
  }
}

/// A failure that may have been the machine's fault is measured again in every
/// run.
static bool counts(const Measurement &known) {
  return !(known.isEarlier && known.mayPass());
}

/// Returns true if the records of a solver suffice: any record, if one config
/// is enough; any record of the system store, whose makers have searched the
/// solver; and those of a search that came to its end: with the times of the
/// final, its method might go on without end. It goes on if all candidates are
/// wanted.
bool ProblemSearch::isSettled(llvm::StringRef solver) const {
  bool isSearched = context.options.method != SearchMethodKind::Exhaustive &&
                    llvm::is_contained(scope.searchedSolvers, solver);
  return llvm::any_of(scope.known, [&](const Measurement &known) {
    return known.key.solver == solver && counts(known) &&
           (known.isSystem || !scope.allConfigs || isSearched);
  });
}

void ProblemSearch::recall(const Measurement &known) {
  const Solver *solver = findSolver(context.target, known.key.solver);
  auto config = PerfConfig::parse(known.key.config);
  // A settled solver takes part with its records.
  if (solver && mlir::succeeded(config) && isSettled(known.key.solver) &&
      llvm::is_contained(getSolvers(), known.key.solver) &&
      solver->isValidConfig(problem, context.target, *config))
    addCandidate(*solver, *config);
  for (Contender &contender : race.getContenders())
    if (contender.key == known.key) {
      ++context.statistics.reused;
      contender.result = known;
    }
}

void ProblemSearch::recallResults() {
  for (const Measurement &known : scope.known)
    if (counts(known))
      recall(known);
  llvm::erase_if(race.getContenders(), [this](const Contender &contender) {
    return !contender.result && isSettled(contender.key.solver);
  });
}

std::optional<Measurement> ProblemSearch::getFirstResult() const {
  const std::vector<Contender> &contenders = race.getContenders();
  return contenders.empty() ? std::nullopt : contenders.front().result;
}

std::vector<std::string> ProblemSearch::getSolvers() const {
  std::vector<std::string> ids;
  for (const Contender &contender : race.getContenders())
    if (!llvm::is_contained(ids, contender.key.solver))
      ids.push_back(contender.key.solver);
  return ids;
}

Status ProblemSearch::run() {
  recallResults();
  Status status = raceAll();
  if (status)
    status = race.runFinal();
  Status finished = race.finish();
  return status ? finished : status;
}

Status ProblemSearch::verifyFirst() {
  size_t count = 0;
  for (size_t index = 0; index < race.getContenders().size(); ++index) {
    const Contender &contender = race.getContenders()[index];
    if (contender.result)
      continue;
    if (count++ == policy::kMaxVerifications)
      break;
    if (Status status = race.measure(index); !status)
      return status;
    if (contender.isOk())
      break;
  }
  return runtime::success();
}

Status ProblemSearch::verifyDefault() {
  recallResults();
  Status status = verifyFirst();
  Status finished = race.finish();
  return status ? finished : status;
}
