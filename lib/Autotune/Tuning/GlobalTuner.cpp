//===- GlobalTuner.cpp - Tunes a model over its choices -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/GlobalTuner.h"

#include "Choice/ModelCompiler.h"
#include "Measure/PipelineMeasurer.h"
#include "Tuning/Gain.h"
#include "Tuning/PipelineKey.h"
#include "Tuning/PlanFinal.h"
#include "Tuning/PlanMaker.h"
#include "Tuning/ProblemWeights.h"
#include "Tuning/RegionTuner.h"
#include "Tuning/Trial.h"
#include "Tuning/TrialGroups.h"
#include "Tuning/TrialMeasurer.h"
#include "Tuning/TuningSchedule.h"
#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>

using namespace tarpon;
using runtime::Error;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

GlobalTuner::GlobalTuner(ModelCompiler &model, Tuner &tuner, Journal &journal,
                         Progress &progress, const CalibrationInputs &inputs,
                         PipelineMeasurer &measurer)
    : model(model), tuner(tuner), journal(journal), progress(progress),
      inputs(inputs), measurer(measurer),
      maker(std::make_unique<PlanMaker>(model, journal, inputs, measurer)),
      outlook(std::make_unique<TuningSchedule>()),
      regions(std::make_unique<RegionOptions>()) {
  regions->maxError = policy::kDefaultMaxError;
}

GlobalTuner::~GlobalTuner() = default;

void GlobalTuner::setMaxError(double value) {
  maker->setMaxError(value);
  regions->maxError = value;
}

void GlobalTuner::setGoal(const AccuracyGoal *goal) {
  maker->setGoal(goal);
  regions->searchesBudget = goal != nullptr;
}

void GlobalTuner::setRegionOptions(RegionOptions value) {
  value.maxError = regions->maxError;
  value.searchesBudget = regions->searchesBudget;
  *regions = std::move(value);
}

std::vector<ChoicePlan *> GlobalTuner::getPlans() {
  std::vector<ChoicePlan *> plans;
  for (Trial &trial : trials)
    for (ChoicePlan &plan : trial.plans)
      plans.push_back(&plan);
  return plans;
}

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

Result<Solution> GlobalTuner::tune(const Problem &problem) {
  Result<Solution> solution = tuner.tune(problem);
  if (!solution)
    return solution.error();
  solutions[problem.key()] = *solution;
  settled.insert(problem.key());
  return solution;
}

/// Problems with one key may differ in scales and zero points, which some
/// solvers restrict: the tuned solution is checked for this problem.
Result<Solution> GlobalTuner::solve(const Problem &problem) {
  auto known = solutions.find(problem.key());
  const TargetInfo &target = model.getKernelCompiler().getTarget();
  if (known == solutions.end() ||
      !checkApplicable(*known->second.solver, problem, target))
    return measurer.solve(problem);
  return known->second;
}

/// Problems whose search is over are answered from the records. A model is
/// asked at once: that is cheap, and every layer needs a time.
Result<Solution> GlobalTuner::solveUntuned(const Problem &problem) {
  bool isKnown = solutions.count(problem.key());
  if (!isKnown && (!measurer.isNoisy() || !tuner.wouldMeasure(problem)))
    return tune(problem);
  return solve(problem);
}

//===----------------------------------------------------------------------===//
// Untuned choices
//===----------------------------------------------------------------------===//

/// An error of this choice becomes its failure; an error of the machine ends
/// the run.
Status GlobalTuner::makePlan(Trial &trial, ChoicePlan &plan,
                             PreparedModel prepared) {
  bool isUntuned = trial.plans.size() == 1;
  Status compiled = maker->compile(
      plan, std::move(prepared), [&](const Problem &problem, const auto &) {
        return isUntuned ? solveUntuned(problem) : solve(problem);
      });
  if (!compiled) {
    plan.record.failure = compiled.message();
    return runtime::success();
  }
  return maker->time(plan);
}

