//===- Opt.cpp - Passes on .mlir files, like mlir-opt -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Opt.h"

#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Passes/Pipelines.h"
#include "tarpon/Targets/Registry/TargetAttribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int tarpon::runOpt(int argc, char **argv) {
  registerTransformsPasses();
  registerTarponPasses();
  registerTarponPipelines();

  DialectRegistry registry;
  registerTargetCheck(registry);
  registry.insert<TarponDialect, arith::ArithDialect, func::FuncDialect,
                  quant::QuantDialect>();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "Tarpon's graph compiler", registry));
}
