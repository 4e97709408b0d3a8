//===- LlvmCodegen.cpp - LLVM's part in compiling kernels -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's part is to clean up, to select instructions and to allocate registers.
// Passes that would change the loops are disabled.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Codegen/LlvmCodegen.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

llvm::TargetOptions tarpon::getKernelOptions() {
  llvm::TargetOptions options;
  // LLVM must not fuse multiply-adds: kernels contain those that they want.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return options;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

Result<std::vector<char>>
tarpon::generateMachineCode(llvm::Module &module, llvm::TargetMachine &machine,
                            llvm::CodeGenFileType type) {
  optimize(module, machine);
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, /*DwoOut=*/nullptr, type,
                                  /*DisableVerify=*/true))
    return Error{"LLVM cannot write code for '" + machine.getTargetCPU().str() +
                 "'"};
  passes.run(module);
  return std::vector<char>(code.begin(), code.end());
}