Status GlobalTuner::tryUntuned(Trial &trial, Deadline share) {
  ChoicePlan &plan = trial.addPlan();
  const GlobalChoice &choice = trial.choice;
  tuner.setDeadline(share);
  Status calibrated = runtime::success();
  if (choice.dtype == Precision::I8) {
    progress.setPhase(choice.name() + ": calibration");
    calibrated = measurer.calibrate(choice.fusion);
    if (calibrated)
      plan.record.ranges = model.getRanges(choice.fusion);
  }
  progress.setPhase(choice.name() + ": untuned");
  Result<PreparedModel> prepared =
      calibrated ? model.prepare(choice) : calibrated.error();
  if (!prepared) {
    plan.record.failure = prepared.message();
    return runtime::success();
  }
  trial.problems = prepared->problems;
  return makePlan(trial, plan, std::move(*prepared));
}

/// At least one choice is timed, whatever the time.
Status GlobalTuner::timeUntuned(Trial &trial, const Deadline &end) {
  bool timedAny = llvm::any_of(
      getPlans(), [](const ChoicePlan *plan) { return plan->isTimed(); });
  if (end.isOver() && timedAny) {
    trial.addPlan().record.failure = kOutOfTime;
    wasCut = true;
    return runtime::success();
  }
  auto left = static_cast<double>(llvm::count_if(
      trials, [](const Trial &other) { return other.plans.empty(); }));
  Deadline share = deadline.part(1 / left).part(policy::kSearchShare);
  if (Status status = tryUntuned(trial, share); !status)
    return status;
  expectWork(static_cast<double>(trial.problems.size()) *
             policy::kExpectedProblemSeconds);
  return runtime::success();
}

/// Measures the accuracy of choices that were timed, the fastest first, until
/// one is within the budget and the time is over.
Status GlobalTuner::compareUntuned(llvm::ArrayRef<Trial *> group,
                                   const Deadline &end) {
  std::vector<ChoicePlan *> order;
  for (Trial *trial : group)
    if (trial->plans.front().isTimed())
      order.push_back(&trial->plans.front());
  llvm::stable_sort(order, [](const ChoicePlan *a, const ChoicePlan *b) {
    return a->getMilliseconds() < b->getMilliseconds();
  });
  for (ChoicePlan *plan : order) {
    if (end.isOver() && findFastest(getPlans()))
      break;
    if (Status status = maker->compare(*plan); !status)
      return status;
    dropLosers();
  }
  return runtime::success();
}

/// Whoever is measured while other work disturbs the machine must not lose by
/// that: choices that are close to the fastest are timed once more, in turn.
Status GlobalTuner::timeCloseAgain(llvm::ArrayRef<Trial *> group) {
  std::vector<ChoicePlan *> close = findClose(group, getPlans());
  double seconds = 0;
  for (const ChoicePlan *plan : close)
    seconds += policy::kPipelineOverheadSeconds +
               policy::kPipelineSamples * plan->getMilliseconds() / 1000;
  if (!measurer.isNoisy() ||
      seconds > policy::kRetimingShare * deadline.remainingSeconds())
    return runtime::success();
  for (ChoicePlan *plan : close)
    if (Status status = maker->timeOnceMore(*plan); !status)
      return status;
  return runtime::success();
}

/// Measures the choices untuned. In each group the times come first, since the
/// first accuracy needs a reference, which takes long to make.
Status GlobalTuner::survey() {
  double share = measurer.isNoisy() ? policy::kSurveyShare : 1;
  Deadline end = deadline.part(share);
  const TargetInfo &target = model.getKernelCompiler().getTarget();
  for (llvm::ArrayRef<Trial *> group : groupTrials(trials, target)) {
    for (Trial *trial : group)
      if (Status status = timeUntuned(*trial, end); !status)
        return status;
    if (Status status = timeCloseAgain(group); !status)
      return status;
    if (Status status = compareUntuned(group, deadline.part(share)); !status)
      return status;
    finishWork(static_cast<double>(group.size()) *
               policy::kExpectedPipelineSeconds);
  }
  start = findFastest(getPlans());
  startMilliseconds = start ? start->getMilliseconds() : 0;
  return runtime::success();
}

