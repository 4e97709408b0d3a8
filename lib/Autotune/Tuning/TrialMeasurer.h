//===- TrialMeasurer.h - Measures choices as trials -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_TRIALMEASURER_H
#define TARPON_LIB_AUTOTUNE_TUNING_TRIALMEASURER_H

#include "Choice/ModelCompiler.h"
#include "Tuning/PlanMaker.h"
#include "Tuning/RegionMeasurer.h"
#include "Tuning/Trial.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <functional>

namespace tarpon {

/// Adds what it measures to the trials of a run. All must outlive it.
class TrialMeasurer : public RegionMeasurer {
public:
  using Solve = std::function<runtime::Result<Solution>(const Problem &)>;
  using Tune =
      std::function<runtime::Result<Solution>(const Problem &, double seconds)>;

  using Expect = std::function<ExpectedTime(const Problem &, const Solution &)>;

  /// `onMeasured` is called after each whole model.
  TrialMeasurer(ModelCompiler &model, PlanMaker &maker,
                std::deque<Trial> &trials, Solve solver, Tune tuner,
                Expect expect, std::function<void()> onMeasured)
      : model(model), maker(maker), trials(trials), solver(std::move(solver)),
        tuner(std::move(tuner)), expect(std::move(expect)),
        onMeasured(std::move(onMeasured)) {}

  runtime::Result<Solution> solve(const Problem &problem) override {
    return solver(problem);
  }
  ExpectedTime expectTime(const Problem &problem,
                          const Solution &solution) override {
    return expect(problem, solution);
  }
  runtime::Result<Solution> tune(const Problem &problem,
                                 double seconds) override {
    return tuner(problem, seconds);
  }
  runtime::Result<std::optional<double>>
  measureError(const GlobalChoice &choice) override;
  runtime::Result<std::optional<RegionPlan>>
  measure(const GlobalChoice &choice, const PredictionRecord &prediction,
          double maxError) override;
  void notePrediction(const GlobalChoice &choice,
                      const PredictionRecord &corrected) override;

  /// Describes the plans whose time and error were measured.
  static std::vector<RegionPlan>
  describeMeasured(llvm::ArrayRef<ChoicePlan *> plans);

private:
  static RegionPlan describe(const ChoicePlan &plan);
  runtime::Status compile(ChoicePlan &plan, PreparedModel prepared);
  runtime::Status time(ChoicePlan &plan);

  ModelCompiler &model;
  PlanMaker &maker;
  std::deque<Trial> &trials;
  Solve solver;
  Tune tuner;
  Expect expect;
  std::function<void()> onMeasured;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_TRIALMEASURER_H
