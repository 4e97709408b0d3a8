//===- HeuristicBenchmark.cpp - How good and quick guesses are ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: heuristic-benchmark STORE SPLIT [THREADS]
//        heuristic-benchmark --held-out THREADS STORE...
//
// Asks the model of a store, and expected fractions, for problems that the
// store has measured, and prints how much of the tuned speed their first
// choices reach and how long they take to answer. Measures no kernel.
//
// With --held-out, each CPU that has measurements in the stores is asked about
// by models that know nothing of it: those that the stores hold for other CPUs,
// one trained on each other CPU's measurements, and one trained on those of all
// other CPUs.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Learn/MeasuredProblems.h"
#include "tarpon/Autotune/Learn/ModelTraining.h"
#include "tarpon/Autotune/Learn/RankerEvaluation.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

using namespace tarpon;
using runtime::Status;
using runtime::success;
using ProblemList = std::vector<const MeasuredProblem *>;

static int fail(const std::string &message) {
  std::fprintf(stderr, "heuristic-benchmark: %s\n", message.c_str());
  return 1;
}

static void print(const char *which, const char *ranker,
                  llvm::ArrayRef<RankedProblem> ranked) {
  for (const RankingError &error : summarizeRanking(ranked))
    std::printf("%-10s %-12s %-18s %4lld problems  mean %5.1f %%  10th "
                "percentile %5.1f %%  %lld not measured\n",
                which, ranker, error.kind.c_str(),
                static_cast<long long>(error.problems), 100 * error.mean,
                100 * error.tenth, static_cast<long long>(error.unmeasured));
}

/// Prints the choices that cost most.
static void printWorst(std::vector<RankedProblem> ranked) {
  constexpr size_t kWorst = 8;
  llvm::erase_if(ranked,
                 [](const RankedProblem &one) { return !one.fraction; });
  llvm::stable_sort(ranked, [](const RankedProblem &a, const RankedProblem &b) {
    return *a.fraction < *b.fraction;
  });
  ranked.resize(std::min(ranked.size(), kWorst));
  for (const RankedProblem &one : ranked)
    std::printf("  %5.1f %% %s\n          chose %s {%s}, best %s {%s}\n",
                100 * *one.fraction, one.problem->problem.key().c_str(),
                one.solver.c_str(), one.config.c_str(),
                one.problem->tuned.solver->id().str().c_str(),
                one.problem->tuned.config.str().c_str());
}

/// The first answer to a problem, and the least of several: what others do on
/// the machine meanwhile is in the first ones.
static void printAnswerTimes(const char *name, const SolutionRanker &ranker,
                             const ProblemList &problems) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 5;
  std::vector<double> first(problems.size()), least(problems.size(), HUGE_VAL);
  for (int round = 0; round < kRounds; ++round)
    for (auto [index, problem] : llvm::enumerate(problems)) {
      Clock::time_point start = Clock::now();
      ranker.rank(problem->problem, *problem->target);
      std::chrono::duration<double, std::micro> time = Clock::now() - start;
      if (round == 0)
        first[index] = time.count();
      least[index] = std::min(least[index], time.count());
    }
  for (auto [what, times] : {std::pair("first", &first), {"least", &least}}) {
    if (times->empty())
      continue;
    llvm::sort(*times);
    auto at = [&times = *times](double part) {
      return times[static_cast<size_t>(part *
                                       static_cast<double>(times.size() - 1))];
    };
    std::printf("%-12s answers in us, %s of %d: median %.1f, 99th percentile "
                "%.1f, longest %.1f\n",
                name, what, kRounds, at(0.5), at(0.99), at(1));
  }
}

//===----------------------------------------------------------------------===//
// CPUs that are held out
//===----------------------------------------------------------------------===//

namespace {
/// The problems of one CPU.
struct Cpu {
  std::string name;
  ProblemList problems;
};

/// A model and the CPUs that it knows.
struct Contestant {
  std::string name;
  LearnedRanker ranker;
};
} // namespace

static std::vector<Cpu> listCpus(llvm::ArrayRef<MeasuredProblem> problems) {
  std::map<std::string, ProblemList> byName;
  for (const MeasuredProblem &problem : problems)
    byName[problem.targetName].push_back(&problem);
  std::vector<Cpu> cpus;
  for (auto &[name, list] : byName)
    cpus.push_back({name, std::move(list)});
  return cpus;
}

/// Adds the models that a store holds; they may be of CPUs that it has no
/// measurements of but the best.
static Status addStoredModels(const std::string &path, const TargetInfo &host,
                              std::vector<Contestant> &contestants) {
  auto store = Journal::openReadOnly(path, JournalContext::forTarget(host));
  if (!store)
    return store.error();
  for (const JournalContext &context : (*store)->listContexts()) {
    auto part = Journal::openReadOnly(path, context);
    if (!part)
      return part.error();
    if (std::optional<std::string> bytes = (*part)->getModel()) {
      auto model = LearnedModel::parse(*bytes, path);
      if (!model)
        return model.error();
      contestants.push_back(
          {"model of " + context.target, LearnedRanker(std::move(*model))});
    }
  }
  return success();
}

