//===- TuningSchedule.cpp - Decides what is tuned next --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TuningSchedule.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tarpon;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

void TuningSchedule::setChoice(size_t choice, double milliseconds,
                               std::vector<ScheduledProblem> problems) {
  double sum = 0;
  for (const ScheduledProblem &problem : problems)
    sum += problem.weight;
  for (ScheduledProblem &problem : problems)
    problem.weight = sum > 0 ? problem.weight / sum : 0;
  choices[choice] = {milliseconds, std::move(problems)};
}

/// A search that says nothing about its saving is taken to be like the others.
void TuningSchedule::recordSearch(const std::string &problem,
                                  const std::string &kind,
                                  std::optional<double> saving,
                                  double seconds) {
  hasSearched = true;
  recordEarlier(problem, kind, saving);
  experiences[kind].seconds += seconds;
  experiences[kind].timed += 1;
  for (auto &[index, choice] : choices)
    for (ScheduledProblem &entry : choice.problems)
      if (entry.key == problem) {
        entry.isOpen = false;
        entry.saving = saving.value_or(expectSaving(kind));
      }
}

void TuningSchedule::recordEarlier(const std::string &problem,
                                   const std::string &kind,
                                   std::optional<double> saving) {
  if (!saving || !learnt.insert(problem).second)
    return;
  experiences[kind].saving += *saving;
  experiences[kind].searches += 1;
}

const TuningSchedule::Experience &
TuningSchedule::getExperience(const std::string &kind) const {
  static const Experience kNone;
  auto known = experiences.find(kind);
  return known == experiences.end() ? kNone : known->second;
}

double TuningSchedule::expectSaving(const std::string &kind) const {
  const Experience &seen = getExperience(kind);
  return (policy::kPriorSaving + seen.saving) / (1 + seen.searches);
}

/// The more searches there were, the closer this is to what is expected.
double TuningSchedule::hopeForSaving(const std::string &kind) const {
  const Experience &seen = getExperience(kind);
  return expectSaving(kind) + policy::kPriorSaving / (1 + seen.searches);
}

double TuningSchedule::expectSeconds(const std::string &kind) const {
  const Experience &seen = getExperience(kind);
  return (policy::kExpectedProblemSeconds + seen.seconds) / (1 + seen.timed);
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

double TuningSchedule::predict(size_t choice) const {
  const Choice &entry = choices.at(choice);
  double left = 1;
  for (const ScheduledProblem &problem : entry.problems)
    left -= problem.weight * problem.saving;
  return entry.milliseconds * left;
}

double TuningSchedule::predictBest() const {
  double best = std::numeric_limits<double>::infinity();
  for (const auto &[index, choice] : choices)
    best = std::min(best, predict(index));
  return best;
}

/// The open problems of a choice, that with the largest expected saving per
/// second first.
std::vector<const ScheduledProblem *>
TuningSchedule::rankOpen(const Choice &choice) const {
  std::vector<const ScheduledProblem *> open;
  for (const ScheduledProblem &problem : choice.problems)
    if (problem.isOpen)
      open.push_back(&problem);
  auto getRate = [this](const ScheduledProblem *problem) {
    return problem->weight * expectSaving(problem->kind) /
           expectSeconds(problem->kind);
  };
  llvm::stable_sort(open,
                    [&](auto *a, auto *b) { return getRate(a) > getRate(b); });
  return open;
}

/// The share of its measured time that a choice may save in so many seconds.
double TuningSchedule::getReachable(const Choice &choice,
                                    double seconds) const {
  double saved = 0;
  for (const ScheduledProblem *problem : rankOpen(choice)) {
    double needed = expectSeconds(problem->kind);
    saved += problem->weight * hopeForSaving(problem->kind) *
             std::min(1.0, seconds / needed);
    seconds = std::max(0.0, seconds - needed);
  }
  return saved;
}

std::optional<TuningSchedule::Target>
TuningSchedule::findTarget(double seconds) const {
  std::optional<Target> best;
  for (const auto &[index, choice] : choices) {
    double reached =
        predict(index) - choice.milliseconds * getReachable(choice, seconds);
    if (!best || reached < best->milliseconds)
      best = {index, reached};
  }
  return best;
}

double TuningSchedule::getPossibleGain(double seconds) const {
  std::optional<Target> target = findTarget(seconds);
  double best = predictBest();
  if (!target || !(best > 0))
    return 0;
  return std::max(0.0, 1 - target->milliseconds / best);
}

/// Noise must not start a finished run again, so that a run begins only if
/// there is more to gain than what ends it.
std::optional<TuningSchedule::Step>
TuningSchedule::getNext(double seconds) const {
  double least = policy::kLeastGain * (hasSearched ? 1 : 2);
  std::optional<Target> target = findTarget(seconds);
  if (!target || getPossibleGain(seconds) < least)
    return std::nullopt;
  std::vector<const ScheduledProblem *> open =
      rankOpen(choices.at(target->choice));
  if (open.empty())
    return std::nullopt;
  return Step{target->choice, open.front()->key};
}
