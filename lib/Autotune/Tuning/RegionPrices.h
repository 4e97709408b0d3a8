//===- RegionPrices.h - The times of regions and conversions ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_REGIONPRICES_H
#define TARPON_LIB_AUTOTUNE_TUNING_REGIONPRICES_H

#include "Choice/ModelCompiler.h"
#include "Regions/RegionStructure.h"
#include "Tuning/RegionMeasurer.h"
#include "Tuning/TypicalRatios.h"
#include "tarpon/Autotune/Search/Policy.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// The number of layers by the key of their problem.
using LayerCounts = std::map<std::string, int64_t>;

/// An expected time, and how far it may be off because it is not that of a
/// layer within a model.
struct TimeEstimate {
  double milliseconds = 0, deviation = 0;
};

/// The problems that the regions of a model pose in each state, and their
/// times: within a model that was measured, else alone, in proportion to what
/// others of the same kind take within a model. What was never measured is
/// guessed by the learned model, or by the solver's expectation, in proportion
/// to what was.
class RegionPrices {
public:
  /// Poses all problems, also those of split regions if these may be. A state
  /// in which the model cannot be compiled is left out; `isAllowed` says which
  /// states may be chosen.
  runtime::Status pose(ModelCompiler &model, const RegionStructure &structure,
                       const std::vector<RegionChoice> &states,
                       const std::vector<bool> &isAllowed, Fusion fusion,
                       bool choosesFusion);

  /// Takes the problems of a plan, and those that regions pose beside the
  /// others in it: in which type a value is stored depends on who reads it.
  void adopt(const PreparedModel &plan, const std::vector<size_t> &states);

  /// Returns the choice for a region in a state: split if its operations take
  /// clearly less as launches of their own.
  RegionChoice choose(size_t region, size_t state) const;

  /// Takes times within a model. Those that were taken later count.
  void learn(const SolutionTimes &times);

  /// Asks for the times that are known by now, of all problems or of one.
  void ask(RegionMeasurer &measurer);
  void askAgain(const std::string &key, RegionMeasurer &measurer);

  /// Returns the costs with the times, and without errors.
  RegionCosts getCosts() const;

  /// Returns the sum of the times of a plan that was adopted. What makes one
  /// of them too low makes others so: deviations add up, too.
  TimeEstimate estimate(const LayerCounts &layers) const;
  /// The same with the times of its own solutions, as far as they are known.
  double getMilliseconds(const LayerCounts &layers,
                         const SolutionTimes &own) const;

  /// A problem of such a plan, and the share of the plan's time that it is
  /// expected to take and to be off.
  struct OpenProblem {
    const Problem *problem = nullptr;
    double share = 0, deviation = 0;
  };
  /// Returns the problem that was never measured alone, and by which the plan's
  /// time may be off most; none if none of them counts. Those that were
  /// searched are left out: they have no time where nothing can be measured.
  std::optional<OpenProblem>
  findOpen(const PreparedModel &plan,
           const std::set<std::string> &searched) const;

private:
  struct Price {
    Problem problem;
    /// The times of the best solution that is known, alone and within a model.
    std::optional<double> measured = std::nullopt, within = std::nullopt;
    ExpectedTime expected = {};
    CandidateKey solution = {};
    std::string kind = {};
    bool isSolvable = true;
  };

  /// The keys of a region's problems; empty where passes remove it, so that it
  /// takes no time.
  using Keys = std::vector<std::string>;
  /// Those of a region in a state, fused and split. None where it cannot be so.
  struct Posed {
    std::optional<Keys> fused, split;
  };

  std::string add(const Problem &problem);
  void poseAll(ModelCompiler &model, const RegionChoice &choice, Fusion fusion);
  std::optional<Keys> &getKeys(size_t region, size_t state, Fusion fusion);
  void askOne(Price &price, RegionMeasurer &measurer);
  void compareTimes();
  TimeEstimate estimateAlone(const Price &price) const;
  TimeEstimate estimate(const Price &price) const;
  runtime::Status poseConversions(const RegionStructure &structure);
  bool isSolvable(const std::string &key) const;
  TimeEstimate estimate(const std::string &key) const;
  double getMilliseconds(const std::string &key) const;
  std::optional<double> getMilliseconds(const std::optional<Keys> &keys) const;
  bool isFasterSplit(const Posed &posed) const;
  bool maySplit(const Keys &keys, runtime::Precision dtype) const;

  std::vector<RegionChoice> states;
  std::vector<RegionValue> values;
  std::map<std::string, Price> prices;
  /// By region and state.
  std::vector<std::vector<Posed>> regions;
  /// The keys of conversions by value and state, "" where there is none.
  std::vector<std::vector<std::string>> conversions;
  /// The ratios of times alone to those that the ranker and that fractions of
  /// the peak let expect, and of times within a model to those alone.
  TypicalRatios toRankers{policy::kGuessDeviation},
      toFractions{policy::kGuessDeviation},
      toTimesAlone{policy::kAloneDeviation};
  SolutionTimes timesWithin;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_REGIONPRICES_H
