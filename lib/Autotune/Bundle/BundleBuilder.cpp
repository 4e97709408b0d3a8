//===- BundleBuilder.cpp - Compiles candidates of a search ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Bundle/BundleBuilder.h"

#include "Measure/EvaluationConditions.h"
#include "Search/CandidateProposer.h"
#include "Search/KnownRecords.h"
#include "Search/Methods/ConfigSpace.h"
#include "Search/Race.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/IR/ParallelFor.h"
#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Runtime/ThreadPool.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

BundleBuilder::BundleBuilder(KernelCompiler &compiler, Journal &journal,
                             const Journal *system,
                             const SolutionRanker *ranker,
                             const SearchOptions &options)
    : compiler(compiler), journal(journal), system(system), ranker(ranker),
      options(options), related(std::make_unique<RelatedProblems>()) {
  this->options.problemSeconds.reset();
  // Compiling a candidate takes longer than running it would.
  if (!options.iterations && !hasTimes(compiler.getTarget()))
    this->options.iterations = policy::kModelledCandidates;
}

BundleBuilder::~BundleBuilder() = default;

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// A final is only timed when a search has ended, by itself or at a limit.
static bool hasFinal(const KnownRecords &known) {
  return llvm::any_of(known.getRows(), [](const Measurement &row) {
    return row.stage == MeasurementStage::Final && !row.isSystem;
  });
}

/// The results that the search has so far. All of them are those of this
/// search. One that has ended (`isEnded`) does not go on: with the times of its
/// final, the method might do so without end.
static SearchScope makeScope(const KnownRecords &known, bool isEnded,
                             const SolutionLimits &limits) {
  SearchScope scope;
  scope.limits = limits;
  scope.known = known.getRows();
  scope.searchedSolvers = known.getSearchedSolvers();
  for (Measurement &row : scope.known) {
    row.isEarlier = false;
    if (isEnded)
      scope.searchedSolvers.push_back(row.key.solver);
  }
  return scope;
}

/// The finalists that were not timed in all rounds; none if the final is
/// decided. Only an exhaustive search goes on after a final.
static std::vector<size_t> findFinalists(llvm::ArrayRef<Contender> contenders,
                                         SearchMethodKind method) {
  std::vector<size_t> finalists = chooseFinalists(
      contenders, /*hasRaced=*/method == SearchMethodKind::Exhaustive);
  bool isDecided = llvm::all_of(finalists, [&](size_t index) {
    return contenders[index].result->rounds >= policy::kFinalRounds;
  });
  return isDecided ? std::vector<size_t>() : finalists;
}

/// Puts those of `first` that have no result yet in front of what the method
/// proposes.
static std::vector<size_t> putInFront(llvm::ArrayRef<CandidateKey> first,
                                      llvm::ArrayRef<Contender> contenders,
                                      llvm::ArrayRef<size_t> proposed,
                                      size_t max) {
  std::vector<size_t> next;
  for (const CandidateKey &key : first)
    for (auto [index, contender] : llvm::enumerate(contenders))
      if (!contender.result && contender.key == key)
        next.push_back(index);
  for (size_t index : proposed)
    if (!llvm::is_contained(next, index))
      next.push_back(index);
  next.resize(std::min(next.size(), max));
  return next;
}

Result<std::vector<size_t>> BundleBuilder::chooseNext(
    const Problem &problem, size_t max, const SolutionLimits &limits,
    llvm::ArrayRef<CandidateKey> first, std::vector<Contender> &contenders,
    MeasurementStage &stage) {
  const TargetInfo &target = compiler.getTarget();
  auto getCandidates = [&] { return describeCandidates(problem, target); };
  KnownRecords known(problem.key(), journal, system, getCandidates);
  bool isEnded = hasFinal(known);
  CandidateProposer proposer(
      {target, journal, options, *related, compiled, system, ranker, max},
      problem, makeScope(known, isEnded, limits), contenders);
  proposer.recall();
  stage = MeasurementStage::Race;
  std::vector<size_t> next = proposer.propose(max);
  if (!next.empty()) {
    next = putInFront(first, contenders, next,
                      std::min(max, proposer.countLeft()));
    proposer.noteCompiled(next);
    return next;
  }
  if (!isEnded && !contenders.empty() && !proposer.wasStopped() &&
      !proposer.leftSolversOut())
    if (Status status = journal.recordFinding(
            problem.key(), {Finding::Searched, getCandidates()});
        !status)
      return status.error();
  stage = MeasurementStage::Final;
  return hasTimes(target) ? findFinalists(contenders, options.method)
                          : std::vector<size_t>();
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

BundledCandidate BundleBuilder::compile(const Problem &problem,
                                        const Contender &contender) {
  BundledCandidate candidate;
  candidate.key = contender.key;
  candidate.workspaceBytes = contender.workspaceBytes;
  Result<runtime::Package> package = buildProblemPackage(
      problem, *contender.solver, contender.config, compiler);
  Result<std::string> bytes = package ? runtime::serializePackage(*package)
                                      : Result<std::string>(package.error());
  if (!bytes) {
    candidate.error = bytes.message();
    return candidate;
  }
  if (!hasTimes(compiler.getTarget())) {
    Result<SolutionEstimate> estimate =
        compiler.estimate(problem, *contender.solver, contender.config);
    if (!estimate) {
      candidate.error = estimate.message();
      return candidate;
    }
    candidate.modelMs = estimate->milliseconds;
  }
  candidate.package = std::move(*bytes);
  return candidate;
}

Result<CandidateBundle> BundleBuilder::makeHead(const Problem &problem,
                                                MeasurementStage stage) {
  const TargetInfo &target = compiler.getTarget();
  Result<const Solver *> solver =
      findEvaluationReference(problem, target, compiler.getKernelForm());
  if (!solver)
    return solver.error();
  Result<runtime::Package> reference = buildProblemPackage(
      problem, **solver, (*solver)->defaultConfig(problem, target), compiler);
  if (!reference)
    return reference.error();
  Result<std::string> bytes = runtime::serializePackage(*reference);
  if (!bytes)
    return bytes.error();
  CandidateBundle bundle;
  bundle.problem = problem.key();
  bundle.target = target.traits->getProcessor(target);
  bundle.kernelVersion = getKernelVersion(target);
  bundle.threads = target.threads;
  bundle.stage = stage;
  bundle.reference = std::move(*bytes);
  return bundle;
}

Result<std::optional<CandidateBundle>>
BundleBuilder::build(const Problem &given, size_t max,
                     const SolutionLimits &limits,
                     llvm::ArrayRef<CandidateKey> first, Deadline deadline) {
  // As for measurers: kernels are the same for all scales.
  Problem problem = given.withUnitScales();
  std::vector<Contender> contenders;
  MeasurementStage stage = MeasurementStage::Race;
  size_t count = std::clamp<size_t>(max, 1, getMaxBatch(problem));
  Result<std::vector<size_t>> next =
      chooseNext(problem, count, limits, first, contenders, stage);
  if (!next)
    return next.error();
  if (next->empty())
    return std::optional<CandidateBundle>();
  Result<CandidateBundle> bundle = makeHead(problem, stage);
  if (!bundle)
    return bundle.error();
  bundle->candidates.resize(next->size());
  parallelFor(
      next->size(), std::max(1, runtime::availableCores()), [&](size_t i) {
        if (!deadline.isOver())
          bundle->candidates[i] = compile(problem, contenders[(*next)[i]]);
      });
  llvm::erase_if(bundle->candidates, [](const BundledCandidate &candidate) {
    return candidate.key.solver.empty();
  });
  return std::optional<CandidateBundle>(std::move(*bundle));
}
