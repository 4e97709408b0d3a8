//===- HostModelRun.cpp - Runs a model on the host ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/HostModelRun.h"

#include "tarpon/Runtime/Measure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Instance;
using runtime::Result;

/// Opens the user's journal, if possible.
static std::unique_ptr<Journal> openHostJournal(const TargetInfo &target) {
  JournalContext context = JournalContext::forTarget(target);
  if (!llvm::sys::fs::create_directories(Journal::getDefaultDirectory()))
    if (auto opened = Journal::open(Journal::getDefaultPath(target), context))
      return std::move(*opened);
  return Journal::openInMemory(context);
}

HostModelRun::HostModelRun(TargetCompiler made, mlir::ModuleOp module,
                           Progress &progress,
                           const std::string &evaluatorProgram)
    : compiler(std::move(made)),
      journal(openHostJournal(compiler.target->getInfo())),
      tuner(std::make_unique<Tuner>(*compiler.kernels, *journal, progress,
                                    evaluatorProgram)),
      model(module, *compiler.kernels) {}

Result<std::unique_ptr<HostModelRun>>
HostModelRun::create(mlir::ModuleOp module, const std::string &cpu,
                     Progress &progress, const std::string &evaluatorProgram) {
  Result<TargetCompiler> compiler =
      makeTargetCompiler("host", {/*threads=*/0, cpu, /*device=*/""});
  if (!compiler)
    return compiler.error();
  return std::unique_ptr<HostModelRun>(new HostModelRun(
      std::move(*compiler), module, progress, evaluatorProgram));
}

SolutionSource HostModelRun::makeSource() {
  return [this](const Problem &problem, const std::string &) {
    return tuner->getTrusted(problem);
  };
}

Result<std::vector<TensorRange>>
HostModelRun::measureRanges(Fusion fusion, const CalibrationInputs &inputs,
                            std::optional<RangeMethod> method) {
  model.setRangeMethod(method);
  if (runtime::Status status = model.calibrate(fusion, inputs, makeSource());
      !status)
    return status.error();
  return model.getRanges(fusion);
}

Result<std::vector<HostModelRun::Outputs>>
HostModelRun::run(const GlobalChoice &choice, const CalibrationInputs &inputs) {
  Result<PreparedModel> prepared = model.prepare(choice);
  if (!prepared)
    return prepared.error();
  Result<CompiledModel> compiled =
      model.lower(std::move(*prepared), makeSource());
  if (!compiled)
    return compiled.error();
  runtime::ExecutorOptions options;
  options.threads = static_cast<int>(compiler.target->getInfo().threads);
  options.paddedBuffers = true;
  auto executor =
      runtime::Executor::create(std::move(compiled->package), options);
  if (!executor)
    return executor.error();
  Result<std::vector<HostTensor>> first =
      runtime::cloneAll(inputs.samples.front());
  if (!first)
    return first.error();
  Result<Instance> instance =
      Instance::create(std::move(*executor), std::move(*first));
  if (!instance)
    return instance.error();
  std::vector<Outputs> results;
  for (const std::vector<HostTensor> &sample : inputs.samples) {
    for (auto [input, tensor] : llvm::zip_equal(instance->inputs(), sample))
      std::copy_n(tensor.data.data(), tensor.data.size(), input.data.data());
    if (runtime::Status status = instance->run(); !status)
      return status.error();
    Result<Outputs> outputs = runtime::cloneAll(instance->outputs());
    if (!outputs)
      return outputs.error();
    results.push_back(std::move(*outputs));
  }
  return results;
}

Result<double> HostModelRun::measureError(const GlobalChoice &choice,
                                          const CalibrationInputs &inputs) {
  if (expected.empty()) {
    Result<std::vector<Outputs>> reference = run(kReferenceChoice, inputs);
    if (!reference)
      return reference.error();
    expected = std::move(*reference);
  }
  Result<std::vector<Outputs>> actual = run(choice, inputs);
  if (!actual)
    return actual.error();
  std::vector<double> errors;
  for (auto [got, wanted] : llvm::zip_equal(*actual, expected)) {
    double &worst = errors.emplace_back(0);
    for (auto [result, reference] : llvm::zip_equal(got, wanted)) {
      Result<runtime::TensorComparison> comparison =
          runtime::compareTensors(result, reference);
      if (!comparison)
        return comparison.error();
      if (!std::isfinite(comparison->relativeL2))
        return Error{"an output has a NaN or an infinity"};
      worst = std::max(worst, comparison->relativeL2);
    }
  }
  return runtime::rootMeanSquare(errors);
}
