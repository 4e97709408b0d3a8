//===- DeviceMeasurerFactory.cpp - Measurers for a GPU of here ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/DeviceMeasurerFactory.h"

#include "Measure/DevicePipelineMeasurer.h"
#include "Measure/EvaluationConditions.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

Status DeviceMeasurerFactory::checkMachine() {
  if (isChecked)
    return runtime::success();
  Status status = checkMeasuringDevice(compiler.getTarget());
  isChecked = static_cast<bool>(status);
  return status;
}

Result<std::unique_ptr<PipelineMeasurer>>
DeviceMeasurerFactory::createPipelineMeasurer(const PipelineContext &context) {
  return std::unique_ptr<PipelineMeasurer>(
      std::make_unique<DevicePipelineMeasurer>(context));
}

/// The reference solver's kernels run on the host only.
Status DeviceMeasurerFactory::checkReference(const Problem &problem) const {
  return Error{"no solver's kernels for " + problem.key() +
               " can be compiled for " + compiler.getTarget().name()};
}
