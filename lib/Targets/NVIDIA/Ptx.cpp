//===- Ptx.cpp - Compiles GPU modules to PTX ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Ptx.h"

#include "NvvmLowering.h"

#include "tarpon/Targets/Codegen/LlvmCodegen.h"
#include "tarpon/Targets/GPU/GpuCodegen.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;

void tarpon::registerNvidiaKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

static Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const GpuTarget &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return Error{"LLVM has no backend for NVIDIA GPUs: " + error};
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.chip, features, getKernelOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static const GpuCodegen kCodegen = {
    registerNvidiaKernelDialects, findDeviceLibraryCall,
    [](ModuleOp holder, const GpuTarget &) { return lowerToNvvm(holder); },
    makeTargetMachine, [](llvm::Module &) {}};

Result<std::string> tarpon::compileToPtx(gpu::GPUModuleOp module,
                                         const GpuTarget &target) {
  Result<std::vector<char>> text = generateGpuCode(
      module, target, kCodegen, llvm::CodeGenFileType::AssemblyFile);
  if (!text)
    return text.error();
  return narrowStoredFloats({text->data(), text->size()});
}

bool tarpon::liftRegisterLimit(std::string &ptx) {
  llvm::SmallVector<llvm::StringRef> groups;
  if (!llvm::Regex("\\.minnctapersm ([0-9]+)").match(ptx, &groups) ||
      groups[1] == "1")
    return false;
  size_t at = static_cast<size_t>(groups[1].data() - ptx.data());
  ptx.replace(at, groups[1].size(), "1");
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The number that the pattern's group matches, or none.
static std::optional<int64_t> findNumber(llvm::StringRef text,
                                         llvm::StringRef pattern) {
  llvm::SmallVector<llvm::StringRef> groups;
  int64_t number = 0;
  if (!llvm::Regex(pattern).match(text, &groups) ||
      groups[1].getAsInteger(10, number))
    return std::nullopt;
  return number;
}

Result<KernelResources> tarpon::readPtxResources(llvm::StringRef ptx) {
  llvm::SmallVector<llvm::StringRef> entry;
  if (!llvm::Regex("\\.entry ([A-Za-z0-9_$]+)").match(ptx, &entry))
    return Error{"not PTX: it has no kernel"};
  std::optional<int64_t> workgroup = findNumber(ptx, "\\.reqntid ([0-9]+)");
  if (!workgroup)
    return Error{"the PTX of '" + entry[1].str() +
                 "' does not tell its workgroup"};
  KernelResources kernel;
  kernel.symbol = entry[1].str();
  kernel.workgroup = *workgroup;
  kernel.waveSize = 32;
  // A global that is zero has no initial value.
  kernel.ldsBytes =
      findNumber(ptx, (kLdsBytesName + " = ([0-9]+);").str()).value_or(0);
  return kernel;
}
