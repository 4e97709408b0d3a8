//===- ToyMeasurer.cpp - Measures candidates on the toy -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace tarpon;
using runtime::HostTensor;
using runtime::Instance;
using runtime::Result;
using runtime::Status;

namespace {

/// The results of "toy-naive-v1" are right by definition.
class ToyMeasurer final : public Measurer {
public:
  ToyMeasurer(const Problem &problem, KernelCompiler &compiler,
              runtime::Device &device)
      : problem(problem), compiler(compiler), device(device) {}

  Status prepare(llvm::ArrayRef<Contender> contenders) override;
  Status build(const Contender &contender) override;
  Result<MeasureOutcome> measure(const Contender &contender,
                                 const Effort &effort) override;
  /// The toy's clock is exact.
  bool isNoisy() const override { return false; }

private:
  Result<Instance> run(const Solver &solver, const PerfConfig &config);
  void verify(const Instance &instance, MeasureOutcome &outcome) const;

  const Problem &problem;
  KernelCompiler &compiler;
  runtime::Device &device;
  std::optional<Instance> expected;
  std::map<CandidateKey, Instance> built;
};

class ToyMeasurerFactory final : public MeasurerFactory {
public:
  using MeasurerFactory::MeasurerFactory;

  Result<std::unique_ptr<Measurer>> create(const Problem &problem) override {
    if (!device) {
      auto opened = toy::makeDevice();
      if (!opened)
        return opened.error();
      device = std::move(*opened);
    }
    return std::unique_ptr<Measurer>(
        std::make_unique<ToyMeasurer>(problem, compiler, *device));
  }

private:
  std::unique_ptr<runtime::Device> device;
};

} // namespace

Result<Instance> ToyMeasurer::run(const Solver &solver,
                                  const PerfConfig &config) {
  auto package = buildProblemPackage(problem, solver, config, compiler);
  if (!package)
    return package.error();
  auto inputs = runtime::makeRandomInputs(*package, /*seed=*/1);
  if (!inputs)
    return inputs.error();
  auto instance =
      Instance::create(std::move(*package), device, std::move(*inputs));
  if (!instance)
    return instance.error();
  if (Status status = instance->run(); !status)
    return status.error();
  return instance;
}

Status ToyMeasurer::prepare(llvm::ArrayRef<Contender> /*contenders*/) {
  if (expected)
    return runtime::success();
  const Solver &naive = *toy::getSolvers().back();
  auto instance =
      run(naive, naive.defaultConfig(problem, compiler.getTarget()));
  if (!instance)
    return instance.error();
  expected = std::move(*instance);
  return runtime::success();
}

Status ToyMeasurer::build(const Contender &contender) {
  auto instance = run(*contender.solver, contender.config);
  if (!instance)
    return instance.error();
  built.insert_or_assign(contender.key, std::move(*instance));
  return runtime::success();
}

void ToyMeasurer::verify(const Instance &instance,
                         MeasureOutcome &outcome) const {
  std::vector<runtime::TensorComparison> comparisons;
  for (auto [got, wanted] :
       llvm::zip_equal(instance.outputs(), expected->outputs()))
    // It cannot fail, since the shapes are the same.
    comparisons.push_back(*runtime::compareTensors(got, wanted));
  outcome.maxError = comparisons.front().maxAbsError;
  outcome.relativeL2 = comparisons.front().relativeL2;
  auto wrong = findWrongResult(problem, comparisons, /*slack=*/1,
                               [](const std::string &error) { return error; });
  outcome.status = wrong ? MeasurementStatus::Wrong : MeasurementStatus::Ok;
  outcome.detail = wrong.value_or("");
}

Result<MeasureOutcome> ToyMeasurer::measure(const Contender &contender,
                                            const Effort & /*effort*/) {
  Instance &instance = built.at(contender.key);
  MeasureOutcome outcome;
  verify(instance, outcome);
  Result<double> milliseconds = instance.executor().timeRun();
  if (!milliseconds)
    return milliseconds.error();
  outcome.timing = runtime::summarize({*milliseconds});
  return outcome;
}

std::unique_ptr<MeasurerFactory>
toy::makeMeasurerFactory(KernelCompiler &compiler,
                         const std::string & /*evaluatorProgram*/) {
  return std::make_unique<ToyMeasurerFactory>(compiler);
}
