//===- VerifyCommand.cpp - graph-opt verify ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/TestData.h"
#include "Messages.h"
#include "ModelInputs.h"
#include "PackageRun.h"
#include "Reports/Diagnostics.h"
#include "Reports/Tolerance.h"
#include "SharedOptions.h"

#include "tarpon/Import/OnnxInputs.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdio>
#include <optional>

namespace tarpon {

namespace {

struct VerifyArguments {
  ModelArguments model;
  std::string testData;
  std::optional<double> maxError;
  uint64_t seed = 0;
};

} // namespace

using namespace runtime;

using Tensors = std::vector<HostTensor>;

/// Compares all outputs. Prints what is wrong and returns the exit status.
static int compareOutputs(const std::string &model,
                          const std::vector<TensorInfo> &infos,
                          const Tensors &got, const Tensors &expected,
                          const Tolerance &tolerance) {
  if (got.size() != expected.size())
    return fail(model + ": mismatch: the model has " +
                std::to_string(got.size()) + " outputs, expected " +
                std::to_string(expected.size()));
  for (size_t i = 0; i < got.size(); ++i)
    if (auto mismatch = findMismatch(got[i], expected[i], tolerance))
      return fail(model + ": mismatch in output " + std::to_string(i) + " '" +
                  infos[i].name + "': " + *mismatch);
  return kSuccess;
}

/// Two NaN are never equal. Prints where they are and returns the exit status.
static int refuseNaN(const std::string &model,
                     const std::vector<TensorInfo> &infos,
                     const Tensors &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto found = findNaN(outputs[i]))
      return fail(model + ": output " + std::to_string(i) + " '" +
                  infos[i].name + "' holds " + *found +
                  ", as it does by the reference solver: they cannot be "
                  "compared");
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Against the reference solver
//===----------------------------------------------------------------------===//

static int verifyAgainstReference(const VerifyArguments &arguments) {
  const ModelArguments &model = arguments.model;
  CompileOptions options = getCompileOptions(model);
  options.quiet = true;
  options.withReference = true;
  Result<CompileOutcome> outcome = compileModel(options);
  if (!outcome)
    return fail(outcome.message());
  Package &package = outcome->package;
  Tolerance tolerance = getReferenceTolerance(package, arguments.maxError);
  Result<Tensors> inputs = makeRandomInputs(package, arguments.seed);
  if (!inputs)
    return fail(inputs.message());
  Result<Tensors> copies = cloneAll(*inputs);
  if (!copies)
    return fail(copies.message());

  std::vector<TensorInfo> infos = package.outputs;
  Result<Tensors> expected = runPackage(std::move(*outcome->reference),
                                        std::move(*copies), model.threads);
  if (!expected)
    return fail(expected.message());
  Result<Tensors> got =
      runPackage(std::move(package), std::move(*inputs), model.threads);
  if (!got)
    return fail(got.message());
  int status = compareOutputs(model.model, infos, *got, *expected, tolerance);
  if (status == kSuccess)
    status = refuseNaN(model.model, infos, *got);
  if (status == kSuccess)
    std::printf("%s: %s/%s agrees with the reference solver: %s\n",
                model.model.c_str(),
                std::string(getPrecisionName(model.dtype)).c_str(),
                model.layout.name().c_str(),
                summarizeErrors(*got, *expected, tolerance).c_str());
  return status;
}

//===----------------------------------------------------------------------===//
// Against test data
//===----------------------------------------------------------------------===//

static Status checkInputCount(const std::string &model, size_t count,
                              const TestDataSet &data) {
  if (data.inputs.size() == count)
    return success();
  return Error{"test data set '" + data.directory + "' has " +
               std::to_string(data.inputs.size()) + " inputs, but '" + model +
               "' has " + std::to_string(count)};
}

/// Returns the set's inputs by name. For models with optional inputs, a set may
/// hold fewer inputs than the model has: the first ones.
static Result<std::map<std::string, const HostTensor *>>
nameInputs(const std::string &model, const TestDataSet &data) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  DiagnosticCollector diagnostics(context);
  mlir::FailureOr<std::vector<std::string>> names =
      readOnnxInputNames(context, model);
  if (mlir::failed(names))
    return Error{diagnostics.getError("cannot read '" + model + "'")};
  if (Status status = checkInputCount(model, names->size(), data); !status)
    return status.error();
  std::map<std::string, const HostTensor *> inputs;
  for (size_t i = 0; i < names->size(); ++i)
    inputs[(*names)[i]] = &data.inputs[i];
  return inputs;
}

