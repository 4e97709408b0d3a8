//===- EmulatedMeasurer.cpp - Verifies bundles on an emulated GPU ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/EmulatedMeasurer.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Package;
using runtime::Result;
using runtime::Status;
using runtime::TensorInfo;

static bool haveSameForm(const std::vector<TensorInfo> &a,
                         const std::vector<TensorInfo> &b) {
  return llvm::equal(a, b, [](const TensorInfo &x, const TensorInfo &y) {
    return x.dtype == y.dtype && x.shape == y.shape;
  });
}

/// All packages get the same inputs.
Result<EmulatedMeasurer::Tensors> EmulatedMeasurer::run(Package package) {
  Result<Tensors> inputs = runtime::makeRandomInputs(package, /*seed=*/0);
  if (!inputs)
    return inputs.error();
  runtime::ExecutorOptions options;
  options.poisonMemory = true;
  Result<runtime::Instance> instance = runtime::Instance::create(
      std::move(package), device, std::move(*inputs), options);
  if (!instance)
    return instance.error();
  if (Status status = instance->run(); !status)
    return status.error();
  return std::move(instance->outputs());
}

Status EmulatedMeasurer::prepare(llvm::ArrayRef<Contender>) {
  if (!expected.empty())
    return runtime::success();
  Package head;
  head.inputs = reference.inputs;
  head.outputs = reference.outputs;
  Result<Tensors> results = run(std::move(reference));
  if (!results)
    return Error{"the reference: " + results.message()};
  reference = std::move(head);
  expected = std::move(*results);
  return runtime::success();
}

/// Integers are compared in steps of their scale.
Status EmulatedMeasurer::verify(const Contender &contender,
                                MeasureOutcome &outcome) {
  Result<Package> package =
      runtime::readPackage(packages.getPath(contender.key));
  packages.remove(contender.key);
  if (!package)
    return package.error();
  if (!haveSameForm(package->inputs, reference.inputs) ||
      !haveSameForm(package->outputs, reference.outputs))
    return Error{"its package and the reference differ in their inputs or "
                 "outputs"};
  Result<Tensors> results = run(std::move(*package));
  if (!results)
    return results.error();
  std::vector<runtime::TensorComparison> comparisons;
  for (auto [result, right, info] :
       llvm::zip_equal(*results, expected, reference.outputs)) {
    Result<runtime::TensorComparison> comparison = runtime::compareTensors(
        result, right, info.quantized ? info.zeroPoint : 0);
    if (!comparison)
      return comparison.error();
    outcome.maxError = std::max(outcome.maxError, comparison->maxAbsError);
    outcome.relativeL2 = std::max(outcome.relativeL2, comparison->relativeL2);
    comparisons.push_back(*comparison);
  }
  auto describe = [](const std::string &error) { return "error " + error; };
  auto wrong = findWrongResult(problem, comparisons, slack, describe);
  outcome.status = wrong ? MeasurementStatus::Wrong : MeasurementStatus::Ok;
  outcome.detail = wrong.value_or("");
  return runtime::success();
}

Result<MeasureOutcome> EmulatedMeasurer::measure(const Contender &contender,
                                                 const Effort &) {
  MeasureOutcome outcome;
  if (Status status = verify(contender, outcome); !status) {
    outcome.status = MeasurementStatus::Failed;
    outcome.detail = status.message();
    return outcome;
  }
  outcome.timing.medianMs = packages.find(contender.key).modelMs;
  if (outcome.status == MeasurementStatus::Ok && outcome.timing.medianMs <= 0) {
    outcome.status = MeasurementStatus::Failed;
    outcome.detail = "the bundle has no time of it";
  }
  return outcome;
}
