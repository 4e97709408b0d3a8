//===- RegionPrices.cpp - The times of regions and conversions ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionPrices.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

std::string RegionPrices::add(const Problem &problem) {
  std::string key = problem.key();
  auto [price, isNew] = prices.try_emplace(key, Price{problem});
  if (isNew)
    price->second.kind = getKind(problem);
  return key;
}

std::optional<RegionPrices::Keys> &
RegionPrices::getKeys(size_t region, size_t state, Fusion fusion) {
  Posed &posed = regions[region][state];
  return fusion == Fusion::Off ? posed.split : posed.fused;
}

/// The products of attention are scaled behind them, and without that do not
/// fit into fp16 (ScaleOperands.cpp).
bool RegionPrices::maySplit(const Keys &keys, Precision dtype) const {
  return dtype != Precision::F16 ||
         llvm::none_of(keys, [this](const std::string &key) {
           return prices.at(key).problem.op == OpKind::MatMul;
         });
}

/// Poses the problems of all regions with one choice. A region that cannot
/// compute in nhwc does so in nchw, whichever it is told.
void RegionPrices::poseAll(ModelCompiler &model, const RegionChoice &choice,
                           Fusion fusion) {
  Result<PreparedModel> prepared = model.prepare(makeRegionChoice(
      std::vector<RegionChoice>(regions.size(), choice), fusion));
  if (!prepared)
    return;
  std::map<std::string, const Problem *> problems;
  for (const auto &[name, problem] : prepared->problems)
    problems[problem.key()] = &problem;
  for (size_t region = 0; region < regions.size(); ++region) {
    RegionChoice actual = {choice.dtype, choice.layout};
    Keys keys;
    if (auto posed = prepared->regions.find(region);
        posed != prepared->regions.end()) {
      // Conversions within a region have no price.
      if (!posed->second.hasOneLayout)
        continue;
      actual.layout = posed->second.layout;
      for (const std::string &key : posed->second.problems)
        keys.push_back(add(*problems.at(key)));
    }
    size_t state = llvm::find(states, actual) - states.begin();
    if (state < states.size() &&
        (choice.fusion != Fusion::Off || maySplit(keys, choice.dtype)))
      getKeys(region, state, choice.fusion) = std::move(keys);
  }
}

/// Nothing is known of the values within a region in int8.
Status RegionPrices::pose(ModelCompiler &model,
                          const RegionStructure &structure,
                          const std::vector<RegionChoice> &allStates,
                          const std::vector<bool> &isAllowed, Fusion fusion,
                          bool choosesFusion) {
  states = allStates;
  values = structure.values;
  regions.assign(structure.names.size(), std::vector<Posed>(states.size()));
  for (auto [state, choice] : llvm::enumerate(states)) {
    if (!isAllowed[state])
      continue;
    poseAll(model, choice, fusion);
    if (choosesFusion && choice.dtype != Precision::I8)
      poseAll(model, {choice.dtype, choice.layout, Fusion::Off}, fusion);
  }
  return poseConversions(structure);
}

/// The state from which a value is most likely converted to this one.
static RegionChoice getOrigin(const std::vector<RegionChoice> &states,
                              const RegionChoice &to, bool hasLayout) {
  RegionChoice exact = {kReferenceChoice.dtype, to.layout};
  if (to != exact)
    return exact;
  for (const RegionChoice &state : states)
    if (hasLayout && state.dtype == to.dtype && state.layout != to.layout)
      return state;
  for (const RegionChoice &state : states)
    if (state.dtype != to.dtype)
      return state;
  return to;
}

Status RegionPrices::poseConversions(const RegionStructure &structure) {
  for (mlir::RankedTensorType type : structure.types) {
    std::vector<std::string> &keys = conversions.emplace_back();
    for (const RegionChoice &to : states) {
      RegionChoice from =
          getOrigin(states, to, /*hasLayout=*/type.getRank() >= 3);
      bool isFree =
          from == to || (type.getRank() < 3 && from.dtype == to.dtype);
      if (isFree) {
        keys.emplace_back();
        continue;
      }
      Result<Problem> problem = poseConversion(type, from, to);
      if (!problem)
        return problem.error();
      keys.push_back(add(*problem));
    }
  }
  return runtime::success();
}

