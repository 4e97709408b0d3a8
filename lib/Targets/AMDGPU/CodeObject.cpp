//===- CodeObject.cpp - Compiles GPU modules to code objects --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/CodeObject.h"

#include "GpuLowering.h"

#include "tarpon/IR/DiagnosticLog.h"
#include "tarpon/Targets/Codegen/LlvmCodegen.h"
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
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
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

/// Keeps LLVM's first error in the string behind `text`. Without a handler,
/// LLVM ends the process. Warnings concern an occupancy that could not be
/// reached, which a kernel's resources show too.
static void keepError(const llvm::DiagnosticInfo *info, void *text) {
  auto &fault = *static_cast<std::string *>(text);
  if (info->getSeverity() != llvm::DS_Error || !fault.empty())
    return;
  llvm::raw_string_ostream os(fault);
  llvm::DiagnosticPrinterRawOStream printer(os);
  info->print(printer);
}

static Result<std::vector<char>> generateCode(gpu::GPUModuleOp module,
                                              const GpuTarget &target,
                                              llvm::CodeGenFileType type) {
  DiagnosticLog diagnostics(module.getContext());
  auto fail = [&](const llvm::Twine &what) {
    return Error{("kernel module '" + module.getName() + "' " + what + ": " +
                  diagnostics.getFirst())
                     .str()};
  };
  if (Operation *op = findLibraryCall(module))
    return Error{("kernel module '" + module.getName() + "' uses " +
                  op->getName().getStringRef() +
                  ", which the hardware does not have")
                     .str()};
  DialectRegistry registry;
  registerGpuKernelDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  OwningOpRef<ModuleOp> holder = ModuleOp::create(module.getLoc());
  holder->getBody()->push_back(module->clone());
  if (failed(lowerGpuKernels(*holder, target)))
    return fail("cannot be lowered for " + target.chip);
  auto lowered = *holder->getOps<gpu::GPUModuleOp>().begin();
  llvm::LLVMContext context;
  std::string fault;
  context.setDiagnosticHandlerCallBack(keepError, &fault);
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(lowered, context, module.getName());
  if (!code)
    return fail("cannot be translated to LLVM IR");
  auto machine = makeTargetMachine(target);
  if (!machine)
    return machine.error();
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  code->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                      kCodeObjectVersion);
  Result<std::vector<char>> generated =
      generateMachineCode(*code, **machine, type);
  if (!generated)
    return generated.error();
  if (!fault.empty())
    return Error{("kernel module '" + module.getName() +
                  "' cannot be compiled for " + target.chip + ": " + fault)
                     .str()};
  return generated;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

Result<CodeObject> tarpon::compileCodeObject(gpu::GPUModuleOp module,
                                             const GpuTarget &target) {
  Result<std::vector<char>> object =
      generateCode(module, target, llvm::CodeGenFileType::ObjectFile);
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
  Result<std::vector<char>> text =
      generateCode(module, target, llvm::CodeGenFileType::AssemblyFile);
  if (!text)
    return text.error();
  return std::string(text->begin(), text->end());
}
