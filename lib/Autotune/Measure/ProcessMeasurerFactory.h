//===- ProcessMeasurerFactory.h - Measurers for this machine ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURERFACTORY_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURERFACTORY_H

#include "Measure/ProcessMeasurer.h"
#include "Search/TempDirectory.h"
#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Runtime/Evaluator.h"

namespace tarpon {

/// Starts the evaluator when it is first needed; it serves all problems.
class ProcessMeasurerFactory : public MeasurerFactory {
public:
  ProcessMeasurerFactory(KernelCompiler &compiler,
                         const std::string &evaluatorProgram);

  runtime::Result<std::unique_ptr<Measurer>>
  create(const Problem &problem) override;
  runtime::Result<std::unique_ptr<PipelineMeasurer>>
  createPipelineMeasurer(const PipelineContext &context) override;

protected:
  /// Returns an error unless this machine can measure for the target.
  virtual runtime::Status checkMachine() { return runtime::success(); }

private:
  runtime::EvaluatorProcess evaluator;
  std::unique_ptr<TempDirectory> directory;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURERFACTORY_H
