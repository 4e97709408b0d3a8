//===- compile-untuned.cpp - Compiles a model without any tuning ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: compile-untuned MODEL.onnx OUT.tpn [TARGET [DTYPE]]
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/CompileUntuned.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <cstdio>

using namespace tarpon;

static runtime::Status compile(int argc, char **argv) {
  UntunedOptions options;
  options.model = argv[1];
  if (argc > 3)
    options.target = argv[3];
  if (argc > 4) {
    auto dtype = runtime::parsePrecision(argv[4]);
    if (!dtype)
      return runtime::Error{"unknown dtype '" + std::string(argv[4]) + "'"};
    options.dtype = *dtype;
  }
  runtime::Result<runtime::Package> package = compileUntuned(options);
  if (!package)
    return package.error();
  return runtime::writePackage(*package, argv[2]);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  registerHostTargets();
  runtime::Status status = compile(argc, argv);
  if (status)
    return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
