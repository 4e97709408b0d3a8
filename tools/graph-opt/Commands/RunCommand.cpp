//===- RunCommand.cpp - graph-opt run ---------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/TensorFiles.h"
#include "Messages.h"
#include "ModelInputs.h"
#include "PackageRun.h"

namespace tarpon {

using namespace runtime;

int runRun(const RunArguments &arguments) {
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

} // namespace tarpon