/// Where times are modelled, two runs write the same file, which seconds would
/// spoil.
void GlobalTuner::noteImprovement() {
  if (!measurer.isNoisy())
    return;
  const ChoicePlan *fastest = findFastest(getPlans());
  if (!fastest || (!improvements.empty() && improvements.back().milliseconds <=
                                                fastest->getMilliseconds()))
    return;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  improvements.push_back({seconds.count(), fastest->getMilliseconds(),
                          fastest->record.choice.name()});
}

/// Who chooses for regions may take any point of the front of time and error.
bool GlobalTuner::hasFrontFinal() const {
  return regions->isWanted() && measurer.isNoisy();
}

/// Packages are large, so that those of plans outside of the final are deleted.
void GlobalTuner::dropLosers() {
  std::vector<ChoicePlan *> plans = getPlans();
  const ChoicePlan *fastest = findFastest(plans);
  if (!fastest)
    return;
  noteImprovement();
  std::vector<ChoicePlan *> finalists =
      pickFinalists(plans, start, hasFrontFinal());
  double slowest = policy::kPipelineFinalistRatio * fastest->getMilliseconds();
  for (ChoicePlan *plan : plans) {
    bool isOpen = plan->isTimed() && !plan->isMeasured();
    bool isClose = plan->isUsable() && plan->getMilliseconds() <= slowest;
    if (!isOpen && !isClose && !llvm::is_contained(finalists, plan))
      PlanMaker::discard(*plan);
  }
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// A choice that was not timed, or is over the budget, gets no time, unless
/// there is no better one. One whose layers have failed may still be right with
/// other solutions: it is taken to be as fast as the best.
void GlobalTuner::schedule(size_t index) {
  const Trial &trial = trials[index];
  const ChoicePlan &plan = trial.plans.back();
  const ChoicePlan *fastest = findFastest(getPlans());
  bool isExact = trial.choice.dtype == kReferenceChoice.dtype;
  bool mayRecover = trial.plans.size() == 1 && (isExact || !plan.isMeasured());
  bool hasFailed = !plan.isUsable() && (!plan.isTimed() || plan.isMeasured());
  outlook->removeChoice(index);
  if (plan.record.layers.empty() || (hasFailed && fastest && !mayRecover))
    return;
  double milliseconds = plan.isTimed() ? plan.getMilliseconds() : 1;
  if (hasFailed && fastest)
    milliseconds = fastest->getMilliseconds();
  std::vector<ScheduledProblem> problems = weighProblems(
      trial.problems, plan, model.getKernelCompiler().getTarget());
  for (ScheduledProblem &problem : problems)
    problem.isOpen = !settled.count(problem.key);
  outlook->setChoice(index, milliseconds, std::move(problems));
}

/// The savings of earlier runs say how much this one may save.
void GlobalTuner::scheduleAll() {
  for (auto [index, trial] : llvm::enumerate(trials)) {
    schedule(index);
    for (const auto &[name, problem] : trial.problems)
      if (settled.count(problem.key()))
        outlook->recordEarlier(problem.key(),
                               getSearchKind(problem, trial.choice),
                               tuner.getSaving(problem));
  }
}

/// The time that searches may take, such that the plan they lead to can still
/// be compiled, measured and compared with the untuned one.
double GlobalTuner::getSecondsLeft() const {
  double left = deadline.remainingSeconds();
  if (!start)
    return left;
  double round = std::max(policy::kPipelineMinMs,
                          policy::kPipelineRoundSamples * startMilliseconds) /
                     1000 +
                 policy::kPipelineOverheadSeconds;
  double rounds = 2 + 2 * policy::kPipelineRounds;
  return std::max(0.0, left - start->packingSeconds - rounds * round);
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

void GlobalTuner::expectWork(double units) {
  workLeft += units;
  progress.expect(units);
}

void GlobalTuner::finishWork(double units) {
  units = std::min(units, workLeft);
  workLeft -= units;
  progress.advance(units);
}

Status GlobalTuner::searchProblem(Trial &trial, const std::string &key) {
  const auto &[name, problem] =
      *llvm::find_if(trial.problems, [&](const auto &entry) {
        return entry.second.key() == key;
      });
  progress.setPhase(trial.choice.name() + ": " + name +
                    describeGain(startMilliseconds, outlook->predictBest(),
                                 outlook->getPossibleGain(getSecondsLeft())));
  tuner.setDeadline(deadline.within(getSecondsLeft()));
  auto begin = std::chrono::steady_clock::now();
  Result<Solution> solution = tune(problem);
  if (!solution)
    return solution.error();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  outlook->recordSearch(key, getSearchKind(problem, trial.choice),
                        tuner.getSaving(problem), seconds.count());
  for (Trial &other : trials)
    other.isChanged |= llvm::any_of(other.problems, [&](const auto &entry) {
      return entry.second.key() == key;
    });
  finishWork(policy::kExpectedProblemSeconds);
  return runtime::success();
}

Status GlobalTuner::searchProblems() {
  while (auto step = outlook->getNext(getSecondsLeft()))
    if (Status status = searchProblem(trials[step->choice], step->problem);
        !status)
      return status;
  constexpr double kForever = std::numeric_limits<double>::infinity();
  wasCut |= outlook->getNext(kForever).has_value();
  return runtime::success();
}

/// Returns the choice with the least expected time among those with new
/// solutions that may reach the final.
std::optional<size_t> GlobalTuner::findChanged() {
  const ChoicePlan *fastest = findFastest(getPlans());
  double least =
      fastest ? policy::kPipelineFinalistRatio * fastest->getMilliseconds()
              : std::numeric_limits<double>::infinity();
  std::optional<size_t> changed;
  for (auto [index, trial] : llvm::enumerate(trials))
    if (trial.isChanged && outlook->hasChoice(index) &&
        outlook->predict(index) <= least) {
      least = outlook->predict(index);
      changed = index;
    }
  return changed;
}

/// If searches have confirmed all solutions of an earlier plan, the latest one
/// takes its place.
void GlobalTuner::mergeEqual(Trial &trial) {
  ChoicePlan &latest = trial.plans.back();
  for (ChoicePlan &plan : trial.plans)
    if (&plan != &latest && latest.isMeasured() && plan.isMeasured() &&
        plan.key.solutions == latest.key.solutions) {
      PlanMaker::discard(plan);
      latest.isTuned = plan.isTuned;
      plan = std::move(latest);
      trial.plans.pop_back();
      return;
    }
}

/// Makes a plan of the solutions that are known by now.
Status GlobalTuner::replan(Trial &trial) {
  trial.isChanged = false;
  Result<PreparedModel> prepared = model.prepare(trial.choice);
  if (!prepared)
    return prepared.error();
  const std::vector<TensorRange> ranges = trial.plans.front().record.ranges;
  ChoicePlan &plan = trial.addPlan();
  plan.record.ranges = ranges;
  plan.isTuned = true;
  if (Status status = makePlan(trial, plan, std::move(*prepared)); !status)
    return status;
  if (Status status = maker->compare(plan); !status)
    return status;
  mergeEqual(trial);
  dropLosers();
  return runtime::success();
}

/// Predictions are corrected by measuring the plans that they lead to.
Status GlobalTuner::tuneAll() {
  scheduleAll();
  for (bool hasReplanned = false;; hasReplanned = true) {
    if (Status status = searchProblems(); !status)
      return status;
    std::optional<size_t> changed = findChanged();
    if (!changed || (hasReplanned && deadline.isOver()))
      return runtime::success();
    if (Status status = replan(trials[*changed]); !status)
      return status;
    schedule(*changed);
  }
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

/// Tries the choices for the whole model.
Status GlobalTuner::tuneWhole() {
  Deadline whole = deadline;
  if (regions->isWanted())
    deadline = deadline.part(policy::kGlobalShare);
  Status status = survey();
  if (status)
    status = tuneAll();
  deadline = whole;
  return status;
}

/// The time for the whole model may have been over before int8's turn came.
void GlobalTuner::prepareRegions() {
  if (!llvm::is_contained(regions->dtypes, Precision::I8) ||
      !model.getRanges(regions->fusion).empty())
    return;
  progress.setPhase("calibration");
  Status status = measurer.calibrate(regions->fusion);
  if (!status)
    progress.remark("no region is computed in int8: " + status.message());
}

Status GlobalTuner::tuneRegions() {
  if (!regions->isWanted() || !start)
    return runtime::success();
  Deadline end = deadline.within(getSecondsLeft());
  wasCut |= end.isOver();
  if (end.isOver())
    return runtime::success();
  tuner.setDeadline(end);
  prepareRegions();
  auto solveOne = [this](const Problem &problem) { return solve(problem); };
  auto tuneOne = [this](const Problem &problem, double seconds) {
    tuner.setDeadline(deadline.within(std::min(seconds, getSecondsLeft())));
    return tune(problem);
  };
  auto expectOne = [this](const Problem &problem, const Solution &solution) {
    return tuner.expectTime(problem, solution);
  };
  TrialMeasurer trialMeasurer(model, *maker, trials, solveOne, tuneOne,
                              expectOne, [this] { dropLosers(); });
  regions->untunedMilliseconds = startMilliseconds;
  Status status = RegionTuner(model, trialMeasurer, progress, *regions, end)
                      .run(TrialMeasurer::describeMeasured(getPlans()));
  wasCut |= end.isOver();
  return status;
}

/// A run that died goes on: what it has measured is told again at the same
/// steps, so that it decides as it did. How far a run with a time limit gets
/// depends on the machine; it is told everything at once, and so is one whose
/// journal cannot be written.
void GlobalTuner::takeUp(llvm::ArrayRef<GlobalChoice> choices) {
  if (deadline.isBounded())
    return;
  std::string tuning =
      nameTuning(model.describeModel(), inputs.digest, choices, *regions);
  auto died = journal.beginTuning(tuning);
  if (!died)
    return progress.remark("this run cannot be taken up if it is killed: " +
                           died.message());
  name = std::move(tuning);
  tuner.hideRuns(std::move(*died));
}

/// Where guesses have won over tuned solutions, the next run has to guess them
/// again. A run that was stopped goes on as one that was killed.
void GlobalTuner::conclude(const GlobalResult &result) {
  if (name.empty() || result.guessesHaveWon || deadline.isOver())
    return;
  if (Status status = journal.endTuning(name); !status)
    progress.remark("the next run repeats the steps of this one: " +
                    status.message());
}

Result<GlobalResult>
GlobalTuner::run(const std::vector<GlobalChoice> &choices) {
  begin = std::chrono::steady_clock::now();
  takeUp(choices);
  measurer.setTimesLayers(regions->isWanted());
  if (Status status = maker->open(); !status)
    return status.error();
  expectWork(static_cast<double>(choices.size()) *
             policy::kExpectedPipelineSeconds);
  for (const GlobalChoice &choice : choices)
    trials.emplace_back().choice = choice;
  for (auto step : {&GlobalTuner::tuneWhole, &GlobalTuner::tuneRegions})
    if (Status status = (this->*step)(); !status)
      return status.error();
  if (measurer.isNoisy()) {
    const ChoicePlan *fastest = findFastest(getPlans());
    if (fastest)
      progress.setPhase("comparing the fastest" +
                        describeGain(startMilliseconds,
                                     fastest->getMilliseconds(), /*left=*/0));
    auto timeAgain = [this](ChoicePlan &plan) {
      return maker->timeAgain(plan);
    };
    if (Status status =
            runFinal(pickFinalists(getPlans(), start, hasFrontFinal()),
                     hasFrontFinal(), deadline, timeAgain);
        !status)
      return status.error();
  }
  finishWork(workLeft);
  Result<GlobalResult> result = pickResult();
  if (result)
    conclude(*result);
  return result;
}
