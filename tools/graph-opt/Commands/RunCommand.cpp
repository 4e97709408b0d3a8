//===- RunCommand.cpp - graph-opt run ---------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/TensorFiles.h"
#include "GpuRun.h"
#include "Messages.h"
#include "ModelInputs.h"

#include "tarpon/Runtime/Measure.h"

namespace tarpon {

using namespace runtime;

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
  Result<std::vector<HostTensor>> inputs =
      makeInputs(*package, arguments.inputs, readTensorFile, arguments.seed);
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
  printOutputs(infos, *outputs);
  return kSuccess;
}

} // namespace tarpon
