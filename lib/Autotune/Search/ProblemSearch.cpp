//===- ProblemSearch.cpp - The search over one problem --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemSearch.h"

#include "Search/Methods/ConfigSpace.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/ThreadPool.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

using namespace tarpon;
using runtime::EvaluationAnswer;
using runtime::EvaluationOutcome;
using runtime::Result;
using runtime::Status;

static constexpr llvm::StringLiteral kReferenceFile = "reference.tpn";

const ProblemSearch::Effort ProblemSearch::kRaceEffort = {
    MeasurementStage::Race, policy::kRaceSamples, policy::kRaceMinMs,
    policy::kRaceMaxMs};

ProblemSearch::ProblemSearch(SearchContext context, const Problem &problem,
                             SearchScope scope)
    : context(context), scope(std::move(scope)), problem(problem),
      testProblem(problem), problemKey(problem.key()) {
  // Of a problem that comes from its key, buildProblemPackage chooses the
  // scales such that results neither saturate nor vanish. Kernels are the same
  // for all scales.
  if (auto parsed = parseProblem(problemKey); mlir::succeeded(parsed))
    testProblem = *parsed;
  collectCandidates();
}

ProblemSearch::~ProblemSearch() {
  removePackages();
  if (!reference.empty())
    (void)llvm::sys::fs::remove(reference);
}

void ProblemSearch::removePackages() {
  for (Candidate &candidate : candidates) {
    if (!candidate.package.empty())
      (void)llvm::sys::fs::remove(candidate.package);
    candidate.package.clear();
  }
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The reference is no candidate where anything else is applicable: it is slow
/// by design. Solvers and configs come best guess first.
void ProblemSearch::collectCandidates() {
  const TargetInfo &target = context.compiler.getTarget();
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
  const TargetInfo &target = context.compiler.getTarget();
  if (!scope.only)
    return scope.allConfigs
               ? getConfigSpace(solver, problem, target)
               : std::vector{solver.defaultConfig(problem, target)};
  auto config = PerfConfig::parse(scope.only->config);
  if (scope.only->solver != solver.id() || mlir::failed(config))
    return {};
  return {*config};
}

/// Unless it is one already.
void ProblemSearch::addCandidate(const Solver &solver,
                                 const PerfConfig &config) {
  CandidateKey key = {problemKey, solver.id().str(), config.str()};
  if (llvm::any_of(candidates,
                   [&](const Candidate &known) { return known.key == key; }))
    return;
  Candidate candidate = {&solver, config, std::move(key), {}, {}, {}, {}};
  candidates.push_back(std::move(candidate));
}

void ProblemSearch::build(Candidate &candidate) {
  if (!candidate.package.empty() || !candidate.buildError.empty())
    return;
  if (context.isModelled)
    return model(candidate);
  Result<runtime::Package> package = buildProblemPackage(
      testProblem, *candidate.solver, candidate.config, context.compiler);
  if (!package) {
    candidate.buildError = package.message();
    return;
  }
  size_t index = &candidate - candidates.data();
  std::string path = context.directory.file(std::to_string(index) + ".tpn");
  Status status = runtime::writePackage(*package, path);
  if (status)
    candidate.package = path;
  else
    candidate.buildError = status.message();
}

/// How many packages may be there at a time.
size_t ProblemSearch::getBatchSize() const {
  int64_t bytes = std::max<int64_t>(countConstantBytes(problem), 1);
  return std::max<int64_t>(1, policy::kMaxPackageBytes / bytes);
}

/// Compiles on all cores; nothing is measured meanwhile.
void ProblemSearch::buildAll(llvm::ArrayRef<Candidate *> list) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    // What is not built in time is not measured either.
    for (size_t i; (i = next++) < list.size() && !context.deadline.isOver();)
      build(*list[i]);
  };
  size_t count =
      std::min<size_t>(list.size(), std::max(1, runtime::availableCores()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const Candidate *candidate : list)
    for (std::string &name : getKernels(*candidate->solver, candidate->config,
                                        problem, context.compiler.getTarget()))
      context.compiled.insert(std::move(name));
}

