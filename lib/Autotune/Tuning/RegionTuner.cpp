//===- RegionTuner.cpp - Chooses for each region --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionTuner.h"

#include "Tuning/BudgetSearch.h"
#include "Tuning/Gain.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/Measure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tarpon;
using runtime::Error;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

/// The choices that all regions share; none where they need not agree.
struct RegionTuner::StateSet {
  std::optional<Precision> dtype;
  std::optional<Layout> layout;
};

/// All combinations, fp32 in nchw first, in which the model's arguments are.
static std::vector<RegionChoice> listStates(const RegionOptions &options) {
  std::vector<Precision> dtypes = {kReferenceChoice.dtype};
  std::vector<Layout> layouts = {kReferenceChoice.layout};
  for (Precision dtype : options.dtypes)
    if (!llvm::is_contained(dtypes, dtype))
      dtypes.push_back(dtype);
  for (Layout layout : options.layouts)
    if (!llvm::is_contained(layouts, layout))
      layouts.push_back(layout);
  std::vector<RegionChoice> states;
  for (Layout layout : layouts)
    for (Precision dtype : dtypes)
      states.push_back({dtype, layout});
  return states;
}

RegionTuner::RegionTuner(ModelCompiler &model, RegionMeasurer &measurer,
                         Progress &progress, RegionOptions options,
                         Deadline deadline)
    : model(model), measurer(measurer), progress(progress),
      options(std::move(options)), deadline(deadline),
      states(listStates(this->options)) {}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

Status RegionTuner::price() {
  progress.setPhase("regions");
  auto function = model.fuse(options.fusion);
  if (!function)
    return function.error();
  structure = describeRegions(**function);
  if (structure.names.empty())
    return runtime::success();
  std::vector<bool> isAllowed;
  for (const RegionChoice &state : states)
    isAllowed.push_back(llvm::is_contained(options.dtypes, state.dtype) &&
                        llvm::is_contained(options.layouts, state.layout));
  if (Status status = prices.pose(model, structure, states, isAllowed,
                                  options.fusion, options.choosesFusion);
      !status)
    return status;
  for (const RegionPlan &plan : plans)
    prices.learn(plan.times);
  prices.ask(measurer);
  return runtime::success();
}

/// Returns the least time of a region in a precision, whatever the layout.
static double getLeast(const RegionCosts &costs, size_t region,
                       Precision dtype) {
  double least = std::numeric_limits<double>::infinity();
  for (auto [state, cost] : llvm::enumerate(costs.regions[region]))
    if (cost && costs.states[state].dtype == dtype)
      least = std::min(least, cost->milliseconds);
  return least;
}

/// The share of the model's time that a precision saves at most, beside others
/// that regions may have instead.
static double getPossibleSaving(const RegionCosts &costs, Precision dtype,
                                llvm::ArrayRef<Precision> others) {
  double sum = 0, saved = 0;
  for (size_t region = 0; region < costs.regions.size(); ++region) {
    double least = std::numeric_limits<double>::infinity();
    for (Precision other : others)
      least = std::min(least, getLeast(costs, region, other));
    if (!std::isfinite(least))
      continue;
    sum += least;
    saved += std::max(0.0, least - getLeast(costs, region, dtype));
  }
  return sum > 0 ? saved / sum : 0;
}

/// A precision that makes nothing faster than the more exact ones is left out.
/// The layout hardly changes errors: they are measured in that of the fastest
/// plan.
Status RegionTuner::addPrecisions() {
  RegionCosts costs = prices.getCosts();
  Layout layout =
      plans.empty() ? options.layouts.front() : plans.front().choice.layout;
  std::vector<Precision> useful = {kReferenceChoice.dtype};
  for (Precision dtype : {Precision::F16, Precision::BF16, Precision::I8}) {
    // Where all regions have the same precision, only their layouts are chosen.
    bool isWorthIt =
        !options.choosesDtypes ||
        getPossibleSaving(costs, dtype, useful) >= policy::kNotableSaving;
    if (!llvm::is_contained(options.dtypes, dtype) || !isWorthIt ||
        deadline.isOver())
      continue;
    useful.push_back(dtype);
    progress.setPhase("errors of regions in " +
                      std::string(getPrecisionName(dtype)));
    if (Status status = errors.add(measurer, dtype, layout, options.fusion,
                                   structure.names.size());
        !status)
      return status;
  }
  return runtime::success();
}

