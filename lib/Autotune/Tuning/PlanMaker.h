//===- PlanMaker.h - Compiles and measures plans ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_PLANMAKER_H
#define TARPON_LIB_AUTOTUNE_TUNING_PLANMAKER_H

#include "Choice/ModelCompiler.h"
#include "Measure/PipelineMeasurer.h"
#include "Search/TempDirectory.h"
#include "Tuning/ChoicePlan.h"
#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Search/Policy.h"

#include <memory>

namespace tarpon {

/// Compiles plans to files, and measures them as whole models. Times and
/// accuracies go through the journal.
class PlanMaker {
public:
  /// All must outlive the maker.
  PlanMaker(ModelCompiler &model, Journal &journal,
            const CalibrationInputs &inputs, PipelineMeasurer &measurer)
      : model(model), journal(journal), inputs(inputs), measurer(measurer),
        maxError(policy::kDefaultMaxError) {}

  void setMaxError(double value) { maxError = value; }
  /// A metric takes the place of the error; null for none. The goal must
  /// outlive the maker.
  void setGoal(const AccuracyGoal *value) { goal = value; }

  /// Makes the folder of the packages.
  runtime::Status open();

  /// Compiles the plan's choice. An error is the choice's.
  runtime::Status compile(ChoicePlan &plan, PreparedModel prepared,
                          const SolutionSource &solve);

  /// Measures the time, unless the journal knows time and error. A returned
  /// error means that nothing can be measured; one of the plan is its failure.
  runtime::Status time(ChoicePlan &plan);
  /// Measures the time again, unless the journal knows it, and keeps the lesser
  /// one, since other load only ever adds to times.
  runtime::Status timeOnceMore(ChoicePlan &plan);
  /// Measures the accuracy of a plan that has a time, unless it is known. The
  /// journal holds errors, and no user's metric.
  runtime::Status compare(ChoicePlan &plan);
  /// Measures the error of a plan alone, unless the journal knows it; none if
  /// it fails.
  runtime::Result<std::optional<double>> measureError(const ChoicePlan &plan);
  /// Measures the time once more, for a round of the final.
  runtime::Status timeAgain(ChoicePlan &plan);

  /// Deletes the plan's package, since packages are large.
  static void discard(ChoicePlan &plan);

private:
  double getKernelSeconds() const;
  void setAccuracy(ChoicePlan &plan, double error,
                   std::optional<MetricValues> values = std::nullopt) const;
  runtime::Status judge(ChoicePlan &plan, PipelineMeasurement &measurement);

  ModelCompiler &model;
  Journal &journal;
  const CalibrationInputs &inputs;
  PipelineMeasurer &measurer;
  std::unique_ptr<TempDirectory> directory;
  double maxError;
  const AccuracyGoal *goal = nullptr;
  size_t packages = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_PLANMAKER_H
