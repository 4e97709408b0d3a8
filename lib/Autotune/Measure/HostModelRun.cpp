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

/// Makes an instance of the model with a sample as its inputs.
Result<Instance> HostModelRun::makeInstance(const GlobalChoice &choice,
                                            const Tensors &inputs) {
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
  Result<std::vector<HostTensor>> copies = runtime::cloneAll(inputs);
  if (!copies)
    return copies.error();
  return Instance::create(std::move(*executor), std::move(*copies));
}

static runtime::Status runSample(Instance &instance,
                                 const std::vector<HostTensor> &sample) {
  for (auto [input, tensor] : llvm::zip_equal(instance.inputs(), sample))
    std::copy_n(tensor.data.data(), tensor.data.size(), input.data.data());
  return instance.run();
}

Result<std::vector<HostModelRun::Tensors>>
HostModelRun::run(const GlobalChoice &choice, const CalibrationInputs &inputs) {
  Result<Instance> instance = makeInstance(choice, inputs.samples.front());
  if (!instance)
    return instance.error();
  std::vector<Tensors> results;
  for (const std::vector<HostTensor> &sample : inputs.samples) {
    if (runtime::Status status = runSample(*instance, sample); !status)
      return status.error();
    Result<Tensors> outputs = runtime::cloneAll(instance->outputs());
    if (!outputs)
      return outputs.error();
    results.push_back(std::move(*outputs));
  }
  return results;
}

/// Returns the distance of the output that is furthest off.
static Result<double> compareOutputs(llvm::ArrayRef<HostTensor> actual,
                                     llvm::ArrayRef<HostTensor> expected) {
  double worst = 0;
  for (auto [result, reference] : llvm::zip_equal(actual, expected)) {
    Result<runtime::TensorComparison> comparison =
        runtime::compareTensors(result, reference);
    if (!comparison)
      return comparison.error();
    if (!std::isfinite(comparison->relativeL2))
      return Error{"an output has a NaN or an infinity"};
    worst = std::max(worst, comparison->relativeL2);
  }
  return worst;
}

Result<double> HostModelRun::measureError(const GlobalChoice &choice,
                                          const CalibrationInputs &inputs,
                                          size_t count) {
  if (expected.empty()) {
    Result<std::vector<Tensors>> reference = run(kReferenceChoice, inputs);
    if (!reference)
      return reference.error();
    expected = std::move(*reference);
  }
  Result<Instance> instance = makeInstance(choice, inputs.samples.front());
  if (!instance)
    return instance.error();
  std::vector<double> errors;
  for (size_t sample = 0; sample < count; ++sample) {
    if (runtime::Status status = runSample(*instance, inputs.samples[sample]);
        !status)
      return status.error();
    Result<double> error =
        compareOutputs(instance->outputs(), expected[sample]);
    if (!error)
      return error.error();
    errors.push_back(*error);
  }
  return runtime::rootMeanSquare(errors);
}
