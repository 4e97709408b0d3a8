//===- PipelineMeasurer.h - Measures whole models ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the accuracy and the time of a model with one global choice: in the
// evaluator process, or by a model for targets that do not run here.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PIPELINEMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PIPELINEMEASURER_H

#include "Choice/ModelCompiler.h"
#include "Measure/AccuracyGoal.h"
#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Autotune/Store/Journal.h"

#include <optional>
#include <string>

namespace tarpon {

/// The context of a measurement. All that it refers to must outlive the
/// measurer.
struct PipelineContext {
  /// The simplified module.
  mlir::ModuleOp module;
  ModelCompiler &model;
  Tuner &tuner;
  Progress &progress;
  const CalibrationInputs &inputs;
  std::string evaluatorProgram;
  /// The host's CPU.
  std::string cpu = "native";
  /// Null unless the user has a metric.
  const AccuracyGoal *goal = nullptr;
};

/// The user's metric of a choice, and that of fp32.
struct MetricValues {
  double reference = 0;
  /// Not finite if the choice's outputs cannot be judged.
  double value = 0;
};

/// A compiled choice.
struct CompiledChoice {
  const CandidateRecord &record;
  /// The package's file.
  const std::string &package;
};

class PipelineMeasurer {
public:
  explicit PipelineMeasurer(const PipelineContext &context)
      : context(context) {}
  virtual ~PipelineMeasurer();

  /// Measures the ranges of the tensors of a fusion, and passes them to the
  /// model's compiler. An error concerns int8 with this fusion only.
  virtual runtime::Status calibrate(Fusion fusion) = 0;

  /// Returns a solution of a problem for which no tuned one fits.
  virtual runtime::Result<Solution> solve(const Problem &problem) = 0;

  /// `time` also measures layers within the model, where they can be timed
  /// apart, and take other times in it than alone.
  void setTimesLayers(bool value) { timesLayers = value; }

  /// Adds the time to a measurement. An error of the choice is its status; a
  /// returned error means that nothing can be measured.
  virtual runtime::Status time(const CompiledChoice &choice,
                               PipelineMeasurement &measurement) = 0;

  /// Adds the accuracy to a measurement that has a time. The first call may
  /// take long, since it makes what choices are compared with.
  virtual runtime::Status compare(const CompiledChoice &choice,
                                  PipelineMeasurement &measurement) = 0;

  /// Returns the values of the goal's metric, none if the choice fails: then
  /// the measurement has the reason. The first call also runs fp32; a metric
  /// that cannot judge that is an error.
  runtime::Result<std::optional<MetricValues>>
  judge(const CompiledChoice &choice, PipelineMeasurement &measurement);

  /// Adds the time of another round; called only if isNoisy.
  virtual runtime::Status timeAgain(const CompiledChoice &choice,
                                    PipelineMeasurement &measurement) = 0;

  /// Returns true if a second measurement may differ from the first one.
  virtual bool isNoisy() const = 0;

protected:
  /// Runs a choice on all samples of the goal, or fp32 if it is null. A failure
  /// of the choice is the measurement's; a returned error means that nothing
  /// can be measured.
  virtual runtime::Result<SampleResults>
  runSamples(const CompiledChoice *choice,
             PipelineMeasurement &measurement) = 0;

  /// Returns on how many of the first samples the accuracy is measured: fp32 on
  /// policy::kMaxExactSamples at most.
  static size_t countSamples(const GlobalChoice &choice, size_t samples);

  PipelineContext context;
  bool timesLayers = false;

private:
  std::optional<double> referenceValue;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PIPELINEMEASURER_H
