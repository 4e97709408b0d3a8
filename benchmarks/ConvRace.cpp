//===- ConvRace.cpp - The fastest solution of one problem -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvRace.h"

#include "Sampling.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <optional>

using namespace tarpon;
using namespace tarpon::benchmarks;
using runtime::Error;
using runtime::Result;

/// Slower than the best by more than this after one sample: dropped.
static constexpr double kHopelessRatio = 1.5;
/// After a round: not in the final.
static constexpr double kFinalistRatio = 1.08;
static constexpr size_t kMaxFinalists = 3;
static constexpr double kHeatMs = 2;
static constexpr double kFinalRoundMs = 4;
static constexpr int kFinalRounds = 4;

/// Sums in another order, and Winograd's transforms: relative L2. Quantised
/// results may differ by a step here and there.
static constexpr double kMaxDifference = 1e-3, kMaxQuantizedDifference = 1e-2;

//===----------------------------------------------------------------------===//
// Entrants
//===----------------------------------------------------------------------===//

Result<Entrant> Entrant::create(runtime::Package package, int64_t threads) {
  auto inputs = runtime::makeRandomInputs(package, /*seed=*/1);
  if (!inputs)
    return inputs.error();
  runtime::ExecutorOptions options;
  options.threads = static_cast<int>(threads);
  options.paddedBuffers = true;
  auto executor = runtime::Executor::create(std::move(package), options);
  if (!executor)
    return executor.error();
  int64_t replicas = countReplicas((*executor)->workingSetBytes());
  auto first =
      runtime::Instance::create(std::move(*executor), std::move(*inputs));
  if (!first)
    return first.error();
  Entrant entrant;
  entrant.instances.push_back(std::move(*first));
  while (static_cast<int64_t>(entrant.instances.size()) < replicas) {
    auto next = entrant.instances.front().replicate();
    if (!next)
      return next.error();
    entrant.instances.push_back(std::move(*next));
  }
  return entrant;
}

Result<Entrant> Entrant::create(const Problem &problem, const Solver &solver,
                                const PerfConfig &config,
                                KernelCompiler &compiler) {
  auto package = buildProblemPackage(problem, solver, config, compiler);
  if (!package)
    return package.error();
  return create(std::move(*package), compiler.getTarget().threads);
}

const runtime::HostTensor &Entrant::getResult() {
  // Runs on the host do not fail.
  (void)instances.front().run();
  return instances.front().outputs().front();
}

//===----------------------------------------------------------------------===//
// The race
//===----------------------------------------------------------------------===//

namespace {

struct Candidate {
  const Solver *solver;
  PerfConfig config;
  std::unique_ptr<Entrant> entrant;
  std::vector<double> samples;

  double median() const { return runtime::median(samples); }
  std::string name() const {
    return solver->id().str() + " {" + config.str() + "}";
  }
};

class Race {
public:
  Race(const Problem &problem, KernelCompiler &compiler, double limitSeconds)
      : problem(problem), compiler(compiler), limitSeconds(limitSeconds) {}

  Result<RaceResult> run();

private:
  using Clock = std::chrono::steady_clock;

  void collect();
  void runHeat(Candidate &candidate);
  bool isRight(Candidate &candidate);
  void runFinal();
  void reject(const Candidate &candidate, const std::string &why) {
    result.rejected.push_back(candidate.name() + ": " + why);
  }
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  const Problem &problem;
  KernelCompiler &compiler;
  double limitSeconds;
  Clock::time_point start = Clock::now();
  std::vector<Candidate> candidates;
  std::optional<runtime::HostTensor> expected;
  double bestMs = 0;
  RaceResult result;
};

} // namespace

