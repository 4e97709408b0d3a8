//===- ProcessPipelineMeasurer.h - Measures whole models here ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PROCESSPIPELINEMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PROCESSPIPELINEMEASURER_H

#include "Measure/PipelineMeasurer.h"
#include "Search/TempDirectory.h"
#include "tarpon/Runtime/Evaluator.h"

#include <memory>
#include <vector>

namespace tarpon {

/// Runs, times and compares packages of whole models in the evaluator process.
class ProcessPipelineMeasurer : public PipelineMeasurer {
public:
  explicit ProcessPipelineMeasurer(const PipelineContext &context);

  runtime::Status calibrate(Fusion fusion) override;
  runtime::Result<Solution> solve(const Problem &problem) override;
  runtime::Status time(const CompiledChoice &choice,
                       PipelineMeasurement &measurement) override;
  runtime::Status compare(const CompiledChoice &choice,
                          PipelineMeasurement &measurement) override;
  runtime::Status timeAgain(const CompiledChoice &choice,
                            PipelineMeasurement &measurement) override;
  bool isNoisy() const override { return true; }

protected:
  runtime::Result<SampleResults>
  runSamples(const CompiledChoice *choice,
             PipelineMeasurement &measurement) override;

private:
  using Files = std::vector<std::vector<std::string>>;

  runtime::Result<Files> writeSamples(const CalibrationInputs &inputs,
                                      const std::string &prefix);
  runtime::Status ensureInputs();
  runtime::Status ensureReference();
  runtime::Result<bool>
  compareSamples(const CompiledChoice &choice,
                 llvm::ArrayRef<std::vector<std::string>> files,
                 std::vector<double> &errors, PipelineMeasurement &measurement);
  runtime::EvaluationRequest
  makeRequest(const std::string &package,
              const std::vector<std::string> &files) const;

  runtime::EvaluatorProcess evaluator;
  std::unique_ptr<TempDirectory> directory;
  /// The files of the inputs, per sample, and those of the goal's.
  Files inputFiles, goalFiles;
  /// The package that accuracy is measured against, once it is written.
  std::string reference;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PROCESSPIPELINEMEASURER_H
