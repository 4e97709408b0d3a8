//===- RoundsBenchmark.cpp - Searches in rounds against tune --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: rounds-benchmark LIST THREADS MAX...
//
// Searches each problem of the list (lines of `graph-opt tune`) as a tuner
// does, and in rounds of at most MAX candidates between a builder and an
// evaluator, each problem by itself. Then it times the winners of both in turn,
// and prints how many candidates each search has measured, in how many rounds,
// and the ratio of the times: above 1, the rounds' winner is slower.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Bundle/BundleBuilder.h"
#include "tarpon/Autotune/Bundle/BundleEvaluator.h"
#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Autotune/Store/SystemStore.h"
#include "tarpon/Driver/Workload.h"
#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

static constexpr const char *kFile = "rounds-benchmark.bundle";

namespace {

/// One search of one problem.
struct SearchResultRow {
  size_t candidates = 0, rounds = 0;
  double seconds = 0;
  Measurement best;
};

class RoundsBenchmark {
public:
  RoundsBenchmark(const TargetInfo &target, const SolutionRanker *ranker)
      : compiler(target,
                 std::make_shared<KernelCache>(KernelCache::defaultDirectory()),
                 makeHostBackend(target)),
        ranker(ranker), progress(llvm::errs(), Progress::Style::Quiet),
        evaluator(findEvaluatorProgram(), progress) {}

  Result<SearchResultRow> tune(const Problem &problem);
  Result<SearchResultRow> searchInRounds(const Problem &problem, size_t max);
  /// The time of `a` as a share of that of `b`.
  Result<double> compare(const Problem &problem, const Measurement &a,
                         const Measurement &b);

private:
  std::unique_ptr<Journal> makeJournal() {
    return Journal::openInMemory(
        JournalContext::forTarget(compiler.getTarget()));
  }
  Result<std::string> package(const Problem &problem, const CandidateKey &key);

  KernelCompiler compiler;
  const SolutionRanker *ranker;
  Progress progress;
  BundleEvaluator evaluator;
};

} // namespace

static double getSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static SearchResultRow summarize(const Journal &journal,
                                 const Problem &problem) {
  SearchResultRow row;
  row.candidates = journal.getMeasurements(problem.key()).size();
  if (auto best = journal.getBest(problem.key()))
    row.best = *best;
  return row;
}

Result<SearchResultRow> RoundsBenchmark::tune(const Problem &problem) {
  std::unique_ptr<Journal> journal = makeJournal();
  Tuner tuner(compiler, *journal, progress);
  tuner.setRanker(ranker);
  double start = getSeconds();
  Result<Solution> solution = tuner.tune(problem);
  if (!solution)
    return solution.error();
  SearchResultRow row = summarize(*journal, problem);
  row.seconds = getSeconds() - start;
  return row;
}

Result<SearchResultRow> RoundsBenchmark::searchInRounds(const Problem &problem,
                                                        size_t max) {
  std::unique_ptr<Journal> journal = makeJournal();
  BundleBuilder builder(compiler, *journal, /*system=*/nullptr, ranker,
                        SearchOptions());
  double start = getSeconds();
  size_t rounds = 0;
  while (true) {
    Result<std::optional<CandidateBundle>> bundle = builder.build(problem, max);
    if (!bundle)
      return bundle.error();
    if (!*bundle)
      break;
    ++rounds;
    if (Status status = writeBundle(**bundle, kFile); !status)
      return status.error();
    Result<std::vector<Measurement>> measured =
        evaluator.measure(kFile, journal->getMeasurements(problem.key()));
    if (!measured)
      return measured.error();
    for (const Measurement &m : *measured)
      if (Status status = journal->record(m); !status)
        return status.error();
  }
  SearchResultRow row = summarize(*journal, problem);
  row.seconds = getSeconds() - start;
  row.rounds = rounds;
  return row;
}

Result<std::string> RoundsBenchmark::package(const Problem &problem,
                                             const CandidateKey &key) {
  const TargetInfo &target = compiler.getTarget();
  Result<runtime::Package> built = buildProblemPackage(
      problem.withUnitScales(), *findSolver(target, key.solver),
      *PerfConfig::parse(key.config), compiler);
  return built ? runtime::serializePackage(*built)
               : Result<std::string>(built.error());
}