Status RegionTuner::refineErrors(double maxError) {
  progress.setPhase("errors of groups of regions");
  Status status =
      errors.refine(measurer, maxError, deadline.part(policy::kErrorShare));
  errors.fit(observations);
  return status;
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

std::vector<RegionTuner::StateSet> RegionTuner::listStateSets() const {
  std::vector<StateSet> sets = {{}};
  if (!options.choosesDtypes) {
    sets.clear();
    for (Precision dtype : options.dtypes)
      sets.push_back({dtype, {}});
  }
  if (options.choosesLayouts)
    return sets;
  std::vector<StateSet> both;
  for (const StateSet &set : sets)
    for (Layout layout : options.layouts)
      both.push_back({set.dtype, layout});
  return both;
}

/// Leaves out the states whose errors are unknown, and those that are not in
/// the set; a region that does not know the set's layout computes in its own.
RegionCosts RegionTuner::restrict(const RegionCosts &costs,
                                  const StateSet &set) const {
  RegionCosts restricted = costs;
  for (auto [index, region] : llvm::enumerate(restricted.regions)) {
    for (auto [state, cost] : llvm::enumerate(region)) {
      const RegionChoice &choice = states[state];
      std::optional<double> square = errors.getSquare(choice.dtype, index);
      bool isUsable = square && (!set.dtype || choice.dtype == *set.dtype);
      if (cost && isUsable)
        cost->squaredError = *square;
      else
        cost.reset();
    }
    auto isInLayout = [&](size_t state) {
      return !set.layout || states[state].layout == *set.layout;
    };
    auto all = llvm::seq(states.size());
    if (llvm::none_of(all, [&](size_t state) {
          return region[state] && isInLayout(state);
        }))
      continue;
    for (size_t state : all)
      if (!isInLayout(state))
        region[state].reset();
  }
  return restricted;
}

Result<RegionAssignment> RegionTuner::assign(double squaredError) {
  RegionCosts costs = prices.getCosts();
  Result<RegionAssignment> best =
      Error{"no precisions of the regions are within the budget"};
  for (const StateSet &set : listStateSets()) {
    Result<RegionAssignment> assignment =
        assignRegions(restrict(costs, set), squaredError);
    if (assignment && (!best || assignment->milliseconds < best->milliseconds))
      best = std::move(assignment);
  }
  return best;
}

/// Describes what has been gained, and what the plan is expected to gain.
std::string RegionTuner::describeGainOf(const PreparedModel &plan) const {
  double best = getBestMilliseconds(options.maxError);
  double expected = getTimeRatio() * prices.estimate(plan.counts).milliseconds;
  return describeGain(options.untunedMilliseconds, best, 1 - expected / best);
}

/// Searches what was never measured of a draft, as long as it may be the
/// fastest. Each search tells something of the problems of its kind.
Status RegionTuner::tuneOpen(const PreparedModel &plan, double maxError,
                             const Deadline &until) {
  prices.ask(measurer);
  while (auto open = prices.findOpen(plan, searched)) {
    double seconds = std::max(policy::kLeastRegionSeconds,
                              open->share * policy::kRegionSecondsPerPlan);
    if (until.remainingSeconds() < policy::kLeastRegionSeconds ||
        !mayBeFastest(prices.estimate(plan.counts), maxError))
      break;
    std::string key = open->problem->key();
    progress.setPhase("regions: " + key + describeGainOf(plan));
    Result<Solution> solution = measurer.tune(
        *open->problem, std::min(seconds, until.remainingSeconds()));
    if (!solution)
      return solution.error();
    searched.insert(key);
    prices.askAgain(key, measurer);
  }
  return runtime::success();
}

std::vector<Precision>
RegionTuner::getDtypes(const RegionAssignment &assignment) const {
  std::vector<Precision> dtypes;
  for (size_t state : assignment.states)
    dtypes.push_back(states[state].dtype);
  return dtypes;
}

/// Returns the fastest of the assignments that are the best with the times that
/// regions took, and the errors that they had, in those before; none if there
/// is none within the budget, or it cannot be compiled.
Result<std::optional<RegionTuner::Draft>> RegionTuner::draft(double maxError) {
  Deadline until =
      deadline.part(policy::kOpenShare).within(policy::kRegionSecondsPerPlan);
  // The expectation approaches the planned error from above.
  double planned = spendable * policy::kBudgetMargin * maxError;
  std::vector<Draft> drafts;
  while (drafts.size() < policy::kMaxDrafts &&
         (drafts.empty() || !deadline.isOver())) {
    Result<RegionAssignment> assignment = assign(planned * planned);
    if (!assignment)
      break;
    GlobalChoice choice = makeChoice(*assignment);
    if (!drafts.empty() && choice.regions == drafts.back().choice.regions)
      break;
    Result<PreparedModel> plan = model.prepare(choice);
    if (!plan)
      break;
    prices.adopt(*plan, assignment->states);
    if (Status status = tuneOpen(*plan, maxError, until); !status)
      return status.error();
    drafts.push_back(
        {std::move(*assignment), std::move(choice), std::move(plan->counts)});
  }
  // The last searches count for all drafts.
  auto best = llvm::min_element(drafts, [this](const Draft &a, const Draft &b) {
    return prices.estimate(a.layers).milliseconds <
           prices.estimate(b.layers).milliseconds;
  });
  if (best == drafts.end())
    return std::optional<Draft>();
  return std::optional<Draft>(std::move(*best));
}

GlobalChoice RegionTuner::makeChoice(const RegionAssignment &assignment) const {
  std::vector<RegionChoice> choices;
  for (auto [region, state] : llvm::enumerate(assignment.states))
    choices.push_back(prices.choose(region, state));
  return makeRegionChoice(std::move(choices), options.fusion);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

double RegionTuner::getBestMilliseconds(double maxError) const {
  double best = std::numeric_limits<double>::infinity();
  for (const RegionPlan &plan : plans)
    if (options.searchesBudget ? plan.isWithinBudget : plan.error <= maxError)
      best = std::min(best, plan.milliseconds);
  return best;
}

PredictionRecord RegionTuner::predict(const Draft &draft) const {
  TimeEstimate time = prices.estimate(draft.layers);
  double square = errors.getModelSquare(getDtypes(draft.assignment));
  return {getTimeRatio() * time.milliseconds, std::sqrt(square),
          getTimeRatio() * time.deviation};
}

bool RegionTuner::mayBeFastest(const TimeEstimate &time,
                               double maxError) const {
  return getTimeRatio() * (time.milliseconds - time.deviation) <
         (1 - policy::kLeastGain) * getBestMilliseconds(maxError);
}

/// A whole model takes more than its layers, or less where these were timed
/// alone.
void RegionTuner::learnTimes(const RegionPlan &plan,
                             const LayerCounts &layers) {
  prices.learn(plan.times);
  prices.ask(measurer);
  double sum = prices.getMilliseconds(layers, plan.times);
  if (sum > 0)
    timeRatios.push_back(plan.milliseconds / sum);
}

double RegionTuner::getTimeRatio() const {
  return timeRatios.empty() ? 1 : runtime::median(timeRatios);
}

void RegionTuner::learnFromWhole(const RegionPlan &plan) {
  Result<PreparedModel> prepared = model.prepare(plan.choice);
  if (!prepared)
    return;
  prices.adopt(*prepared, {});
  learnTimes(plan, prepared->counts);
}

void RegionTuner::learn(const Draft &draft, const RegionPlan &plan) {
  RegionErrors::Observation one = {getDtypes(draft.assignment),
                                   plan.error * plan.error};
  llvm::erase_if(observations, [&](const RegionErrors::Observation &other) {
    return other.dtypes == one.dtypes;
  });
  observations.push_back(std::move(one));
  errors.fit(observations);
  if (!plan.isTimed())
    return;
  plans.push_back(plan);
  timed.push_back(draft);
  learnTimes(plan, draft.layers);
}

/// Returns the error up to which a draft is worth timing: within the budget, or
/// that of the most exact plan that it cannot be faster than. A metric of the
/// user's says itself what is within its budget.
double RegionTuner::getLargestError(const TimeEstimate &time,
                                    double maxError) const {
  if (options.searchesBudget)
    return std::numeric_limits<double>::infinity();
  double largest = options.maxError;
  for (const RegionPlan &plan : plans)
    if (plan.error < largest && !mayBeFastest(time, plan.error))
      largest = plan.error;
  return std::max(largest, maxError);
}

/// Measures a draft; false if it cannot be used.
Result<bool> RegionTuner::tryDraft(const Draft &draft, double maxError) {
  Result<std::optional<RegionPlan>> plan = measurer.measure(
      draft.choice, predict(draft),
      getLargestError(prices.estimate(draft.layers), maxError));
  if (!plan)
    return plan.error();
  if (!*plan)
    return false;
  tried[draft.choice.regions] = (*plan)->error;
  learn(draft, **plan);
  return true;
}

/// Returns false if no plan with a smaller error can be faster than the best.
Result<bool> RegionTuner::tryBudget(double maxError) {
  if (Status status = refineErrors(maxError); !status)
    return status.error();
  spendable = 1;
  size_t within = 0;
  for (size_t attempt = 0;
       attempt < policy::kMaxMeasuredDrafts && within < policy::kMaxRegionPlans;
       ++attempt) {
    if (deadline.isOver())
      return false;
    Result<std::optional<Draft>> drafted = draft(maxError);
    if (!drafted)
      return drafted.error();
    if (!*drafted)
      return true;
    const Draft &one = **drafted;
    if (auto known = tried.find(one.choice.regions); known != tried.end()) {
      if (known->second <= maxError)
        return true;
      spendable *= policy::kLessError;
      continue;
    }
    if (!mayBeFastest(prices.estimate(one.layers), maxError))
      return false;
    Result<bool> isUsable = tryDraft(one, maxError);
    if (!isUsable)
      return isUsable.error();
    if (!*isUsable)
      return true;
    within += tried.at(one.choice.regions) <= maxError ? 1 : 0;
  }
  return true;
}

/// Tries budgets of errors downwards from none at all, until a plan is within
/// the budget that the measurer knows; then some between that and the last that
/// was too large.
Status RegionTuner::searchBudget() {
  BudgetSearch search;
  while (std::optional<double> budget = search.getNext()) {
    size_t before = plans.size();
    Result<bool> mayImprove = tryBudget(*budget);
    if (!mayImprove)
      return mayImprove.error();
    for (const RegionPlan &plan : llvm::drop_begin(plans, before))
      search.record(plan.error, plan.isWithinBudget);
    if (plans.size() == before)
      search.recordNone(*mayImprove);
  }
  return runtime::success();
}

Status RegionTuner::tryBudgets() {
  if (options.searchesBudget)
    return searchBudget();
  for (double share : policy::kFrontShares)
    if (auto done = tryBudget(share * options.maxError); !done)
      return done.error();
  return runtime::success();
}

/// The error of a plan is predicted by all others.
void RegionTuner::correctPredictions() {
  for (const Draft &draft : timed) {
    std::vector<RegionErrors::Observation> others = observations;
    llvm::erase_if(others, [&](const RegionErrors::Observation &one) {
      return one.dtypes == getDtypes(draft.assignment);
    });
    errors.fit(others);
    measurer.notePrediction(draft.choice, predict(draft));
  }
  errors.fit(observations);
}

Status RegionTuner::run(std::vector<RegionPlan> known) {
  plans = std::move(known);
  llvm::stable_sort(plans, [](const RegionPlan &a, const RegionPlan &b) {
    return a.milliseconds < b.milliseconds;
  });
  if (Status status = price(); !status)
    return status;
  if (structure.names.empty() || !(options.maxError > 0))
    return runtime::success();
  if (!plans.empty())
    learnFromWhole(plans.front());
  if (Status status = addPrecisions(); !status)
    return status;
  if (Status status = tryBudgets(); !status)
    return status;
  correctPredictions();
  return runtime::success();
}
