//===- Emulator.cpp - The emulator's interface ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/Emulator/Emulator.h"

#include "VendorInstructions.h"
#include "Wave.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;

Result<EmulatedKernel>
EmulatedKernel::translate(gpu::GPUFuncOp kernel,
                          const EmulatorOptions &options) {
  if (options.waveSize != 32 && options.waveSize != 64)
    return Error{
        "kernel " + kernel.getName().str() + " is emulated with waves of " +
        std::to_string(options.waveSize) + " lanes, which have 32 or 64"};
  auto program = std::make_shared<emulator::Program>();
  program->options = options;
  emulator::Translator translator(kernel, *program);
  if (failed(translator.run()))
    return Error{translator.getError()};
  return EmulatedKernel(std::move(program));
}

Result<EmulationReport>
EmulatedKernel::launch(const EmulatedLaunch &launch) const {
  return emulator::runLaunch(*program, launch);
}

Result<EmulationReport> tarpon::emulate(gpu::GPUFuncOp kernel,
                                        const EmulatedLaunch &launch,
                                        const EmulatorOptions &options) {
  Result<EmulatedKernel> translated =
      EmulatedKernel::translate(kernel, options);
  if (!translated)
    return translated.error();
  return translated->launch(launch);
}

void tarpon::registerEmulatedDialects(
    DialectRegistry &registry,
    const emulator::VendorInstructions *instructions) {
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  if (instructions)
    instructions->registerDialects(registry);
}
