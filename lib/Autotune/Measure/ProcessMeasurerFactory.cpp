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

static size_t getMaxProposals(runtime::KernelForm form) {
  return form == runtime::KernelForm::CodeObjects
             ? policy::kMaxDeviceProposals
             : policy::kMaxParallelProposals;
}

Result<std::unique_ptr<Measurer>>
ProcessMeasurerFactory::create(const Problem &problem) {
  if (runtime::Status status = checkMachine(); !status)
    return status.error();
  const TargetInfo &target = compiler.getTarget();
  runtime::KernelForm form = compiler.getKernelForm();
  Result<const Solver *> reference =
      findEvaluationReference(problem, target, form);
  if (!reference)
    return reference.error();
  if (!directory) {
    Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
    if (!created)
      return created.error();
    directory = std::move(*created);
  }
  PackageEvaluation evaluation(problem.withUnitScales(), evaluator,
                               getEvaluationConditions(problem, target, form));
  return std::unique_ptr<Measurer>(std::make_unique<ProcessMeasurer>(
      problem, compiler, *directory, **reference, std::move(evaluation),
      getMaxProposals(form)));
}

Result<std::unique_ptr<PipelineMeasurer>>
ProcessMeasurerFactory::createPipelineMeasurer(const PipelineContext &context) {
  return std::unique_ptr<PipelineMeasurer>(
      std::make_unique<ProcessPipelineMeasurer>(context));
}