/// Every solver's first config, then every solver's second one, and so on:
/// should the time not do for all, the likely ones have been there.
void Race::collect() {
  const TargetInfo &target = compiler.getTarget();
  std::vector<std::pair<const Solver *, std::vector<PerfConfig>>> all;
  size_t longest = 0;
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    if (solver == &getReferenceSolver())
      continue;
    all.emplace_back(solver, solver->configs(problem, target));
    longest = std::max(longest, all.back().second.size());
  }
  for (size_t i = 0; i < longest; ++i)
    for (auto &[solver, configs] : all)
      if (i < configs.size())
        candidates.push_back({solver, configs[i], nullptr, {}});
  if (candidates.empty())
    candidates.push_back({&getReferenceSolver(), PerfConfig(), nullptr, {}});
  result.candidates = static_cast<int64_t>(candidates.size());
}

bool Race::isRight(Candidate &candidate) {
  const runtime::HostTensor &output = candidate.entrant->getResult();
  if (!expected) {
    auto copy = output.clone();
    if (copy)
      expected = std::move(*copy);
    return copy.operator bool();
  }
  auto comparison = runtime::compareTensors(output, *expected);
  double allowed =
      problem.result.quantized ? kMaxQuantizedDifference : kMaxDifference;
  // Written so that a NaN is wrong.
  if (comparison && comparison->relativeL2 <= allowed)
    return true;
  reject(candidate, comparison ? llvm::formatv("its result is off by {0:e2}",
                                               comparison->relativeL2)
                                     .str()
                               : comparison.message());
  return false;
}

void Race::runHeat(Candidate &candidate) {
  auto entrant =
      Entrant::create(problem, *candidate.solver, candidate.config, compiler);
  if (!entrant)
    return reject(candidate, entrant.message());
  candidate.entrant = std::make_unique<Entrant>(std::move(*entrant));
  ++result.measured;
  if (!isRight(candidate))
    return candidate.entrant.reset();
  auto run = [&] { candidate.entrant->run(); };
  std::vector<double> samples = sampleRound(run, /*roundMs=*/0);
  bool isHopeless =
      bestMs > 0 && runtime::median(samples) > kHopelessRatio * bestMs;
  if (!isHopeless)
    samples = sampleRound(run, kHeatMs);
  candidate.samples = std::move(samples);
  double median = candidate.median();
  if (bestMs == 0 || median < bestMs)
    bestMs = median;
  // Replicas of who cannot win would fill the memory.
  for (Candidate &other : candidates)
    if (other.entrant && other.median() > kFinalistRatio * bestMs)
      other.entrant.reset();
}

void Race::runFinal() {
  std::vector<Candidate *> finalists;
  for (Candidate &candidate : candidates)
    if (candidate.entrant)
      finalists.push_back(&candidate);
  llvm::stable_sort(finalists, [](const Candidate *a, const Candidate *b) {
    return a->median() < b->median();
  });
  finalists.resize(std::min(finalists.size(), kMaxFinalists));
  for (Candidate *candidate : finalists)
    candidate->samples.clear();
  for (int round = 0; round < kFinalRounds; ++round)
    for (Candidate *candidate : finalists)
      llvm::append_range(
          candidate->samples,
          sampleRound([&] { candidate->entrant->run(); }, kFinalRoundMs));
  for (Candidate *candidate : finalists) {
    double median = candidate->median();
    if (result.solver && median >= result.medianMs)
      continue;
    result.solver = candidate->solver;
    result.config = candidate->config;
    result.medianMs = median;
  }
}

Result<RaceResult> Race::run() {
  collect();
  for (Candidate &candidate : candidates)
    if (bestMs == 0 || seconds() < limitSeconds)
      runHeat(candidate);
  runFinal();
  if (!result.solver)
    return Error{"no solver computes " + problem.key() + ": " +
                 llvm::join(result.rejected, "; ")};
  result.seconds = seconds();
  return result;
}

Result<RaceResult> benchmarks::race(const Problem &problem,
                                    KernelCompiler &compiler,
                                    double limitSeconds) {
  return Race(problem, compiler, limitSeconds).run();
}
