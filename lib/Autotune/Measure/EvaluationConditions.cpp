//===- EvaluationConditions.cpp - How packages are measured ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/EvaluationConditions.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include <algorithm>

using namespace tarpon;
using runtime::Error;
using runtime::KernelForm;
using runtime::Result;
using runtime::Status;

static void setHostConditions(EvaluationConditions &conditions) {
  conditions.rotateBytes = policy::kRotateBytes;
  conditions.coldConstantBytes = policy::kColdConstantBytes;
  conditions.baseSeconds = policy::kBaseTimeLimitSeconds;
  conditions.referenceFlopsPerSecond = policy::kReferenceFlopsPerSecond;
}

static void setDeviceConditions(const TargetInfo &target,
                                EvaluationConditions &conditions) {
  // Both may deviate from the right results.
  conditions.slack = 2;
  conditions.rotateBytes = std::max(policy::kRotateBytes, 2 * target.l2Bytes);
  conditions.baseSeconds = policy::kDeviceBaseTimeLimitSeconds;
  conditions.referenceFlopsPerSecond = policy::kDeviceReferenceFlopsPerSecond;
}

/// The emulator takes about as long for an element that is copied as for one
/// that is multiplied.
static void setEmulatedConditions(const Problem &problem,
                                  EvaluationConditions &conditions) {
  conditions.slack = 2;
  conditions.baseSeconds = policy::kEmulatedBaseTimeLimitSeconds +
                           problem.bytes() / policy::kEmulatedFlopsPerSecond;
  conditions.referenceFlopsPerSecond = policy::kEmulatedFlopsPerSecond;
}

EvaluationConditions tarpon::getEvaluationConditions(const Problem &problem,
                                                     const TargetInfo &target,
                                                     KernelForm form) {
  EvaluationConditions conditions;
  conditions.threads = target.threads;
  conditions.rounding = target.traits->getProductRounding(problem, target);
  if (!hasTimes(target)) {
    setEmulatedConditions(problem, conditions);
    return conditions;
  }
  switch (form) {
  case KernelForm::SharedObject:
    setHostConditions(conditions);
    break;
  case KernelForm::CodeObjects:
    setDeviceConditions(target, conditions);
    break;
  }
  return conditions;
}

size_t tarpon::getMaxBatch(const Problem &problem) {
  int64_t bytes = std::max<int64_t>(countConstantBytes(problem), 1);
  return std::clamp<int64_t>(policy::kMaxPackageBytes / bytes, 1,
                             policy::kMaxBatch);
}

Result<const Solver *> tarpon::findEvaluationReference(const Problem &problem,
                                                       const TargetInfo &target,
                                                       KernelForm form) {
  if (form == KernelForm::SharedObject)
    return &getReferenceSolver();
  const Solver *arbiter = findSolver(target, target.traits->getArbiter());
  if (!arbiter || !checkApplicable(*arbiter, problem, target))
    return Error{"no solver gives results of " + problem.key() +
                 " that others can be compared with"};
  return arbiter;
}

bool tarpon::hasTimes(const TargetInfo &target) {
  return target.traits->getMeasuredArch(target) == target.arch;
}

Status tarpon::checkMeasuringDevice(const TargetInfo &target) {
  std::string name = target.name();
  if (!hasTimes(target))
    return Error{"nothing can be measured on an emulated " + name};
  Result<std::shared_ptr<const Target>> found = findTarget(name);
  if (!found)
    return found.error();
  Result<std::unique_ptr<runtime::Device>> device =
      (*found)->openDevice(/*threads=*/0);
  if (!device)
    return device.error();
  if ((*device)->target() != name)
    return Error{"this machine has a GPU " + (*device)->target() +
                 ", on which measurements for " + name +
                 " cannot be made: name it as the target"};
  return runtime::success();
}
