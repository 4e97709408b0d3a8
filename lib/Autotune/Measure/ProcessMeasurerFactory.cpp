//===- ProcessMeasurerFactory.cpp - Measurers for this machine ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ProcessMeasurerFactory.h"

#include "Measure/ProcessMeasurer.h"
#include "Measure/ProcessPipelineMeasurer.h"

using namespace tarpon;
using runtime::Result;

ProcessMeasurerFactory::ProcessMeasurerFactory(
    KernelCompiler &compiler, const std::string &evaluatorProgram)
    : MeasurerFactory(compiler), evaluator(evaluatorProgram) {}

Result<std::unique_ptr<Measurer>>
ProcessMeasurerFactory::create(const Problem &problem) {
  if (!directory) {
    Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
    if (!created)
      return created.error();
    directory = std::move(*created);
  }
  return std::unique_ptr<Measurer>(std::make_unique<ProcessMeasurer>(
      problem, compiler, evaluator, *directory));
}

Result<std::unique_ptr<PipelineMeasurer>>
ProcessMeasurerFactory::createPipelineMeasurer(const PipelineContext &context) {
  return std::unique_ptr<PipelineMeasurer>(
      std::make_unique<ProcessPipelineMeasurer>(context));
}