/// Both are finalists of one bundle.
Result<double> RoundsBenchmark::compare(const Problem &problem,
                                        const Measurement &a,
                                        const Measurement &b) {
  if (a.key == b.key)
    return 1.0;
  std::unique_ptr<Journal> journal = makeJournal();
  BundleBuilder builder(compiler, *journal, nullptr, ranker, SearchOptions());
  Result<std::optional<CandidateBundle>> bundle = builder.build(problem, 1);
  if (!bundle || !*bundle)
    return runtime::Error{"nothing to compare"};
  (*bundle)->stage = MeasurementStage::Final;
  (*bundle)->candidates.clear();
  for (const Measurement *m : {&a, &b}) {
    Result<std::string> bytes = package(problem, m->key);
    if (!bytes)
      return bytes.error();
    BundledCandidate candidate;
    candidate.key = m->key;
    candidate.package = std::move(*bytes);
    (*bundle)->candidates.push_back(std::move(candidate));
  }
  if (Status status = writeBundle(**bundle, kFile); !status)
    return status.error();
  // Five finals of two rounds each.
  double logs = 0;
  constexpr int kFinals = 5;
  for (int i = 0; i < kFinals; ++i) {
    Result<std::vector<Measurement>> measured = evaluator.measure(kFile, {});
    if (!measured)
      return measured.error();
    logs += std::log((*measured)[0].median / (*measured)[1].median);
  }
  return std::exp(logs / kFinals);
}

static Status run(const Workload &workload, int64_t threads,
                  const std::vector<size_t> &sizes) {
  Result<TargetInfo> target = getHostTarget(threads);
  if (!target)
    return target.error();
  std::unique_ptr<Journal> journal =
      Journal::openInMemory(JournalContext::forTarget(*target));
  Result<std::unique_ptr<Journal>> system = openSystemStore(*target);
  std::vector<std::string> remarks;
  std::unique_ptr<LearnedRanker> ranker = loadLearnedRanker(
      *target, *journal, system ? system->get() : nullptr, remarks);
  std::printf("ranker: %s\n", ranker ? "learned" : "expected fractions");
  RoundsBenchmark benchmark(*target, ranker.get());
  for (const Problem &problem : workload.problems) {
    Result<SearchResultRow> tuned = benchmark.tune(problem);
    if (!tuned)
      return tuned.error();
    std::printf("%s\n  tune            %3zu candidates %15s %6.1f s  %.4f ms "
                "%s {%s}\n",
                problem.key().c_str(), tuned->candidates, "", tuned->seconds,
                tuned->best.median, tuned->best.key.solver.c_str(),
                tuned->best.key.config.c_str());
    for (size_t max : sizes) {
      Result<SearchResultRow> row = benchmark.searchInRounds(problem, max);
      if (!row)
        return row.error();
      Result<double> ratio = benchmark.compare(problem, row->best, tuned->best);
      if (!ratio)
        return ratio.error();
      std::printf("  rounds of %4zu  %3zu candidates %3zu rounds  ratio %.3f "
                  "%6.1f s  %.4f ms %s {%s}\n",
                  max, row->candidates, row->rounds, *ratio, row->seconds,
                  row->best.median, row->best.key.solver.c_str(),
                  row->best.key.config.c_str());
    }
    std::fflush(stdout);
  }
  std::remove(kFile);
  return runtime::success();
}

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: rounds-benchmark LIST THREADS MAX...\n");
    return 2;
  }
  registerHostTargets();
  auto readNumber = [&](int argument) {
    return std::strtoul(argv[argument], nullptr, 10);
  };
  std::vector<size_t> sizes;
  for (int i = 3; i < argc; ++i)
    sizes.push_back(readNumber(i));
  Result<Workload> workload = readWorkload(argv[1]);
  Status status = workload ? run(*workload, readNumber(2), sizes)
                           : Status(workload.error());
  if (status)
    return 0;
  std::fprintf(stderr, "rounds-benchmark: %s\n", status.message().c_str());
  return 1;
}
