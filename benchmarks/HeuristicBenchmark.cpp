//===- HeuristicBenchmark.cpp - How good and quick guesses are ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: heuristic-benchmark STORE SPLIT [THREADS]
//
// Asks the model of a store, and expected fractions, for problems that the
// store has measured, and prints how much of the tuned speed their first
// choices reach and how long they take to answer. Measures no kernel.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Learn/MeasuredProblems.h"
#include "tarpon/Autotune/Learn/RankerEvaluation.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

using namespace tarpon;
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

/// The first answer to a problem, and the least of several: what others do on
/// the machine meanwhile is in the first ones.
static void printAnswerTimes(const char *name, const SolutionRanker &ranker,
                             const ProblemList &problems,
                             const TargetInfo &target) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 5;
  std::vector<double> first(problems.size()), least(problems.size(), HUGE_VAL);
  for (int round = 0; round < kRounds; ++round)
    for (auto [index, problem] : llvm::enumerate(problems)) {
      Clock::time_point start = Clock::now();
      ranker.rank(problem->problem, target);
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

int main(int argc, char **argv) {
  int64_t threads = 1;
  if (argc < 3 || argc > 4 ||
      (argc == 4 && !llvm::to_integer(argv[3], threads))) {
    std::fprintf(stderr, "usage: heuristic-benchmark STORE SPLIT [THREADS]\n");
    return 2;
  }
  auto target = getHostTarget(threads);
  if (!target)
    return fail(target.message());
  auto split = NetworkSplit::read(argv[2]);
  if (!split)
    return fail(split.message());
  auto store =
      Journal::openReadOnly(argv[1], JournalContext::forTarget(*target));
  if (!store)
    return fail(store.message());
  std::vector<std::string> remarks;
  std::unique_ptr<LearnedRanker> learned =
      loadLearnedRanker(**store, nullptr, remarks);
  if (!learned)
    return fail(remarks.empty() ? std::string(argv[1]) + " holds no model"
                                : remarks.front());
  const LearnedModel &model = learned->getModel();
  if (model.split != split->getName())
    return fail("the model was trained with the split '" + model.split +
                "', not '" + split->getName() + "'");
  std::vector<MeasuredProblem> problems =
      readMeasuredProblems(**store, *target, *split);
  ProblemList training, heldOut, all;
  for (const MeasuredProblem &problem : problems) {
    (problem.isHeldOut ? heldOut : training).push_back(&problem);
    all.push_back(&problem);
  }
  ExpectedFractionRanker expectation;
  for (auto [which, list] :
       {std::pair("held-out", &heldOut), {"training", &training}}) {
    print(which, "learned", rankProblems(*learned, *list, *target));
    print(which, "expectation", rankProblems(expectation, *list, *target));
  }
  printAnswerTimes("learned", *learned, all, *target);
  printAnswerTimes("expectation", expectation, all, *target);
  return 0;
}
