//===- RunCommand.cpp - graph-opt run ---------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/TensorFiles.h"
#include "Messages.h"
#include "ModelInputs.h"
#include "PackageRun.h"
#include "SharedOptions.h"

namespace tarpon {

namespace {

struct RunArguments {
  ModelArguments model;
  /// NAME=FILE.
  std::vector<std::string> inputs;
  std::string outputDir;
  uint64_t seed = 0;
};

} // namespace

using namespace runtime;

static int runRun(const RunArguments &arguments) {
  Result<Package> package = loadPackage(arguments.model);
  if (!package)
    return fail(package.message());
  Result<std::vector<HostTensor>> inputs =
      makeInputs(*package, arguments.inputs, readTensorFile, arguments.seed);
  if (!inputs)
    return fail(inputs.message());
  std::vector<TensorInfo> infos = package->outputs;
  Result<std::vector<HostTensor>> outputs = runPackage(
      std::move(*package), std::move(*inputs), arguments.model.threads);
  if (!outputs)
    return fail(outputs.message());
  if (!arguments.outputDir.empty())
    if (Status status = writeOutputs(*outputs, arguments.outputDir); !status)
      return fail(status.message());
  printOutputs(infos, *outputs);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addRun(CommandSet &commands) {
  using namespace options;
  auto [sub, run] = commands.add(
      "run", "Run a model",
      "graph-opt run resnet50.tpn --input data=cat.npy --output-dir out",
      runRun);
  addModel(sub, run.model.model, "The ONNX model or a package (.tpn)");
  sub->add_option("--input", run.inputs,
                  "An input (default: generated from the seed)")
      ->type_name("NAME=FILE.npy|.pb")
      ->expected(1)
      ->take_all();
  sub->add_option("--output-dir", run.outputDir,
                  "Write the outputs here as 0.npy, 1.npy, ...")
      ->type_name("DIR");
  addSeed(sub, run.seed);
  addRequireSignature(sub, run.model.publicKey);
  addChoice(sub, run.model);
  addLogDriver(sub, run.model.logDriver);
}

} // namespace tarpon
