//===- Tuner.cpp - Finds the fastest solution of a problem ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Tuner.h"

#include "Search/KnownRecords.h"
#include "Search/Methods/ConfigSpace.h"
#include "Search/ProblemSearch.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/ModuleFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstdlib>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

std::string tarpon::findEvaluatorProgram() {
  const char *program = std::getenv("TARPON_EVALUATOR");
  if (program && *program)
    return program;
  // The evaluator is beside the program, or, for a library, in the folder of
  // programs next to the library's.
  llvm::SmallString<256> path(runtime::getModuleFolder());
  llvm::sys::path::append(path, "tarpon-evaluator");
  if (llvm::sys::fs::exists(path))
    return path.str().str();
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "bin", "tarpon-evaluator");
  return path.str().str();
}

//===----------------------------------------------------------------------===//
// The tuner
//===----------------------------------------------------------------------===//

Tuner::Tuner(KernelCompiler &compiler, MeasurerFactory &measurers,
             Journal &journal, Progress &progress)
    : compiler(compiler), journal(journal), progress(progress),
      measurers(measurers), related(std::make_unique<RelatedProblems>()) {}

Tuner::Tuner(KernelCompiler &compiler, Journal &journal, Progress &progress,
             const std::string &evaluatorProgram)
    : compiler(compiler), journal(journal), progress(progress),
      ownMeasurers(makeMeasurerFactory(compiler, evaluatorProgram)),
      measurers(*ownMeasurers), related(std::make_unique<RelatedProblems>()) {}

Tuner::~Tuner() = default;

//===----------------------------------------------------------------------===//
// Answers without measuring
//===----------------------------------------------------------------------===//

static Solution makeReferenceSolution(const Problem &problem,
                                      const TargetInfo &target) {
  const Solver &reference = getReferenceSolver();
  Solution solution;
  solution.solver = &reference;
  solution.config = reference.defaultConfig(problem, target);
  solution.source = "default";
  return solution;
}

CandidateDigests Tuner::getCandidates(const Problem &problem) const {
  auto [entry, isNew] = candidates.try_emplace(problem.key());
  if (isNew)
    entry->second = describeCandidates(problem, compiler.getTarget());
  return entry->second;
}

Status Tuner::recordFinding(const Problem &problem, Finding finding) {
  return journal.recordFinding(problem.key(),
                               {finding, getCandidates(problem)});
}

KnownRecords Tuner::getKnown(const Problem &problem) const {
  std::string key = problem.key();
  llvm::ArrayRef<std::string> hidden = hiddenRuns;
  return {key, journal, system, [&] { return getCandidates(problem); },
          found.count(key) ? llvm::ArrayRef<std::string>() : hidden};
}

/// A target whose kernels the reference solver does not make has an arbiter.
static Solution makeTrustedSolution(const Problem &problem,
                                    const TargetInfo &target) {
  Solution solution = makeReferenceSolution(problem, target);
  const Solver *arbiter = findSolver(target, target.traits->getArbiter());
  if (!arbiter || !checkApplicable(*arbiter, problem, target))
    return solution;
  solution.solver = arbiter;
  solution.config = arbiter->defaultConfig(problem, target);
  return solution;
}

/// The right solutions of the system store, whatever the user's store knows.
std::vector<Solution> Tuner::getShipped(const Problem &problem,
                                        const SolutionLimits &limits) const {
  if (!system)
    return {};
  return KnownRecords(problem.key(), *system, nullptr)
      .getRight(problem, compiler.getTarget(), limits);
}

std::vector<Solution> Tuner::guess(const Problem &problem,
                                   const SolutionLimits &limits) const {
  const TargetInfo &target = compiler.getTarget();
  std::vector<Solution> guesses;
  if (ranker)
    guesses = ranker->rank(problem, target);
  if (guesses.empty())
    guesses = ExpectedFractionRanker().rank(problem, target);
  llvm::erase_if(guesses, [&](const Solution &solution) {
    return !limits.allows(*solution.solver, problem, target);
  });
  return guesses;
}

