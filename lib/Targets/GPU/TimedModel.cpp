//===- TimedModel.cpp - A model on a GPU, to be timed ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/TimedModel.h"

#include <limits>

using namespace tarpon;
using runtime::Device;
using runtime::HostTensor;
using runtime::Result;
using runtime::Status;

Result<TimedModel> TimedModel::create(runtime::Package package,
                                      Device &device) {
  Result<std::vector<HostTensor>> inputs =
      runtime::makeRandomInputs(package, /*seed=*/0);
  if (!inputs)
    return inputs.error();
  Result<std::vector<HostTensor>> outputs = runtime::makeOutputs(package);
  if (!outputs)
    return outputs.error();
  Result<std::unique_ptr<GpuExecutor>> executor =
      GpuExecutor::create(std::move(package), device);
  if (!executor)
    return executor.error();
  std::vector<const void *> in;
  std::vector<void *> out;
  for (HostTensor &tensor : *inputs)
    in.push_back(tensor.data.data());
  for (HostTensor &tensor : *outputs)
    out.push_back(tensor.data.data());
  if (Status status = (*executor)->poison(); !status)
    return status.error();
  if (Status status = (*executor)->run(in, out); !status)
    return status.error();
  TimedModel model;
  model.executor = std::move(*executor);
  model.outputs = std::move(*outputs);
  return model;
}

double TimedModel::time(int runs) {
  double sum = 0;
  for (int i = 0; i < runs && failure; ++i) {
    Result<double> milliseconds = executor->timeRun();
    if (milliseconds)
      sum += *milliseconds;
    else
      failure = milliseconds.error();
  }
  return failure ? sum : std::numeric_limits<double>::infinity();
}

runtime::TimedRuns TimedModel::getTimed() {
  return {[this](int runs) { return time(runs); }};
}
