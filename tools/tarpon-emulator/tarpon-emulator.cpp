//===- tarpon-emulator.cpp - Runs candidates on emulated GPUs ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorMain.h"

#include "tarpon/Targets/AllTargets.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

using namespace tarpon;
using namespace tarpon::runtime;

static Result<std::unique_ptr<Device>> openEmulated(const Package &package) {
  TargetOptions options;
  options.device = "emulated";
  Result<std::shared_ptr<const Target>> target =
      findTarget(package.chip, options);
  if (!target)
    return target.error();
  return (*target)->openDevice(/*threads=*/1);
}

int main(int argc, char **argv) {
  registerAllTargets();
  return evaluator::evaluatorMain(
      argc, argv, "tarpon-emulator",
      "Runs and verifies compiled models on an emulated GPU, without times.",
      openEmulated);
}
