//===- ProcessMeasurerFactory.cpp - Measurers for this machine ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ProcessMeasurerFactory.h"

#include "Measure/ProcessPipelineMeasurer.h"
#include "tarpon/Autotune/Search/Policy.h"

using namespace tarpon;
using runtime::Result;

ProcessMeasurerFactory::ProcessMeasurerFactory(
    KernelCompiler &compiler, const std::string &evaluatorProgram)
    : MeasurerFactory(compiler), evaluator(evaluatorProgram) {}

Result<ProcessMeasurer::Conditions>
ProcessMeasurerFactory::getConditions(const Problem &problem) {
  ProcessMeasurer::Conditions conditions;
  conditions.reference = &getReferenceSolver();
  conditions.rotateBytes = policy::kRotateBytes;
  conditions.coldConstants = wantsColdConstants(problem);
  conditions.baseSeconds = policy::kBaseTimeLimitSeconds;
  conditions.referenceFlopsPerSecond = policy::kReferenceFlopsPerSecond;
  conditions.maxProposals = policy::kMaxParallelProposals;
  return conditions;
}

Result<std::unique_ptr<Measurer>>
ProcessMeasurerFactory::create(const Problem &problem) {
  Result<ProcessMeasurer::Conditions> conditions = getConditions(problem);
  if (!conditions)
    return conditions.error();
  if (!directory) {
    Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
    if (!created)
      return created.error();
    directory = std::move(*created);
  }
  return std::unique_ptr<Measurer>(std::make_unique<ProcessMeasurer>(
      problem, compiler, evaluator, *directory, *conditions));
}

Result<std::unique_ptr<PipelineMeasurer>>
ProcessMeasurerFactory::createPipelineMeasurer(const PipelineContext &context) {
  return std::unique_ptr<PipelineMeasurer>(
      std::make_unique<ProcessPipelineMeasurer>(context));
}
