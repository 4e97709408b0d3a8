//===- tarpon-run.cpp - Runs compiled models --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "ModelInputs.h"
#include "RunCommandLine.h"

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Npy.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace tarpon;
using namespace tarpon::runtime;

static Result<HostTensor> readTensor(const std::string &path) {
  if (!path.ends_with(".npy"))
    return Error{"'" + path + "' is not a .npy file"};
  return readNpy(path);
}

static Result<Instance> makeInstance(const run::Arguments &arguments) {
  Result<Package> package =
      arguments.publicKey.empty()
          ? readPackage(arguments.package)
          : readSignedPackage(arguments.package, arguments.publicKey);
  if (!package)
    return package.error();
  if (!arguments.sizes.empty())
    if (Status status = chooseSizes(*package, arguments.sizes); !status)
      return status.error();
  Result<std::vector<HostTensor>> inputs =
      makeInputs(*package, arguments.inputs, readTensor, arguments.seed);
  if (!inputs)
    return inputs.error();
  ExecutorOptions options;
  options.threads = static_cast<int>(arguments.threads);
  options.paddedBuffers = true;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(*package), options);
  if (!executor)
    return executor.error();
  return Instance::create(std::move(*executor), std::move(*inputs));
}

/// Prints one line, like graph-opt perf for a whole run.
static void printTime(Instance &instance, std::optional<int64_t> iterations) {
  MeasureOptions options;
  if (iterations) {
    options.minSamples = static_cast<int>(*iterations);
    options.minTimeMs = 0;
    options.maxTimeMs = std::numeric_limits<double>::infinity();
  }
  Timing time = measure({&instance, 1}, options);
  int threads = instance.executor().device().threads();
  std::printf("time: median %.4f ms +- %.4f over %zu runs, %d %s\n",
              time.medianMs, time.madMs, time.samplesMs.size(), threads,
              threads == 1 ? "thread" : "threads");
}

static int runModel(const run::Arguments &arguments) {
  Result<Instance> instance = makeInstance(arguments);
  if (!instance)
    return fail(instance.message());
  if (Status status = instance->run(); !status)
    return fail(status.message());
  const Package &package = instance->executor().package();
  Result<std::vector<HostTensor>> outputs = cloneAll(instance->outputs());
  if (outputs)
    outputs = takeRealSizes(package, std::move(*outputs));
  if (!outputs)
    return fail(outputs.message());
  if (!arguments.outputDir.empty())
    if (Status status = writeOutputs(*outputs, arguments.outputDir); !status)
      return fail(status.message());
  printOutputs(package.outputs, *outputs);
  printTime(*instance, arguments.iterations);
  if (std::fflush(stdout) != 0)
    return fail(std::string("cannot write to standard output: ") +
                std::strerror(errno));
  return kSuccess;
}

int main(int argc, char **argv) {
  setProgramName("tarpon-run");
  run::Arguments arguments;
  if (std::optional<int> status = run::parseCommandLine(argc, argv, arguments))
    return *status;
  return runModel(arguments);
}