void RegionPrices::adopt(const PreparedModel &plan,
                         const std::vector<size_t> &chosen) {
  for (const auto &[name, problem] : plan.problems)
    add(problem);
  for (auto [region, state] : llvm::enumerate(chosen)) {
    auto posed = plan.regions.find(region);
    getKeys(region, state, plan.choice.regions[region].fusion) =
        posed == plan.regions.end() ? Keys() : posed->second.problems;
  }
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

void RegionPrices::learn(const SolutionTimes &times) {
  for (const auto &[solution, milliseconds] : times)
    timesWithin[solution] = milliseconds;
}

/// A problem that no solver takes here has no price.
void RegionPrices::askOne(Price &price, RegionMeasurer &measurer) {
  price.measured.reset();
  price.within.reset();
  Result<Solution> solution = measurer.solve(price.problem);
  price.isSolvable = static_cast<bool>(solution);
  if (!solution)
    return;
  CandidateKey key = {price.problem.key(), solution->solver->id().str(),
                      solution->config.str()};
  if (key != price.solution)
    price.expected = measurer.expectTime(price.problem, *solution);
  if (auto within = timesWithin.find(key); within != timesWithin.end())
    price.within = within->second;
  if (solution->measurement)
    price.measured = solution->measurement->median;
  price.solution = std::move(key);
}

/// A problem's time alone is known, else that within a model. Where neither is,
/// the ranker's tells what peak the fractions are of.
void RegionPrices::compareTimes() {
  toRankers = toFractions = TypicalRatios(policy::kGuessDeviation);
  toTimesAlone = TypicalRatios(policy::kAloneDeviation);
  for (const auto &[key, price] : prices) {
    if (!price.isSolvable)
      continue;
    const std::optional<double> &byRanker = price.expected.byRanker;
    std::optional<double> known =
        price.measured ? price.measured : price.within;
    if (known && byRanker)
      toRankers.add(price.kind, *known, *byRanker);
    if (known || byRanker)
      toFractions.add(price.kind, known ? *known : *byRanker,
                      price.expected.byFraction);
    if (price.measured && price.within)
      toTimesAlone.add(price.kind, *price.within, *price.measured);
  }
}

void RegionPrices::ask(RegionMeasurer &measurer) {
  for (auto &[key, price] : prices)
    askOne(price, measurer);
  compareTimes();
}

void RegionPrices::askAgain(const std::string &key, RegionMeasurer &measurer) {
  askOne(prices.at(key), measurer);
  compareTimes();
}

bool RegionPrices::isSolvable(const std::string &key) const {
  return key.empty() || prices.at(key).isSolvable;
}

TimeEstimate RegionPrices::estimateAlone(const Price &price) const {
  if (price.measured)
    return {*price.measured, 0};
  const std::optional<double> &byRanker = price.expected.byRanker;
  TypicalRatio typical = (byRanker ? toRankers : toFractions).find(price.kind);
  double milliseconds =
      typical.ratio * (byRanker ? *byRanker : price.expected.byFraction);
  return {milliseconds, milliseconds * typical.deviation};
}

/// Where layers are not timed within models, the ratio of whole models to the
/// sum of their layers says how these compare.
TimeEstimate RegionPrices::estimate(const Price &price) const {
  if (!price.isSolvable)
    return {policy::kUnsolvableMs, 0};
  if (price.within)
    return {*price.within, 0};
  TimeEstimate alone = estimateAlone(price);
  if (timesWithin.empty())
    return alone;
  TypicalRatio typical = toTimesAlone.find(price.kind);
  return {typical.ratio * alone.milliseconds,
          typical.ratio * std::hypot(alone.deviation,
                                     typical.deviation * alone.milliseconds)};
}

TimeEstimate RegionPrices::estimate(const std::string &key) const {
  return key.empty() ? TimeEstimate() : estimate(prices.at(key));
}

double RegionPrices::getMilliseconds(const std::string &key) const {
  return estimate(key).milliseconds;
}

/// Returns the sum of the times; none where a problem has no solution.
std::optional<double>
RegionPrices::getMilliseconds(const std::optional<Keys> &keys) const {
  if (!keys)
    return std::nullopt;
  double sum = 0;
  for (const std::string &key : *keys) {
    if (!isSolvable(key))
      return std::nullopt;
    sum += getMilliseconds(key);
  }
  return sum;
}

/// A guess has to promise more than a measurement.
bool RegionPrices::isFasterSplit(const Posed &posed) const {
  std::optional<double> fused = getMilliseconds(posed.fused),
                        split = getMilliseconds(posed.split);
  if (!split || !fused)
    return split.has_value();
  bool isGuessed = llvm::any_of(*posed.split, [this](const std::string &key) {
    const Price &price = prices.at(key);
    return !price.measured && !price.within;
  });
  double gain = isGuessed ? policy::kPriorSaving : policy::kLeastGain;
  return *split < (1 - gain) * *fused;
}

RegionChoice RegionPrices::choose(size_t region, size_t state) const {
  RegionChoice choice = states[state];
  if (isFasterSplit(regions[region][state]))
    choice.fusion = Fusion::Off;
  return choice;
}

RegionCosts RegionPrices::getCosts() const {
  RegionCosts costs;
  costs.states = states;
  for (const std::vector<Posed> &row : regions) {
    auto &region = costs.regions.emplace_back();
    for (const Posed &posed : row) {
      std::optional<double> milliseconds =
          getMilliseconds(isFasterSplit(posed) ? posed.split : posed.fused);
      region.push_back(milliseconds
                           ? std::optional<RegionCost>({*milliseconds, 0})
                           : std::nullopt);
    }
  }
  costs.values = values;
  for (auto [value, keys] : llvm::zip_equal(costs.values, conversions))
    for (const std::string &key : keys)
      value.conversionMs.push_back(getMilliseconds(key));
  return costs;
}

TimeEstimate RegionPrices::estimate(const LayerCounts &layers) const {
  TimeEstimate sum;
  for (const auto &[key, count] : layers) {
    TimeEstimate one = estimate(key);
    auto times = static_cast<double>(count);
    sum.milliseconds += times * one.milliseconds;
    sum.deviation += times * one.deviation;
  }
  return sum;
}

double RegionPrices::getMilliseconds(const LayerCounts &layers,
                                     const SolutionTimes &own) const {
  double sum = 0;
  for (const auto &[key, count] : layers) {
    auto time = own.lower_bound({key, "", ""});
    bool isOwn = time != own.end() && time->first.problem == key;
    sum += static_cast<double>(count) *
           (isOwn ? time->second : getMilliseconds(key));
  }
  return sum;
}

std::optional<RegionPrices::OpenProblem>
RegionPrices::findOpen(const PreparedModel &plan,
                       const std::set<std::string> &searched) const {
  double sum = estimate(plan.counts).milliseconds;
  std::optional<OpenProblem> open;
  for (const auto &[key, count] : plan.counts) {
    const Price &price = prices.at(key);
    if (price.measured || searched.count(key))
      continue;
    TimeEstimate one = estimate(price);
    double part = static_cast<double>(count) / sum;
    OpenProblem found = {&price.problem, part * one.milliseconds,
                         part * one.deviation};
    bool isNotable = found.share >= policy::kNotableRegionShare ||
                     found.deviation >= policy::kNotableDeviationShare;
    if (isNotable && (!open || found.deviation > open->deviation))
      open = found;
  }
  return open;
}
