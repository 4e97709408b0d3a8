//===- RegionPrices.cpp - The times of regions and conversions ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/RegionPrices.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

std::string RegionPrices::add(const Problem &problem) {
  std::string key = problem.key();
  prices.try_emplace(key, Price{problem});
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

/// Guesses are off by one factor for problems of one kind.
static std::string getKind(const Problem &problem) {
  std::string key = problem.key();
  return key.substr(0, key.find('(')) + " " +
         (problem.operands.empty()
              ? ""
              : std::string(runtime::dtypeName(problem.operands[0].dtype)));
}

static const char *const kAllKinds = "";

namespace {
/// Typical ratios of times, by kind: half of the time is in problems whose
/// ratio is larger. A single problem that is off says nothing about others.
class Ratios {
public:
  void add(const Problem &problem, double numerator, double denominator) {
    if (denominator > 0)
      for (const std::string &kind : {getKind(problem), std::string(kAllKinds)})
        ratios[kind].emplace_back(numerator / denominator, denominator);
  }
  std::map<std::string, double> get() {
    std::map<std::string, double> typical;
    for (auto &[kind, list] : ratios)
      typical[kind] = getWeightedMedian(list);
    return typical;
  }

private:
  using Weighted = std::vector<std::pair<double, double>>;

  static double getWeightedMedian(Weighted &list) {
    llvm::sort(list);
    double half = 0;
    for (const auto &[ratio, weight] : list)
      half += weight / 2;
    for (const auto &[ratio, weight] : list) {
      half -= weight;
      if (half <= 0)
        return ratio;
    }
    return list.back().first;
  }

  std::map<std::string, Weighted> ratios;
};
} // namespace

/// Returns the ratio of a problem's kind, else of all kinds, else 1.
static double findRatio(const std::map<std::string, double> &ratios,
                        const Problem &problem) {
  auto ratio = ratios.find(getKind(problem));
  if (ratio == ratios.end())
    ratio = ratios.find(kAllKinds);
  return ratio == ratios.end() ? 1 : ratio->second;
}

void RegionPrices::learn(const SolutionTimes &times) {
  for (const auto &[solution, milliseconds] : times)
    timesWithin[solution] = milliseconds;
}

/// A problem that no solver takes here has no price.
void RegionPrices::askOne(Price &price, RegionMeasurer &measurer,
                          const TargetInfo &target) {
  price.measured.reset();
  price.within.reset();
  Result<Solution> solution = measurer.solve(price.problem);
  price.isSolvable = static_cast<bool>(solution);
  if (!solution)
    return;
  price.guess = ExpectedFractionRanker()
                    .expectMs(price.problem,
                              {{solution->solver, solution->config}}, target)
                    .front();
  CandidateKey key = {price.problem.key(), solution->solver->id().str(),
                      solution->config.str()};
  if (auto within = timesWithin.find(key); within != timesWithin.end())
    price.within = within->second;
  if (solution->measurement)
    price.measured = solution->measurement->median;
}

void RegionPrices::ask(RegionMeasurer &measurer, const TargetInfo &target) {
  Ratios ofGuesses, ofTimesAlone;
  for (auto &[key, price] : prices) {
    askOne(price, measurer, target);
    // Where nothing was measured alone, guesses are compared with what is
    // known.
    if (price.measured || price.within)
      ofGuesses.add(price.problem,
                    price.measured ? *price.measured : *price.within,
                    price.guess);
    if (price.measured && price.within)
      ofTimesAlone.add(price.problem, *price.within, *price.measured);
  }
  scales = ofGuesses.get();
  contextScales = ofTimesAlone.get();
}

bool RegionPrices::isSolvable(const std::string &key) const {
  return key.empty() || prices.at(key).isSolvable;
}

double RegionPrices::getMilliseconds(const std::string &key) const {
  if (key.empty())
    return 0;
  const Price &price = prices.at(key);
  if (!price.isSolvable)
    return policy::kUnsolvableMs;
  if (price.within)
    return *price.within;
  double alone = price.measured
                     ? *price.measured
                     : price.guess * findRatio(scales, price.problem);
  return alone * findRatio(contextScales, price.problem);
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

double
RegionPrices::getMilliseconds(const std::map<std::string, int64_t> &layers,
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

std::vector<RegionPrices::OpenProblem>
RegionPrices::listOpen(const PreparedModel &plan) const {
  double sum = getMilliseconds(plan.counts);
  std::vector<OpenProblem> open;
  for (const auto &[key, count] : plan.counts) {
    double share = static_cast<double>(count) * getMilliseconds(key) / sum;
    if (!prices.at(key).measured && share >= policy::kNotableRegionShare)
      open.push_back({&prices.at(key).problem, share});
  }
  llvm::stable_sort(open, [](const OpenProblem &a, const OpenProblem &b) {
    return a.share > b.share;
  });
  return open;
}