/// The tolerance of ONNX, which is for fp32.
static Tolerance getDataTolerance(const VerifyArguments &arguments,
                                  const Package &package) {
  if (arguments.model.dtype == Precision::F32 && !arguments.maxError &&
      !roundsProducts(package))
    return getOnnxTolerance();
  return getReferenceTolerance(package, arguments.maxError);
}

static bool isRead(const Package &package, size_t input) {
  for (const Layer &layer : package.layers)
    for (const Launch &launch : layer.launches)
      for (const BufferRef &buffer : launch.buffers)
        if (buffer.space == BufferSpace::Input &&
            buffer.offset == static_cast<int64_t>(input))
          return true;
  return false;
}

/// Checks the set's inputs. Unused inputs may have any shape: the data of
/// ONNX's CastLike tests do not have the models' shapes.
static Status fitInputs(const Package &package, TestDataSet &data) {
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    const TensorInfo &info = package.inputs[i];
    HostTensor &tensor = data.inputs[i];
    if (!isRead(package, i)) {
      Result<HostTensor> unread = HostTensor::create(info.dtype, info.shape);
      if (!unread)
        return unread.error();
      tensor = std::move(*unread);
    }
    std::string what = "input '" + info.name + "' in '" + data.directory + "'";
    if (Status status = fitTensor(info, tensor, what); !status)
      return status;
  }
  return success();
}

/// Compiles the model for one set; it serves other sets too if it assumes no
/// input's value.
static Result<CompileOutcome> compileFor(const TestDataSet &data,
                                         const ModelArguments &model) {
  CompileOptions options = getCompileOptions(model);
  options.quiet = true;
  auto assumed = nameInputs(model.model, data);
  if (!assumed)
    return assumed.error();
  options.assumedInputs = std::move(*assumed);
  return compileModel(options);
}

static int verifyDataSet(const VerifyArguments &arguments, Package package,
                         TestDataSet data) {
  const ModelArguments &model = arguments.model;
  if (Status status = checkInputCount(model.model, package.inputs.size(), data);
      !status)
    return fail(status.message());
  if (Status status = fitInputs(package, data); !status)
    return fail(status.message());
  Tolerance tolerance = getDataTolerance(arguments, package);
  std::vector<TensorInfo> infos = package.outputs;
  Result<Tensors> got =
      runPackage(std::move(package), std::move(data.inputs), model.threads);
  if (!got)
    return fail(got.message());
  int status =
      compareOutputs(model.model, infos, *got, data.outputs, tolerance);
  if (status == kSuccess)
    std::printf("%s: %s/%s agrees with %s: %s\n", model.model.c_str(),
                std::string(getPrecisionName(model.dtype)).c_str(),
                model.layout.name().c_str(), data.directory.c_str(),
                summarizeErrors(*got, data.outputs, tolerance).c_str());
  return status;
}

static int verifyTestData(const VerifyArguments &arguments) {
  Result<std::vector<TestDataSet>> sets = readTestData(arguments.testData);
  if (!sets)
    return fail(sets.message());
  std::optional<CompileOutcome> compiled;
  for (TestDataSet &data : *sets) {
    if (!compiled || !compiled->assumedInputs.empty()) {
      Result<CompileOutcome> outcome = compileFor(data, arguments.model);
      if (!outcome)
        return fail(outcome.message());
      compiled = std::move(*outcome);
    }
    bool isLast = &data == &sets->back();
    Package package = isLast ? std::move(compiled->package) : compiled->package;
    if (int status =
            verifyDataSet(arguments, std::move(package), std::move(data)))
      return status;
  }
  return kSuccess;
}

static int runVerify(const VerifyArguments &arguments) {
  if (isPackagePath(arguments.model.model))
    return failUsage("verify takes an ONNX model, not the package '" +
                     arguments.model.model + "'");
  return arguments.testData.empty() ? verifyAgainstReference(arguments)
                                    : verifyTestData(arguments);
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addVerify(CommandSet &commands) {
  using namespace options;
  auto [sub, verify] = commands.add(
      "verify", "Compare a model's results with the expected ones",
      "graph-opt verify resnet50.onnx --dtype int8 --layout nhwc", runVerify);
  addModel(sub, verify.model.model, "The ONNX model");
  sub->add_option("--test-data", verify.testData,
                  "An ONNX test_data_set, or a folder of them (default: "
                  "compare with the reference solver)")
      ->type_name("DIR");
  addMaxError(sub, verify.maxError, "Largest relative L2 error to accept");
  addSeed(sub, verify.seed);
  addChoice(sub, verify.model);
}

} // namespace tarpon
