//===- CodeObject.cpp - Compiles GPU modules to code objects --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/CodeObject.h"

#include "GpuLowering.h"

#include "tarpon/Targets/Codegen/LlvmCodegen.h"
#include "tarpon/Targets/GPU/GpuCodegen.h"
#include "tarpon/Targets/Linker/Linker.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"

#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;

/// HIP reads version 5 since ROCm 5.7 (LLVM, AMDGPUUsage.rst).
static constexpr unsigned kCodeObjectVersion = 500;

void tarpon::registerGpuKernelDialects(DialectRegistry &registry) {
  registry.insert<amdgpu::AMDGPUDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  math::MathDialect, ROCDL::ROCDLDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

//===----------------------------------------------------------------------===//
// Compilation to machine code
//===----------------------------------------------------------------------===//

static Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const GpuTarget &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return Error{"LLVM has no backend for AMD GPUs: " + error};
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.chip, /*Features=*/"", getKernelOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static const GpuCodegen kCodegen = {
    registerGpuKernelDialects, findLibraryCall, lowerGpuKernels,
    makeTargetMachine, [](llvm::Module &module) {
      module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                           kCodeObjectVersion);
    }};

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

Result<CodeObject> tarpon::compileCodeObject(gpu::GPUModuleOp module,
                                             const GpuTarget &target) {
  Result<std::vector<char>> object = generateGpuCode(
      module, target, kCodegen, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.error();
  Result<std::vector<char>> linked =
      linkSharedObject({llvm::ArrayRef<char>(*object)}, {"--no-undefined"});
  if (!linked)
    return linked.error();
  Result<std::vector<KernelResources>> kernels = readKernelResources(*linked);
  if (!kernels)
    return kernels.error();
  return CodeObject{std::move(*linked), std::move(*kernels)};
}

Result<std::string> tarpon::printGpuAssembly(gpu::GPUModuleOp module,
                                             const GpuTarget &target) {
  Result<std::vector<char>> text = generateGpuCode(
      module, target, kCodegen, llvm::CodeGenFileType::AssemblyFile);
  if (!text)
    return text.error();
  return std::string(text->begin(), text->end());
}
