//===- KernelIr.cpp - Kernels of GPUs as text in MLIR ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/Emulator/KernelIr.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;

Result<OwningOpRef<ModuleOp>> tarpon::parseKernelIr(MLIRContext &context,
                                                    ArrayRef<char> text) {
  std::string complaint;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (complaint.empty())
      complaint = diagnostic.str();
  });
  auto module = parseSourceString<ModuleOp>(StringRef(text.data(), text.size()),
                                            &context);
  if (!module)
    return Error{"not a kernel in MLIR: " + complaint};
  auto modules = module->getOps<gpu::GPUModuleOp>();
  if (modules.empty() || (*modules.begin()).getOps<gpu::GPUFuncOp>().empty())
    return Error{"not a kernel in MLIR: it has no gpu.func"};
  return module;
}

gpu::GPUModuleOp tarpon::getKernelModule(ModuleOp module) {
  return *module.getOps<gpu::GPUModuleOp>().begin();
}

gpu::GPUFuncOp tarpon::getKernelFunction(ModuleOp module) {
  return *getKernelModule(module).getOps<gpu::GPUFuncOp>().begin();
}