std::vector<Solution> Tuner::list(const Problem &problem,
                                  const SolutionLimits &limits) const {
  const TargetInfo &target = compiler.getTarget();
  KnownRecords known = getKnown(problem);
  std::vector<Solution> right = known.getRight(problem, target, limits);
  auto isListed = [](llvm::ArrayRef<Solution> list, const Solver *solver) {
    return llvm::any_of(list,
                        [&](const Solution &s) { return s.solver == solver; });
  };
  std::vector<Solution> ahead, behind;
  bool mayLead = !known.isComplete();
  for (Solution &solution : guess(problem, limits)) {
    const Solver *solver = solution.solver;
    if (isListed(right, solver)) {
      mayLead &= solver != right.front().solver;
      continue;
    }
    // The reference comes last if any other solver was measured, and so do
    // configs that were found wrong. A candidate whose failure may have been
    // the machine's fault is the last resort before the reference.
    bool isLast = solver == &getReferenceSolver() && !right.empty();
    const Measurement *row = known.find(solver->id(), solution.config);
    if (isLast || (row && !row->mayPass()))
      continue;
    bool leads = mayLead && !known.knowsSolver(solver->id()) &&
                 solver != &getReferenceSolver();
    (leads ? ahead : behind).push_back(std::move(solution));
  }
  llvm::append_range(ahead, right);
  llvm::append_range(ahead, behind);
  if (ahead.empty())
    ahead.push_back(makeReferenceSolution(problem, target));
  return ahead;
}

Solution Tuner::lookUp(const Problem &problem,
                       const SolutionLimits &limits) const {
  return list(problem, limits).front();
}

ExpectedTime Tuner::expectTime(const Problem &problem,
                               const Solution &solution) const {
  const TargetInfo &target = compiler.getTarget();
  SolverConfig candidate = {solution.solver, solution.config};
  ExpectedTime expected;
  expected.byFraction =
      ExpectedFractionRanker().expectMs(problem, candidate, target).front();
  if (ranker)
    if (std::vector<double> times =
            ranker->expectMs(problem, candidate, target);
        !times.empty() && std::isfinite(times.front()))
      expected.byRanker = times.front();
  return expected;
}

/// Returns the journal's result for a solution, since another build may have
/// verified the system store's records; if it has none, the solution is
/// measured now. None if that fails.
std::optional<MeasurementStatus> Tuner::verify(const Problem &problem,
                                               const Solution &solution) {
  auto recall = [&]() -> std::optional<MeasurementStatus> {
    KnownRecords known(problem.key(), journal, nullptr);
    const Measurement *row = known.find(solution.solver->id(), solution.config);
    return row ? std::optional(row->status) : std::nullopt;
  };
  if (std::optional<MeasurementStatus> known = recall())
    return known;
  auto measurer = measurers.create(problem);
  if (!measurer)
    return std::nullopt;
  SearchScope scope;
  scope.only = CandidateKey{problem.key(), solution.solver->id().str(),
                            solution.config.str()};
  ProblemSearch search(makeContext(**measurer, Deadline::never()), problem,
                       std::move(scope));
  if (!search.verifyDefault())
    return std::nullopt;
  return recall();
}

