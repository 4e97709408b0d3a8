//===- CandidateProposer.cpp - Decides what is measured next --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/CandidateProposer.h"

#include "Search/Methods/ConfigSpace.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tarpon;

CandidateProposer::CandidateProposer(ProposalContext context,
                                     const Problem &problem, SearchScope scope,
                                     std::vector<Contender> &contenders)
    : context(context), problem(problem), scope(std::move(scope)),
      contenders(contenders) {
  collectCandidates();
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The reference is no candidate if any other solver is applicable: it is slow
/// by design. Solvers and configs are ordered by the best guess.
void CandidateProposer::collectCandidates() {
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

std::vector<PerfConfig>
CandidateProposer::getConfigs(const Solver &solver) const {
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
void CandidateProposer::addCandidate(const Solver &solver,
                                     const PerfConfig &config) {
  Contender contender;
  contender.key = {problem.key(), solver.id().str(), config.str()};
  contender.solver = &solver;
  contender.config = config;
  contender.workspaceBytes = solver.workspaceSize(problem, context.target);
  if (llvm::none_of(contenders, [&](const Contender &known) {
        return known.key == contender.key;
      }))
    contenders.push_back(std::move(contender));
}

std::vector<std::string> CandidateProposer::getSolvers() const {
  std::vector<std::string> ids;
  for (const Contender &contender : contenders)
    if (!llvm::is_contained(ids, contender.key.solver))
      ids.push_back(contender.key.solver);
  return ids;
}

//===----------------------------------------------------------------------===//
// Known results
//===----------------------------------------------------------------------===//

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
bool CandidateProposer::isSettled(llvm::StringRef solver) const {
  bool isSearched = context.options.method != SearchMethodKind::Exhaustive &&
                    llvm::is_contained(scope.searchedSolvers, solver);
  return llvm::any_of(scope.known, [&](const Measurement &known) {
    return known.key.solver == solver && counts(known) &&
           (known.isSystem || !scope.allConfigs || isSearched);
  });
}

void CandidateProposer::recall(const Measurement &known, int64_t &count) {
  const Solver *solver = findSolver(context.target, known.key.solver);
  auto config = PerfConfig::parse(known.key.config);
  // A settled solver takes part with its records.
  if (solver && mlir::succeeded(config) && isSettled(known.key.solver) &&
      llvm::is_contained(getSolvers(), known.key.solver) &&
      solver->isValidConfig(problem, context.target, *config))
    addCandidate(*solver, *config);
  for (Contender &contender : contenders)
    if (contender.key == known.key) {
      ++count;
      contender.result = known;
    }
}

int64_t CandidateProposer::recall() {
  int64_t count = 0;
  for (const Measurement &known : scope.known)
    if (counts(known))
      recall(known, count);
  llvm::erase_if(contenders, [this](const Contender &contender) {
    return !contender.result && isSettled(contender.key.solver);
  });
  for (const Measurement &known : scope.known)
    for (auto [index, contender] : llvm::enumerate(contenders))
      if (contender.result && contender.key == known.key)
        take(index);
  return count;
}

void CandidateProposer::take(size_t index) {
  const Measurement &m = *contenders[index].result;
  SearchResult result;
  result.candidate = index;
  if (m.status == MeasurementStatus::Ok)
    result.milliseconds = m.median;
  results.push_back(result);
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

/// The input of the search method.
SearchSpace CandidateProposer::makeSpace() const {
  const TargetInfo &target = context.target;
  SearchSpace made;
  std::vector<SolverConfig> solutions;
  for (const Contender &contender : contenders)
    solutions.push_back({contender.solver, contender.config});
  std::vector<double> expected =
      expectTimes(problem, solutions, target, context.ranker);
  for (auto [index, contender] : llvm::enumerate(contenders))
    made.candidates.push_back(
        {contender.key.solver, contender.config, expected[index],
         getKernels(*contender.solver, contender.config, problem, target)});
  made.compiled = context.compiled;
  made.features = describeProblem(problem).features;
  made.parallel = context.parallel;
  if (scope.allConfigs && context.options.method == SearchMethodKind::Guided)
    made.related = context.related.find(problem, context.journal,
                                        context.system, target, context.ranker);
  return made;
}

/// If each solver has one config, all of them are wanted.
void CandidateProposer::begin() {
  space = makeSpace();
  method = makeSearchMethod(scope.allConfigs ? context.options.method
                                             : SearchMethodKind::Exhaustive,
                            space, context.options.seed);
  if (context.options.problemSeconds)
    end = Deadline::after(*context.options.problemSeconds);
}

/// Candidates beyond it need not be compiled.
size_t CandidateProposer::countLeft() const {
  if (!scope.allConfigs || !context.options.iterations)
    return policy::kMaxBatch;
  return std::max<int64_t>(1, *context.options.iterations -
                                  static_cast<int64_t>(results.size()));
}

bool CandidateProposer::isAtLimit() {
  const SearchOptions &options = context.options;
  if (!scope.allConfigs)
    return false;
  auto count = static_cast<int64_t>(results.size());
  bool isAt =
      (options.iterations && count >= *options.iterations) ||
      (options.patience && isPatienceOver(results, *options.patience)) ||
      end.isOver();
  isStopped |= isAt;
  return isAt;
}

std::vector<size_t> CandidateProposer::propose(size_t max) {
  if (llvm::all_of(contenders, [](const Contender &contender) {
        return contender.result.has_value();
      }))
    return {};
  if (!method)
    begin();
  std::vector<size_t> next =
      method->propose(results, std::min(max, countLeft()));
  return next.empty() || isAtLimit() ? std::vector<size_t>() : next;
}

void CandidateProposer::noteCompiled(llvm::ArrayRef<size_t> batch) {
  for (size_t index : batch) {
    const Contender &contender = contenders[index];
    for (std::string &name : getKernels(*contender.solver, contender.config,
                                        problem, context.target))
      context.compiled.insert(std::move(name));
  }
}
