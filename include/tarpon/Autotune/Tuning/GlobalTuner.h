//===- GlobalTuner.h - Tries all choices of a model -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tries every global choice of a model: tunes its problems (each once, however
// many choices share it), then has accuracy and time of the whole model
// measured. The fastest choice within the accuracy budget wins. A choice that
// fails is recorded with the reason.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_TUNING_GLOBALTUNER_H
#define TARPON_AUTOTUNE_TUNING_GLOBALTUNER_H

#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/Tuner.h"

#include <memory>
#include <string>
#include <vector>

namespace tarpon {

class ModelCompiler;
class PipelineMeasurer;
class TempDirectory;

/// All combinations of the lists, fp32 before all others, since they are
/// measured against it.
std::vector<GlobalChoice>
enumerateChoices(const std::vector<runtime::Precision> &dtypes,
                 const std::vector<Layout> &layouts,
                 const std::vector<Fusion> &fusions);

struct GlobalResult {
  std::vector<CandidateRecord> candidates;
  size_t winner = 0;
  runtime::Package package;
  /// Set if the only choice is over the accuracy budget.
  std::string warning;
};

class GlobalTuner {
public:
  /// All must outlive the tuner.
  GlobalTuner(ModelCompiler &model, Tuner &tuner, Journal &journal,
              Progress &progress, const CalibrationInputs &inputs,
              PipelineMeasurer &measurer);
  ~GlobalTuner();

  void setMaxError(double value) { maxError = value; }
  void setDeadline(Deadline value) { deadline = value; }

  /// Returns an error if no choice can be used, or nothing can be measured at
  /// all.
  runtime::Result<GlobalResult> run(const std::vector<GlobalChoice> &choices);

private:
  struct Trial;

  runtime::Status tryChoice(Trial &trial);
  runtime::Status tuneAndMeasure(Trial &trial, Deadline share);
  void expectWork(size_t choices);
  void dropLosers(std::vector<Trial> &trials);
  runtime::Result<GlobalResult> pickWinner(std::vector<Trial> &trials);
  runtime::Status tuneProblems(Trial &trial, Deadline until);
  runtime::Status compile(Trial &trial);
  runtime::Status measurePipeline(Trial &trial);
  runtime::Status timeAgain(Trial &trial);
  runtime::Status runFinal(std::vector<Trial> &trials);
  runtime::Result<Solution> solve(const Problem &problem);
  PipelineMeasurement startMeasurement(const Trial &trial) const;
  void conclude(Trial &trial, const PipelineMeasurement &measurement);

  ModelCompiler &model;
  Tuner &tuner;
  Journal &journal;
  Progress &progress;
  const CalibrationInputs &inputs;
  PipelineMeasurer &measurer;
  std::unique_ptr<TempDirectory> directory;
  double maxError;
  Deadline deadline = Deadline::never();
  /// Solutions by problem key.
  std::map<std::string, Solution> solutions;
  bool measuredAny = false;
  /// The seconds that the progress bar expects for each choice's problems.
  double problemSeconds = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_TUNING_GLOBALTUNER_H
