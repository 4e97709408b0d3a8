//===- RankerEvaluation.cpp - Quality of a ranker's choices ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/RankerEvaluation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace tarpon;

/// The fraction of a choice that was measured.
static std::optional<double> getFraction(const MeasuredProblem &problem,
                                         const Solution &choice) {
  for (const MeasuredSolution &solution : problem.solutions)
    if (solution.solver == choice.solver && solution.config == choice.config)
      // The race may have given the choice a better time than the final gave
      // the winner.
      return std::min(1.0, problem.tuned.milliseconds / solution.milliseconds);
  std::string config = choice.config.str();
  for (const CandidateKey &key : problem.rejected)
    if (key.solver == choice.solver->id() && key.config == config)
      return 0.0;
  return std::nullopt;
}

std::vector<RankedProblem>
tarpon::rankProblems(const SolutionRanker &ranker,
                     llvm::ArrayRef<const MeasuredProblem *> problems) {
  std::vector<RankedProblem> ranked;
  for (const MeasuredProblem *problem : problems) {
    std::vector<Solution> solutions =
        ranker.rank(problem->problem, *problem->target);
    if (solutions.empty())
      continue;
    const Solution &first = solutions.front();
    ranked.push_back({problem, first.solver->id().str(), first.config.str(),
                      getFraction(*problem, first)});
  }
  return ranked;
}

/// The percentile of a sorted list, with linear interpolation.
static double getPercentile(llvm::ArrayRef<double> sorted, double part) {
  double place = part * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double rest = place - static_cast<double>(below);
  return sorted[below] * (1 - rest) + sorted[above] * rest;
}

static RankingError summarize(const std::string &kind,
                              std::vector<double> fractions,
                              int64_t unmeasured) {
  constexpr double kRejected = 1e-3;
  RankingError error;
  error.kind = kind;
  error.problems = static_cast<int64_t>(fractions.size());
  error.unmeasured = unmeasured;
  if (fractions.empty())
    return error;
  llvm::sort(fractions);
  double sum = 0;
  for (double fraction : fractions)
    sum += std::log(std::max(fraction, kRejected));
  error.mean = std::exp(sum / static_cast<double>(fractions.size()));
  error.tenth = getPercentile(fractions, 0.1);
  return error;
}

std::vector<RankingError>
tarpon::summarizeRanking(llvm::ArrayRef<RankedProblem> ranked) {
  struct Group {
    std::vector<double> fractions;
    int64_t unmeasured = 0;
  };
  std::map<std::string, Group> kinds;
  Group all;
  for (const RankedProblem &one : ranked)
    for (Group *group : {&kinds[one.problem->kind], &all}) {
      if (one.fraction)
        group->fractions.push_back(*one.fraction);
      else
        ++group->unmeasured;
    }
  std::vector<RankingError> errors;
  for (auto &[kind, group] : kinds)
    errors.push_back(
        summarize(kind, std::move(group.fractions), group.unmeasured));
  errors.push_back(summarize("all", std::move(all.fractions), all.unmeasured));
  return errors;
}
