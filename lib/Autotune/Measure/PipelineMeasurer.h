//===- PipelineMeasurer.h - Measures whole models ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How accurate and how fast a model is with one global choice: measured in the
// evaluator process, or modelled for targets that do not run here.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PIPELINEMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PIPELINEMEASURER_H

#include "Choice/ModelCompiler.h"
#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Store/Journal.h"

#include <string>

namespace tarpon {

/// All that it refers to must outlive the measurer.
struct PipelineContext {
  /// Simplified.
  mlir::ModuleOp module;
  ModelCompiler &model;
  Tuner &tuner;
  Progress &progress;
  const CalibrationInputs &inputs;
  std::string evaluatorProgram;
  /// Of the host.
  std::string cpu = "native";
};

/// A choice that was compiled.
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

  /// Measures the ranges that the tensors of a fusion take, and gives them to
  /// the model's compiler. An error concerns int8 with this fusion alone.
  virtual runtime::Status calibrate(const std::string &fusion) = 0;

  /// The solution of a problem for which no tuned one serves.
  virtual runtime::Result<Solution> solve(const Problem &problem) = 0;

  /// Adds accuracy and times to a measurement. What goes wrong with the choice
  /// is its status; an error means that nothing can be measured.
  virtual runtime::Status measure(const CompiledChoice &choice,
                                  PipelineMeasurement &measurement) = 0;

  /// Adds the times of another round; only where isNoisy.
  virtual runtime::Status timeAgain(const CompiledChoice &choice,
                                    PipelineMeasurement &measurement) = 0;

  /// Whether a second measurement may differ from the first one.
  virtual bool isNoisy() const = 0;

protected:
  PipelineContext context;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PIPELINEMEASURER_H
