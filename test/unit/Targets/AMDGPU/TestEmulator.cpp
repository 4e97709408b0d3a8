//===- TestEmulator.cpp - Runs kernels given as text ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestEmulator.h"

#include "tarpon/Targets/AMDGPU/Emulator/AmdInstructions.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tarpon;
using runtime::Result;

std::string test::makeKernel(const std::string &arguments,
                             const std::string &body) {
  return R"(gpu.module @kernels {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  gpu.func @kernel()" +
         arguments + R"() kernel {
    %tx = gpu.thread_id x
    %tid = arith.index_cast %tx : index to i32
    %bx = gpu.block_id x
    %bid = arith.index_cast %bx : index to i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>

)" + body +
         R"(
    gpu.return
  }
}
)";
}

test::ParsedKernel::ParsedKernel(
    const std::string &text, const emulator::VendorInstructions *instructions) {
  DialectRegistry registry;
  registerEmulatedDialects(registry,
                           instructions ? instructions : &getAmdInstructions());
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  module = parseSourceString<ModuleOp>(text, context.get(), "kernel.mlir");
  EXPECT_TRUE(module) << text;
}

test::ParsedKernel::~ParsedKernel() = default;

gpu::GPUFuncOp test::ParsedKernel::get() {
  gpu::GPUFuncOp kernel;
  if (module)
    module->walk([&](gpu::GPUFuncOp op) { kernel = op; });
  return kernel;
}

Result<EmulationReport> test::emulateBody(const std::string &arguments,
                                          const std::string &body, int64_t grid,
                                          int64_t block,
                                          std::vector<EmulatedArgument> values,
                                          const EmulatorOptions &given,
                                          double *seconds) {
  EmulatorOptions options = given;
  if (!options.instructions)
    options.instructions = &getAmdInstructions();
  ParsedKernel kernel(makeKernel(arguments, body), options.instructions);
  if (!kernel.get())
    return runtime::Error{"the kernel does not parse"};
  EmulatedLaunch launch;
  launch.grid[0] = grid;
  launch.block[0] = block;
  launch.arguments = std::move(values);
  Result<EmulatedKernel> translated =
      EmulatedKernel::translate(kernel.get(), options);
  if (!translated)
    return translated.error();
  auto start = std::chrono::steady_clock::now();
  Result<EmulationReport> report = translated->launch(launch);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (seconds)
    *seconds = time.count();
  return report;
}
