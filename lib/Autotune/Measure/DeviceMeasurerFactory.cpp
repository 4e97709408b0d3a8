//===- DeviceMeasurerFactory.cpp - Measurers for a GPU of here ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/DeviceMeasurerFactory.h"

#include "Measure/DevicePipelineMeasurer.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include <algorithm>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// The device is closed again: the evaluator opens it, too.
Status DeviceMeasurerFactory::checkDevice() const {
  const TargetInfo &info = compiler.getTarget();
  std::string name = info.name();
  if (info.traits->getMeasuredArch(info) != info.arch)
    return Error{"nothing can be measured on an emulated " + name};
  Result<std::shared_ptr<const Target>> target = findTarget(name);
  if (!target)
    return target.error();
  Result<std::unique_ptr<runtime::Device>> device =
      (*target)->openDevice(/*threads=*/0);
  if (!device)
    return device.error();
  if ((*device)->target() != name)
    return Error{"this machine has a GPU " + (*device)->target() +
                 ", on which measurements for " + name +
                 " cannot be made: name it as the target"};
  return runtime::success();
}

Result<ProcessMeasurer::Conditions>
DeviceMeasurerFactory::getConditions(const Problem &problem) {
  if (!isChecked)
    if (Status status = checkDevice(); !status)
      return status.error();
  isChecked = true;
  const TargetInfo &info = compiler.getTarget();
  ProcessMeasurer::Conditions conditions;
  conditions.reference = findSolver(info, info.traits->getArbiter());
  if (!conditions.reference ||
      !checkApplicable(*conditions.reference, problem, info))
    return Error{"no solver gives results of " + problem.key() +
                 " that others can be compared with"};
  // Both may deviate from the right results.
  conditions.slack = 2;
  conditions.rotateBytes = std::max(policy::kRotateBytes, 2 * info.l2Bytes);
  conditions.baseSeconds = policy::kDeviceBaseTimeLimitSeconds;
  conditions.referenceFlopsPerSecond = policy::kDeviceReferenceFlopsPerSecond;
  conditions.maxProposals = policy::kMaxDeviceProposals;
  return conditions;
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
