//===- RunCommand.cpp - graph-opt run ---------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "GpuRun.h"
#include "Messages.h"
#include "ModelLoader.h"
#include "TensorFiles.h"

#include "tarpon/Runtime/Measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tarpon {

using namespace runtime;

static Result<std::vector<HostTensor>>
makeInputs(const Package &package, const RunArguments &arguments) {
  if (!arguments.inputs.empty())
    return readInputs(package, arguments.inputs);
  std::printf("inputs are generated from seed %llu\n",
              static_cast<unsigned long long>(arguments.seed));
  return makeRandomInputs(package, arguments.seed);
}

/// One line on an output: its type and its smallest, largest and mean element.
static void printOutput(size_t index, const TensorInfo &info,
                        const HostTensor &tensor) {
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  int64_t nans = 0, count = tensor.numElements();
  const char *element = tensor.data.data();
  for (int64_t i = 0; i < count; ++i) {
    double value = loadAsDouble(tensor.dtype, element);
    element += dtypeBytes(tensor.dtype);
    nans += std::isnan(value);
    low = std::fmin(low, value);
    high = std::fmax(high, value);
    sum += value;
  }
  std::printf("output %zu '%s': %s %s", index, info.name.c_str(),
              shapeToString(tensor.shape).c_str(),
              std::string(dtypeName(tensor.dtype)).c_str());
  if (count > nans)
    std::printf(", min %g, max %g, mean %g", low, high,
                sum / static_cast<double>(count));
  if (nans > 0)
    std::printf(", %lld NaN", static_cast<long long>(nans));
  std::printf("\n");
}

/// The outputs of a run on the host.
static Result<std::vector<HostTensor>>
runOnHost(Package package, std::vector<HostTensor> inputs, int64_t threads) {
  Result<std::unique_ptr<Executor>> executor =
      makeExecutor(std::move(package), threads);
  if (!executor)
    return executor.error();
  Result<Instance> instance =
      Instance::create(std::move(*executor), std::move(inputs));
  if (!instance)
    return instance.error();
  instance->run();
  return std::move(instance->outputs());
}

int runRun(const RunArguments &arguments) {
  Result<Package> package = loadPackage(arguments.model);
  if (!package)
    return fail(package.message());
  Result<std::vector<HostTensor>> inputs = makeInputs(*package, arguments);
  if (!inputs)
    return fail(inputs.message());
  std::vector<TensorInfo> infos = package->outputs;
  Result<std::vector<HostTensor>> outputs =
      package->isForGpu() ? runOnGpu(std::move(*package), *inputs)
                          : runOnHost(std::move(*package), std::move(*inputs),
                                      arguments.model.threads);
  if (!outputs)
    return fail(outputs.message());
  if (!arguments.outputDir.empty())
    if (Status status = writeOutputs(*outputs, arguments.outputDir); !status)
      return fail(status.message());
  for (size_t i = 0; i < outputs->size(); ++i)
    printOutput(i, infos[i], (*outputs)[i]);
  return kSuccess;
}

} // namespace tarpon
