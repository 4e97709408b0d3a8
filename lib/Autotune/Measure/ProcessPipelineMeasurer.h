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

private:
  runtime::Status ensureInputs();
  runtime::Status ensureReference();
  runtime::EvaluationRequest
  makeRequest(const CompiledChoice &choice,
              const std::vector<std::string> &files) const;

  runtime::EvaluatorProcess evaluator;
  std::unique_ptr<TempDirectory> directory;
  /// The files of the inputs, per sample.
  std::vector<std::vector<std::string>> inputFiles;
  /// The package that accuracy is measured against, once it is written.
  std::string reference;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PROCESSPIPELINEMEASURER_H
