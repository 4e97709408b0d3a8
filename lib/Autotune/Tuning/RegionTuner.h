//===- RegionTuner.h - Chooses for each region ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds plans in which each region has a precision, a layout and a fusion of
// its own.
//
// The times of a region are those of its problem in each state: within a whole
// model that was measured, else alone, else guessed. Its error in a precision
// is its part in that of the whole model; regions are measured in groups, with
// all others in fp32, which are halved while their error counts. An integer
// program gives the fastest assignment within the budget (RegionAssignment.h).
// Problems of it that were never measured are searched, and regions get the
// times that they take beside the others of this assignment, which may change
// it; once it stays, its error is measured. Where that differs from what was
// expected, the errors of regions are corrected, and the program is solved
// again. A plan within the budget is timed as a whole, and its layers within
// it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_REGIONTUNER_H
#define TARPON_LIB_AUTOTUNE_TUNING_REGIONTUNER_H

#include "Choice/ModelCompiler.h"
#include "Regions/RegionStructure.h"
#include "Tuning/RegionErrors.h"
#include "Tuning/RegionMeasurer.h"
#include "Tuning/RegionPrices.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/Progress.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

struct RegionOptions {
  std::vector<runtime::Precision> dtypes;
  std::vector<Layout> layouts;
  Fusion fusion = Fusion::On;
  /// False where all regions have to agree.
  bool choosesDtypes = false, choosesLayouts = false, choosesFusion = false;
  double maxError = 0;
  /// True if plans say whether they are within the budget, which is none of
  /// errors. Then `maxError` says from which errors on regions are told apart.
  bool searchesBudget = false;
  /// The time of the fastest untuned plan, for the progress line.
  double untunedMilliseconds = 0;

  bool isWanted() const {
    return choosesDtypes || choosesLayouts || choosesFusion;
  }
};

class RegionTuner {
public:
  /// All must outlive the tuner.
  RegionTuner(ModelCompiler &model, RegionMeasurer &measurer,
              Progress &progress, RegionOptions options, Deadline deadline);

  /// Measures the plans that may be faster than all of `known` that have no
  /// larger error. `known` are those that were measured before.
  runtime::Status run(std::vector<RegionPlan> known);

private:
  struct StateSet;
  /// A plan that was not measured.
  struct Draft {
    RegionAssignment assignment;
    GlobalChoice choice;
    LayerCounts layers;
  };

  runtime::Status price();
  runtime::Status addPrecisions();
  runtime::Status refineErrors(double maxError);
  runtime::Result<bool> tryBudget(double maxError);
  runtime::Status searchBudget();
  runtime::Status tryBudgets();
  runtime::Result<RegionAssignment> assign(double squaredError);
  runtime::Result<std::optional<Draft>> draft(double maxError);
  std::vector<runtime::Precision>
  getDtypes(const RegionAssignment &assignment) const;
  std::string describeGainOf(const PreparedModel &plan) const;
  runtime::Status tuneOpen(const PreparedModel &plan, double maxError,
                           const Deadline &until);
  runtime::Result<bool> tryDraft(const Draft &draft, double maxError);
  void correctPredictions();
  RegionCosts restrict(const RegionCosts &costs, const StateSet &set) const;
  std::vector<StateSet> listStateSets() const;
  GlobalChoice makeChoice(const RegionAssignment &assignment) const;
  PredictionRecord predict(const Draft &draft) const;
  void learnFromWhole(const RegionPlan &plan);
  void learnTimes(const RegionPlan &plan, const LayerCounts &layers);
  double getTimeRatio() const;
  void learn(const Draft &draft, const RegionPlan &plan);
  double getLargestError(const TimeEstimate &time, double maxError) const;
  bool mayBeFastest(const TimeEstimate &time, double maxError) const;
  double getBestMilliseconds(double maxError) const;

  ModelCompiler &model;
  RegionMeasurer &measurer;
  Progress &progress;
  RegionOptions options;
  Deadline deadline;
  RegionStructure structure;
  std::vector<RegionChoice> states;
  RegionPrices prices;
  RegionErrors errors;
  std::vector<RegionPlan> plans;
  /// The errors of drafts that were measured.
  std::map<std::vector<RegionChoice>, double> tried;
  /// The keys of problems that were searched for drafts.
  std::set<std::string> searched;
  std::vector<RegionErrors::Observation> observations;
  /// The drafts of which plans were timed.
  std::vector<Draft> timed;
  /// The ratios of whole models' times to the sums of their layers'.
  std::vector<double> timeRatios;
  /// The part of the budget that drafts may plan with.
  double spendable = 1;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_REGIONTUNER_H