Solution Tuner::getTrusted(const Problem &problem) {
  Solution trusted = makeTrustedSolution(problem, compiler.getTarget());
  if (problem.flops() < policy::kSlowReferenceFlops)
    return trusted;
  // Without a verification, the reference is used, which is only slower.
  size_t tried = 0;
  for (Solution &guessed : guess(problem, {})) {
    if (guessed.solver == trusted.solver ||
        tried++ == policy::kMaxVerifications)
      break;
    if (verify(problem, guessed) == MeasurementStatus::Ok)
      return std::move(guessed);
  }
  return trusted;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

SearchContext Tuner::makeContext(Measurer &measurer, Deadline until) {
  return {compiler.getTarget(), measurer, journal,  progress, until, statistics,
          searchOptions,        *related, compiled, system,   ranker};
}

Status Tuner::search(const Problem &problem, SearchScope scope) {
  Result<std::unique_ptr<Measurer>> measurer = measurers.create(problem);
  if (!measurer)
    return measurer.error();
  bool allConfigs = scope.allConfigs;
  ProblemSearch search(makeContext(**measurer, deadline), problem,
                       std::move(scope));
  if (Status status = search.run(); !status)
    return status;
  if (!search.isFinished())
    return runtime::success();
  return recordFinding(problem,
                       allConfigs ? Finding::Searched : Finding::Found);
}

/// Old records are deleted after everything is measured, not before: a run that
/// is killed loses nothing.
Status Tuner::searchAgain(const Problem &problem,
                          const SolutionLimits &limits) {
  Result<std::unique_ptr<Measurer>> measurer = measurers.create(problem);
  if (!measurer)
    return measurer.error();
  int64_t lastRow = journal.getLastRow();
  SearchScope scope;
  scope.limits = limits;
  ProblemSearch search(makeContext(**measurer, deadline), problem,
                       std::move(scope));
  if (Status status = search.run(); !status)
    return status;
  if (search.wasCut())
    return runtime::success();
  if (Status status =
          journal.forgetSolvers(problem.key(), search.getSolvers(), lastRow);
      !status)
    return status;
  if (!search.isFinished())
    return runtime::success();
  return recordFinding(problem, Finding::Searched);
}

/// Measures the best record of the system store, unless that was done before.
/// It is kept if the time is as recorded.
Status Tuner::verify(const Problem &problem, const SolutionLimits &limits) {
  if (deadline.isOver())
    return runtime::success();
  Result<std::unique_ptr<Measurer>> measurer = measurers.create(problem);
  if (!measurer)
    return measurer.error();
  std::vector<Solution> shipped = getShipped(problem, limits);
  const Measurement &recorded = *shipped.front().measurement;
  SearchScope scope;
  scope.limits = limits;
  scope.only = recorded.key;
  scope.known = getKnown(problem).getUserRows();
  ProblemSearch search(makeContext(**measurer, deadline), problem,
                       std::move(scope));
  if (Status status = search.verifyDefault(); !status)
    return status;
  std::optional<Measurement> measured = search.getFirstResult();
  if (measured && measured->status == MeasurementStatus::Ok &&
      measured->median <= recorded.median * policy::kVerifyRatio)
    return recordFinding(problem, Finding::Verified);
  SearchScope all;
  all.limits = limits;
  all.known = getKnown(problem).getUserRows();
  return this->search(problem, std::move(all));
}

KnownRecord Tuner::classify(const Problem &problem,
                            const FindRequest &request) const {
  const TargetInfo &target = compiler.getTarget();
  KnownRecords known = getKnown(problem);
  std::vector<Solution> right = known.getRight(problem, target, request.limits);
  if (right.empty())
    return KnownRecord::None;
  TuningPolicy tuning =
      request.tuning ? TuningPolicy::Search : findPolicy.tuning;
  bool isFindEnough = tuning != TuningPolicy::Search;
  bool isDone = known.has(Finding::Searched) || known.has(Finding::Verified) ||
                (isFindEnough && known.has(Finding::Found));
  if (isDone && !right.front().measurement->isSystem)
    return KnownRecord::User;
  // The user's own comparison is completed, whatever the system store knows.
  bool isOutOfDate = known.had(Finding::Searched) ||
                     (isFindEnough && known.had(Finding::Found));
  if (!isDone && isOutOfDate)
    return KnownRecord::None;
  // The user's measurement hides the record that it has verified.
  bool hasSystem = llvm::any_of(right, [](const Solution &solution) {
    return solution.measurement->isSystem;
  });
  if (!hasSystem && !isDone && known.had(Finding::Verified))
    hasSystem = !getShipped(problem, request.limits).empty();
  return hasSystem ? KnownRecord::System
         : isDone  ? KnownRecord::User
                   : KnownRecord::None;
}

/// A search that has come to its end finds nothing new, except by trying
/// everything.
bool Tuner::wouldMeasure(const Problem &problem) const {
  bool hasCandidates =
      llvm::any_of(getApplicableSolvers(problem, compiler.getTarget()),
                   [](const Solver *s) { return s != &getReferenceSolver(); });
  const FindRule &rule = getFindRule(withTuning(findPolicy));
  if (!hasCandidates || !rule.mayMeasureOrStore())
    return false;
  FindAction action = rule.getAction(classify(problem, {true, {}}));
  bool completes = action == FindAction::Find || action == FindAction::Search;
  bool isDone = completes && getKnown(problem).has(Finding::Searched) &&
                searchOptions.method != SearchMethodKind::Exhaustive;
  return measures(action) && !isDone;
}

std::optional<double> Tuner::getSaving(const Problem &problem) const {
  KnownRecords known = getKnown(problem);
  std::vector<Solution> right =
      known.getRight(problem, compiler.getTarget(), {});
  std::vector<Solution> guesses = guess(problem, {});
  if (right.empty() || guesses.empty())
    return std::nullopt;
  const Measurement *first =
      known.find(guesses.front().solver->id(), guesses.front().config);
  if (!first || first->status != MeasurementStatus::Ok)
    return std::nullopt;
  return std::max(0.0, 1 - right.front().measurement->median / first->median);
}

/// Measures what is missing in the records.
Status Tuner::complete(bool allConfigs, const Problem &problem,
                       const SolutionLimits &limits) {
  KnownRecords known = getKnown(problem);
  SearchScope scope;
  scope.allConfigs = allConfigs;
  scope.limits = limits;
  scope.known = known.getRows();
  scope.searchedSolvers = known.getSearchedSolvers();
  return search(problem, std::move(scope));
}

Status Tuner::act(FindAction action, const Problem &problem,
                  const SolutionLimits &limits) {
  switch (action) {
  case FindAction::Answer:
    return runtime::success();
  case FindAction::Clean:
    return journal.forgetProblem(problem.key());
  case FindAction::Verify:
    return verify(problem, limits);
  case FindAction::SearchAgain:
    return searchAgain(problem, limits);
  case FindAction::Find:
  case FindAction::Search:
    return complete(action == FindAction::Search, problem, limits);
  }
  return runtime::success();
}

/// If a limit has ended a search, the guess of a solver without results may go
/// ahead of all that was measured. It is measured, too: nobody knows how long
/// the answer of a search would take otherwise.
Status Tuner::measureGuesses(const Problem &problem,
                             const SolutionLimits &limits) {
  while (!deadline.isOver()) {
    std::vector<Solution> listed = list(problem, limits);
    const Solution &best = listed.front();
    llvm::StringRef id = best.solver->id();
    bool isAhead =
        !best.measurement && llvm::any_of(listed, [](const Solution &solution) {
          return solution.measurement.has_value();
        });
    if (!isAhead || getKnown(problem).find(id, best.config))
      return runtime::success();
    Result<std::unique_ptr<Measurer>> measurer = measurers.create(problem);
    if (!measurer)
      return measurer.error();
    SearchScope scope;
    scope.limits = limits;
    scope.only = CandidateKey{problem.key(), id.str(), best.config.str()};
    ProblemSearch search(makeContext(**measurer, deadline), problem,
                         std::move(scope));
    if (Status status = search.verifyDefault(); !status)
      return status;
  }
  return runtime::success();
}

Result<Solution> Tuner::find(const Problem &problem,
                             const FindRequest &request) {
  ++statistics.problems;
  found.insert(problem.key());
  const FindRule &rule =
      getFindRule(request.tuning ? withTuning(findPolicy) : findPolicy);
  SolutionLimits limits = request.limits;
  if (rule.mayMeasureOrStore()) {
    FindAction action = rule.getAction(classify(problem, request));
    // A record of any kind will do.
    limits.dynamicOnly |= rule.measuresDynamicOnly() && measures(action);
    if (Status status = act(action, problem, limits); !status)
      return status.error();
    bool isSearch =
        action == FindAction::Search || action == FindAction::SearchAgain;
    if (isSearch)
      if (Status status = measureGuesses(problem, limits); !status)
        return status.error();
  }
  Solution best = lookUp(problem, limits);
  if (best.solver == &getReferenceSolver())
    if (Status status = measurers.checkReference(problem); !status)
      return status.error();
  return best;
}
