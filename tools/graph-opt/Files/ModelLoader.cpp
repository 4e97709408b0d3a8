//===- ModelLoader.cpp - Packages from models and from files ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelLoader.h"

#include "ModelInputs.h"

#include "tarpon/Driver/ProblemLog.h"

namespace tarpon {

using namespace runtime;

bool isPackagePath(llvm::StringRef path) { return path.ends_with(".tpn"); }

CompileOptions getCompileOptions(const ModelArguments &arguments) {
  CompileOptions options;
  options.model = arguments.model;
  options.dtype = {std::string(getPrecisionName(arguments.dtype)),
                   {arguments.dtype}};
  options.target = arguments.target;
  options.device = arguments.device;
  options.layout = {arguments.layout.name(), {arguments.layout}};
  options.fusion = {std::string(getFusionName(arguments.fusion)),
                    {arguments.fusion}};
  options.batch = arguments.batch;
  // This cannot fail: the command line was checked.
  for (const std::string &text : arguments.sizes) {
    auto [name, size] = *parseSize(text);
    options.dims[name] = {size, size};
  }
  options.threads = arguments.threads;
  options.cpu = arguments.cpu;
  return options;
}

Result<Package> readPackageFile(const std::string &path,
                                const std::string &publicKey) {
  return publicKey.empty() ? readPackage(path)
                           : readSignedPackage(path, publicKey);
}

Result<Package> loadPackage(const ModelArguments &arguments) {
  const ModelArguments none;
  if (isPackagePath(arguments.model) &&
      (arguments.target != none.target || arguments.device != none.device))
    return Error{"--target and --device are for ONNX models, and the package "
                 "'" +
                 arguments.model + "' says what it is for"};
  if (!isPackagePath(arguments.model) && !arguments.publicKey.empty())
    return Error{"--require-signature is for packages, and '" +
                 arguments.model + "' is an ONNX model"};
  if (!isPackagePath(arguments.model) &&
      getCompileOptions(arguments).dims.size() != arguments.sizes.size())
    return Error{"--dim is given twice for one dimension"};
  Result<Package> package =
      !isPackagePath(arguments.model)
          ? compileForRun(getCompileOptions(arguments))
          : readPackageFile(arguments.model, arguments.publicKey);
  if (!package)
    return package.error();
  if (isPackagePath(arguments.model) && !arguments.sizes.empty())
    if (Status status = chooseSizes(*package, arguments.sizes); !status)
      return status.error();
  if (Status status = logProblems(*package, arguments.logDriver); !status)
    return status.error();
  return package;
}

} // namespace tarpon