/// Measurements of less than this many solutions per problem are those of a
/// published store, which has the best ones only: nothing can be learned or
/// judged by them.
static constexpr size_t kFewSolutions = 3;

static bool hasOnlyBest(const Cpu &cpu) {
  size_t solutions = 0;
  for (const MeasuredProblem *problem : cpu.problems)
    solutions += problem->solutions.size();
  return solutions < kFewSolutions * cpu.problems.size();
}

static void addTrained(const std::vector<Cpu> &cpus, const Cpu &heldOut,
                       std::vector<Contestant> &contestants) {
  ProblemList others;
  size_t count = 0;
  for (const Cpu &cpu : cpus) {
    if (cpu.name == heldOut.name)
      continue;
    contestants.push_back(
        {"trained on " + cpu.name, LearnedRanker(trainModel(cpu.problems))});
    llvm::append_range(others, cpu.problems);
    ++count;
  }
  if (count > 1)
    contestants.push_back(
        {"trained on all others", LearnedRanker(trainModel(others))});
}

static int holdOutCpus(llvm::ArrayRef<std::string> stores, int64_t threads) {
  auto host = getHostTarget(threads);
  if (!host)
    return fail(host.message());
  std::vector<MeasuredProblem> problems;
  std::vector<Contestant> stored;
  std::vector<std::string> skipped;
  for (const std::string &path : stores) {
    auto part = readStoreOfAnyCpu(path, *host, {}, skipped);
    if (!part)
      return fail(part.message());
    llvm::move(*part, std::back_inserter(problems));
    if (Status status = addStoredModels(path, *host, stored); !status)
      return fail(status.message());
  }
  for (const std::string &reason : skipped)
    std::printf("left out: %s\n", reason.c_str());
  std::vector<Cpu> cpus = listCpus(problems);
  llvm::erase_if(cpus, hasOnlyBest);
  for (const Cpu &cpu : cpus) {
    std::printf("\n%s, held out\n", cpu.name.c_str());
    print("expected", "fractions",
          rankProblems(ExpectedFractionRanker(), cpu.problems));
    std::vector<Contestant> trained;
    addTrained(cpus, cpu, trained);
    for (const std::vector<Contestant> *list : {&stored, &trained})
      for (const Contestant &contestant : *list)
        if (!contestant.ranker.getModel().targets.count(cpu.name)) {
          std::vector<RankedProblem> ranked =
              rankProblems(contestant.ranker, cpu.problems);
          print(contestant.name.c_str(), "", ranked);
          printWorst(std::move(ranked));
        }
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Networks that are held out
//===----------------------------------------------------------------------===//

static int holdOutNetworks(const char *path, const char *splitPath,
                           int64_t threads) {
  auto target = getHostTarget(threads);
  if (!target)
    return fail(target.message());
  auto split = NetworkSplit::read(splitPath);
  if (!split)
    return fail(split.message());
  JournalContext context = JournalContext::forTarget(*target);
  auto store = Journal::openReadOnly(path, context);
  if (!store)
    return fail(store.message());
  std::optional<std::string> bytes = (*store)->getModel();
  if (!bytes)
    return fail(std::string(path) + " holds no model");
  auto model = LearnedModel::parse(*bytes, path);
  if (!model)
    return fail(model.message());
  if (model->split != split->getName())
    return fail("the model was trained with the split '" + model->split +
                "', not '" + split->getName() + "'");
  LearnedRanker learned(std::move(*model));
  std::vector<MeasuredProblem> problems = readMeasuredProblems(
      **store, context, std::make_shared<const TargetInfo>(*target), *split);
  ProblemList training, heldOut, all;
  for (const MeasuredProblem &problem : problems) {
    (problem.isHeldOut ? heldOut : training).push_back(&problem);
    all.push_back(&problem);
  }
  ExpectedFractionRanker expectation;
  for (auto [which, list] :
       {std::pair("held-out", &heldOut), {"training", &training}}) {
    print(which, "learned", rankProblems(learned, *list));
    print(which, "expectation", rankProblems(expectation, *list));
  }
  printAnswerTimes("learned", learned, all);
  printAnswerTimes("expectation", expectation, all);
  return 0;
}

int main(int argc, char **argv) {
  constexpr int kFewest = 4;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  int64_t threads = 1;
  bool holdsOutCpus = argc > 1 && arguments[0] == "--held-out";
  bool isRight = holdsOutCpus ? argc >= kFewest : argc == 3 || argc == kFewest;
  size_t at = holdsOutCpus ? 1 : 2;
  if (isRight && arguments.size() > at)
    isRight = llvm::to_integer(arguments[at], threads);
  if (!isRight) {
    std::fprintf(stderr, "usage: heuristic-benchmark STORE SPLIT [THREADS]\n"
                         "       heuristic-benchmark --held-out THREADS "
                         "STORE...\n");
    return 2;
  }
  if (holdsOutCpus)
    return holdOutCpus(llvm::ArrayRef(arguments).drop_front(2), threads);
  return holdOutNetworks(argv[1], argv[2], threads);
}
