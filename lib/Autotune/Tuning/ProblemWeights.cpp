//===- ProblemWeights.cpp - Divides a model's time ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/ProblemWeights.h"

#include "tarpon/Autotune/Search/SolutionRanker.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace tarpon;

std::string tarpon::getSearchKind(const Problem &problem,
                                  const GlobalChoice &choice) {
  std::string key = problem.key();
  return key.substr(0, key.find('(')) + " " +
         getPrecisionName(choice.dtype).data() + " " + choice.layout.name();
}

namespace {

/// The layers of a plan that pose one problem.
struct LayerGroup {
  int64_t count = 0;
  const LayerRecord *layer = nullptr;
};

} // namespace

static std::map<std::string, LayerGroup> groupLayers(const ChoicePlan &plan) {
  std::map<std::string, LayerGroup> groups;
  for (const LayerRecord &layer : plan.record.layers) {
    LayerGroup &group = groups[layer.problem];
    ++group.count;
    group.layer = &layer;
  }
  return groups;
}

/// Returns the time that the solver expects of a layer, up to a factor.
static double guessMilliseconds(const Problem &problem,
                                const LayerRecord &layer,
                                const TargetInfo &target) {
  const Solver *solver = findSolver(target, layer.solver);
  if (!solver)
    return 0;
  return ExpectedFractionRanker()
      .expectMs(problem, {{solver, layer.config}}, target)
      .front();
}

/// Guessed times are scaled to fit the measured ones.
std::vector<ScheduledProblem> tarpon::weighProblems(
    const std::vector<std::pair<std::string, Problem>> &problems,
    const ChoicePlan &plan, const TargetInfo &target) {
  std::map<std::string, LayerGroup> groups = groupLayers(plan);
  std::vector<ScheduledProblem> weighed;
  std::vector<bool> isGuess;
  double known = 0, guessed = 0;
  for (const auto &[name, problem] : problems) {
    auto group = groups.find(problem.key());
    if (group == groups.end())
      continue;
    auto count = static_cast<double>(group->second.count);
    const LayerRecord &layer = *group->second.layer;
    double guess = count * guessMilliseconds(problem, layer, target);
    if (layer.timing) {
      known += count * layer.timing->median;
      guessed += guess;
    }
    isGuess.push_back(!layer.timing);
    weighed.push_back({problem.key(),
                       getSearchKind(problem, plan.record.choice),
                       layer.timing ? count * layer.timing->median : guess});
  }
  double scale = known > 0 && guessed > 0 ? known / guessed : 1;
  for (auto [entry, guess] : llvm::zip_equal(weighed, isGuess))
    entry.weight *= guess ? scale : 1;
  return weighed;
}
