//===- GlobalResult.cpp - The result of tuning a model --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/PipelineMeasurer.h"
#include "Tuning/PlanFinal.h"
#include "Tuning/Trial.h"
#include "tarpon/Autotune/Tuning/GlobalTuner.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

bool GlobalTuner::haveGuessesWon(const Trial &trial,
                                 const ChoicePlan &winner) const {
  return &winner == start && trial.plans.size() > 1;
}

/// An untuned plan that has won over tuned ones is right to keep its guesses,
/// and a run that has ended by itself is right to leave problems open.
std::set<std::string> GlobalTuner::listLeftOut(const Trial &trial,
                                               const ChoicePlan &winner) const {
  bool guessesHaveWon = haveGuessesWon(trial, winner);
  std::set<std::string> keys;
  for (const LayerRecord &layer : winner.record.layers)
    if (settled.count(layer.problem) ? guessesHaveWon : !wasCut)
      keys.insert(layer.problem);
  return keys;
}

static std::string describeError(const ChoicePlan &plan) {
  const AccuracyRecord &accuracy = *plan.record.accuracy;
  char text[128];
  if (accuracy.budget)
    std::snprintf(text, sizeof(text),
                  "an error of %.3g, which is over the budget of %.3g",
                  accuracy.value, *accuracy.budget);
  else
    std::snprintf(text, sizeof(text),
                  "%.4g where fp32 has %.4g, which is over the budget of %.3g",
                  accuracy.metric->value, accuracy.metric->reference,
                  accuracy.metric->budget);
  return plan.record.choice.name() + " has " +
         (accuracy.budget ? "" : "a " + accuracy.metric->name + " of ") + text;
}

/// Says why choices cannot be used. A time without an accuracy is no result.
void GlobalTuner::reportFailures() {
  for (Trial &trial : trials) {
    ChoicePlan &plan = trial.plans.back();
    if (plan.isTimed() && !plan.isMeasured())
      plan.record.failure = kOutOfTime;
    if (!plan.record.failure.empty())
      progress.remark(trial.choice.name() +
                      " cannot be used: " + plan.record.failure);
  }
}

Result<GlobalResult> GlobalTuner::pickResult() {
  reportFailures();
  GlobalResult result;
  std::vector<ChoicePlan *> plans = getPlans();
  ChoicePlan *winner = pickWinner(plans, start);
  ChoicePlan &first = trials.front().plans.back();
  if (!winner && llvm::any_of(plans, [](const ChoicePlan *plan) {
        return plan->isUsable();
      }))
    return Error{"the fastest choices failed when they were measured again"};
  if (!winner && !first.isMeasured())
    return Error{"no choice can be used; " + first.record.choice.name() + ": " +
                 first.record.failure};
  if (!winner) {
    std::string what = describeError(first);
    if (trials.size() > 1)
      return Error{"no choice is within the accuracy budget; " + what};
    // This is the only choice, which the user has asked for.
    result.warning = what;
    winner = &first;
  }
  for (auto [index, trial] : llvm::enumerate(trials)) {
    bool hasWon = trial.choice == winner->record.choice;
    result.winner = hasWon ? index : result.winner;
    result.candidates.push_back(hasWon ? winner->record
                                       : pickOfChoice(trial.plans).record);
  }
  result.progress = std::move(improvements);
  result.leftOut = listLeftOut(trials[result.winner], *winner);
  result.guessesHaveWon = haveGuessesWon(trials[result.winner], *winner);
  Result<runtime::Package> package = runtime::readPackage(winner->package);
  if (!package)
    return package.error();
  result.package = std::move(*package);
  return result;
}