Status ProblemSearch::buildReference() {
  if (!reference.empty() || context.isModelled)
    return runtime::success();
  const Solver &solver = getReferenceSolver();
  const TargetInfo &target = context.compiler.getTarget();
  Result<runtime::Package> package = buildProblemPackage(
      testProblem, solver, solver.defaultConfig(problem, target),
      context.compiler);
  if (!package)
    return package.error();
  reference = context.directory.file(kReferenceFile.str());
  return runtime::writePackage(*package, reference);
}

//===----------------------------------------------------------------------===//
// One measurement
//===----------------------------------------------------------------------===//

/// What hangs is killed then. The reference may be part of the evaluation.
std::chrono::milliseconds ProblemSearch::getTimeLimit() const {
  double seconds = policy::kBaseTimeLimitSeconds +
                   problem.flops() / policy::kReferenceFlopsPerSecond;
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

static std::string printError(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

void ProblemSearch::judge(const EvaluationAnswer &answer,
                          const Candidate &candidate,
                          Measurement &measurement) const {
  measurement.detail = answer.error;
  switch (answer.outcome) {
  case EvaluationOutcome::Crashed:
    measurement.status = MeasurementStatus::Crashed;
    return;
  case EvaluationOutcome::TimedOut:
    measurement.status = MeasurementStatus::TimedOut;
    return;
  case EvaluationOutcome::Failed:
    measurement.status = MeasurementStatus::Failed;
    return;
  case EvaluationOutcome::Ok:
    break;
  }
  // A final goes on where the last round ended.
  if (candidate.result && candidate.result->stage == measurement.stage)
    measurement.samples = candidate.result->samples;
  if (measurement.stage == MeasurementStage::Final)
    measurement.rounds = candidate.result->rounds + 1;
  llvm::append_range(measurement.samples, answer.samplesMs);
  runtime::Measurement summary = runtime::summarize(measurement.samples);
  measurement.isDropped = answer.isDropped;
  measurement.median = summary.medianMs;
  measurement.mad = summary.madMs;
  if (static_cast<int64_t>(answer.outputs.size()) != problem.numResults()) {
    measurement.status = MeasurementStatus::Failed;
    measurement.detail = "the evaluator did not compare the results";
    return;
  }
  measurement.maxError = answer.comparison->maxAbsError;
  measurement.relativeL2 = answer.comparison->relativeL2;
  measurement.status = MeasurementStatus::Ok;
  for (auto [index, output] : llvm::enumerate(answer.outputs)) {
    double tolerance = getTolerance(problem, output.referenceScale,
                                    static_cast<int64_t>(index));
    // Written so that a NaN is wrong.
    if (output.maxAbsError <= tolerance)
      continue;
    measurement.status = MeasurementStatus::Wrong;
    measurement.detail = "error " + printError(output.maxAbsError) + " where " +
                         printError(tolerance) +
                         " is allowed and results go up to " +
                         printError(output.referenceScale);
    return;
  }
}

Status ProblemSearch::conclude(Candidate &candidate, Measurement measurement) {
  if (measurement.status != MeasurementStatus::Ok)
    rejected.push_back(measurement);
  ++context.statistics.measured;
  context.progress.advance(0);
  candidate.result = std::move(measurement);
  return context.journal.record(*candidate.result);
}

Status ProblemSearch::measure(Candidate &candidate, const Effort &effort) {
  Measurement measurement;
  measurement.key = candidate.key;
  measurement.stage = effort.stage;
  measurement.workspaceBytes =
      candidate.solver->workspaceSize(problem, context.compiler.getTarget());
  if (context.isModelled)
    return concludeModelled(candidate, std::move(measurement));
  if (!candidate.buildError.empty()) {
    measurement.detail = candidate.buildError;
    return conclude(candidate, std::move(measurement));
  }
  int64_t interrupted =
      context.journal.countInterrupted(candidate.key, effort.stage);
  if (interrupted >= policy::kMaxInterrupted) {
    // Perhaps the user's doing: the next run tries it again.
    measurement.status = MeasurementStatus::Failed;
    measurement.detail =
        std::to_string(interrupted) + " runs ended while it was measured";
    return conclude(candidate, std::move(measurement));
  }
  if (Status status =
          context.journal.recordStarted(candidate.key, effort.stage);
      !status)
    return status;
  runtime::EvaluationRequest request;
  request.package = candidate.package;
  request.reference = reference;
  request.threads = static_cast<int>(context.compiler.getTarget().threads);
  request.minSamples = effort.minSamples;
  request.minTimeMs = effort.minMs;
  request.maxTimeMs = effort.maxMs;
  request.rotateBytes = policy::kRotateBytes;
  request.coldConstants = wantsColdConstants(problem);
  request.cutoffMs = effort.cutoffMs;
  Result<EvaluationAnswer> answer =
      context.evaluator.evaluate(request, getTimeLimit());
  if (!answer)
    return answer.error();
  judge(*answer, candidate, measurement);
  return conclude(candidate, std::move(measurement));
}

/// A solver that is broken is so in many configs: one remark for all of them.
void ProblemSearch::reportRejected() {
  context.statistics.rejected += static_cast<int64_t>(rejected.size());
  std::set<std::pair<std::string, MeasurementStatus>> reported;
  for (const Measurement &first : rejected) {
    auto isAlike = [&](const Measurement &other) {
      return other.key.solver == first.key.solver &&
             other.status == first.status;
    };
    if (!reported.insert({first.key.solver, first.status}).second)
      continue;
    auto more = llvm::count_if(rejected, isAlike) - 1;
    context.progress.remark(
        first.key.solver + " {" + first.key.config + "}" +
        (more ? " and " + std::to_string(more) + " more of its configs are"
              : " is") +
        " not used for " + problemKey + ": " +
        getStatusName(first.status).str() + ": " + first.detail);
  }
}

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

/// What the search method goes by.
SearchSpace ProblemSearch::makeSpace() const {
  const TargetInfo &target = context.compiler.getTarget();
  SearchSpace space;
  std::vector<SolverConfig> solutions;
  for (const Candidate &candidate : candidates)
    solutions.push_back({candidate.solver, candidate.config});
  std::vector<double> expected =
      expectTimes(problem, solutions, target, context.ranker);
  for (auto [index, candidate] : llvm::enumerate(candidates))
    space.candidates.push_back(
        {candidate.key.solver, candidate.config, expected[index],
         getKernels(*candidate.solver, candidate.config, problem, target)});
  space.compiled = context.compiled;
  space.features = describeProblem(problem).features;
  space.parallel = std::clamp<size_t>(runtime::availableCores(), 1,
                                      policy::kMaxParallelProposals);
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

/// In the order in which they were measured.
std::vector<SearchResult> ProblemSearch::getKnownResults() const {
  std::vector<SearchResult> results;
  for (const Measurement &known : scope.known)
    for (auto [index, candidate] : llvm::enumerate(candidates))
      if (candidate.result && candidate.key == known.key)
        results.push_back(makeResult(index, *candidate.result));
  return results;
}

/// Who cannot beat the best of this machine by enough to come into the final.
double ProblemSearch::getCutoff() const {
  double best = 0;
  for (const Candidate &candidate : candidates)
    if (candidate.isOk() && !candidate.result->isSystem &&
        (best == 0 || candidate.result->median < best))
      best = candidate.result->median;
  return best * policy::kFinalistRatio;
}

/// Whether the user wants no more than that. It is not finished then.
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

/// Compiles and measures, until a limit is hit.
/// What would not be measured need not be compiled.
size_t ProblemSearch::countLeft(llvm::ArrayRef<SearchResult> results) const {
  if (!scope.allConfigs || !context.options.iterations)
    return policy::kMaxBatch;
  return std::max<int64_t>(1, *context.options.iterations -
                                  static_cast<int64_t>(results.size()));
}

Status ProblemSearch::raceBatch(llvm::ArrayRef<size_t> batch,
                                const Deadline &searchEnd,
                                std::vector<SearchResult> &results) {
  std::vector<Candidate *> list;
  for (size_t index : batch)
    list.push_back(&candidates[index]);
  removePackages();
  buildAll(list);
  for (size_t index : batch) {
    if (isOver() || isAtLimit(results, searchEnd))
      return runtime::success();
    Effort effort = kRaceEffort;
    effort.cutoffMs = getCutoff();
    Candidate &candidate = candidates[index];
    if (Status status = measure(candidate, effort); !status)
      return status;
    results.push_back(makeResult(index, *candidate.result));
    if (results.back().isOk() && candidate.result->isDropped)
      ++context.statistics.dropped;
  }
  return runtime::success();
}

/// A search that came to its end stays there: with the times of the final, its
/// method might see reason to go on, without end. Unless there are solvers that
/// it did not know, or all is wanted.
bool ProblemSearch::hasEnough() const {
  if (!scope.isSearched ||
      context.options.method == SearchMethodKind::Exhaustive)
    return false;
  return llvm::all_of(getSolvers(), [this](const std::string &solver) {
    return llvm::any_of(candidates, [&](const Candidate &candidate) {
      return candidate.key.solver == solver && candidate.result;
    });
  });
}

Status ProblemSearch::race() {
  if (hasEnough())
    return runtime::success();
  SearchSpace space = makeSpace();
  std::vector<SearchResult> results = getKnownResults();
  // Where each solver has one config, all of them are wanted.
  std::unique_ptr<SearchMethod> method = makeSearchMethod(
      scope.allConfigs ? context.options.method : SearchMethodKind::Exhaustive,
      space, context.options.seed);
  Deadline searchEnd = context.options.problemSeconds
                           ? Deadline::after(*context.options.problemSeconds)
                           : Deadline::never();
  size_t batch = std::min(getBatchSize(), policy::kMaxBatch);
  while (true) {
    std::vector<size_t> next =
        method->propose(results, std::min(batch, countLeft(results)));
    if (next.empty() || isOver() || isAtLimit(results, searchEnd))
      return runtime::success();
    hasRaced = true;
    if (Status status = buildReference(); !status)
      return status;
    if (Status status = raceBatch(next, searchEnd, results); !status)
      return status;
  }
}

std::vector<ProblemSearch::Candidate *> ProblemSearch::pickFinalists() {
  std::vector<Candidate *> ranked;
  for (Candidate &candidate : candidates)
    if (candidate.isOk() && !candidate.result->isDropped)
      ranked.push_back(&candidate);
  llvm::stable_sort(ranked, [](const Candidate *a, const Candidate *b) {
    return a->result->median < b->result->median;
  });
  size_t count = 0;
  while (count < std::min(ranked.size(), policy::kMaxFinalists) &&
         ranked[count]->result->median <=
             policy::kFinalistRatio * ranked[0]->result->median)
    ++count;
  ranked.resize(count);
  return ranked;
}

/// Somebody who has been in the final has the result that counts: who is in it
/// is decided once, and again when others were measured since.
std::vector<ProblemSearch::Candidate *> ProblemSearch::getFinalists() {
  std::vector<Candidate *> earlier;
  for (Candidate &candidate : candidates)
    if (candidate.isOk() && candidate.result->stage == MeasurementStage::Final)
      earlier.push_back(&candidate);
  bool isDecided =
      !earlier.empty() && !hasRaced && llvm::all_of(earlier, [](Candidate *c) {
        return c->result->rounds >= policy::kFinalRounds;
      });
  if (isDecided)
    return earlier;
  std::vector<Candidate *> finalists = pickFinalists();
  // One alone has won, unless a result of a final would go before its own.
  bool isAlone =
      finalists.size() == 1 && (earlier.empty() || finalists == earlier);
  return isAlone ? std::vector<Candidate *>() : finalists;
}

Status ProblemSearch::runFinal() {
  // A model says the same every time.
  if (context.isModelled)
    return runtime::success();
  std::vector<Candidate *> finalists = getFinalists();
  constexpr Effort kEffort = {MeasurementStage::Final, policy::kRoundSamples,
                              policy::kRoundMinMs, policy::kRoundMaxMs};
  for (int round = 0; round < policy::kFinalRounds; ++round) {
    for (Candidate *candidate : finalists) {
      if (!candidate->isOk() || candidate->result->rounds > round)
        continue;
      if (isOver())
        return runtime::success();
      if (Status status = buildReference(); !status)
        return status;
      build(*candidate);
      if (Status status = measure(*candidate, kEffort); !status)
        return status;
    }
  }
  return runtime::success();
}

/// Whether it is over, which then stays on record.
bool ProblemSearch::isOver() {
  isCut |= context.deadline.isOver();
  return isCut;
}

/// What may pass gets another chance in every run.
static bool counts(const Measurement &known) {
  return !(known.isEarlier && known.mayPass());
}

/// Whether what is known of a solver is all that is wanted: something, where
/// one config is enough; anything that the system store knows, whose makers
/// have searched it.
bool ProblemSearch::isSettled(llvm::StringRef solver) const {
  return llvm::any_of(scope.known, [&](const Measurement &known) {
    return known.key.solver == solver && counts(known) &&
           (known.isSystem || !scope.allConfigs);
  });
}

void ProblemSearch::recall(const Measurement &known) {
  const Solver *solver =
      findSolver(context.compiler.getTarget(), known.key.solver);
  auto config = PerfConfig::parse(known.key.config);
  // A solver that is settled takes part with what is known of it.
  if (solver && mlir::succeeded(config) && isSettled(known.key.solver) &&
      llvm::is_contained(getSolvers(), known.key.solver) &&
      solver->isValidConfig(problem, context.compiler.getTarget(), *config))
    addCandidate(*solver, *config);
  for (Candidate &candidate : candidates)
    if (candidate.key == known.key) {
      ++context.statistics.reused;
      candidate.result = known;
    }
}

void ProblemSearch::recallResults() {
  for (const Measurement &known : scope.known)
    if (counts(known))
      recall(known);
  llvm::erase_if(candidates, [this](const Candidate &candidate) {
    return !candidate.result && isSettled(candidate.key.solver);
  });
}

std::optional<Measurement> ProblemSearch::getFirstResult() const {
  return candidates.empty() ? std::nullopt : candidates.front().result;
}

std::vector<std::string> ProblemSearch::getSolvers() const {
  std::vector<std::string> ids;
  for (const Candidate &candidate : candidates)
    if (!llvm::is_contained(ids, candidate.key.solver))
      ids.push_back(candidate.key.solver);
  return ids;
}

Status ProblemSearch::run() {
  recallResults();
  Status status = race();
  if (status)
    status = runFinal();
  reportRejected();
  return status;
}

Status ProblemSearch::verifyDefault() {
  recallResults();
  Status status = runtime::success();
  size_t count = 0;
  for (Candidate &candidate : candidates) {
    if (candidate.result)
      continue;
    if (!status || count++ == policy::kMaxVerifications)
      break;
    status = buildReference();
    build(candidate);
    if (status)
      status = measure(candidate, kRaceEffort);
    if (candidate.isOk())
      break;
  }
  reportRejected();
  return status;
}
