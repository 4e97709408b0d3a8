//===- GpuCodegen.cpp - Code for GPUs by one of LLVM's backends -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuCodegen.h"

#include "tarpon/IR/DiagnosticLog.h"
#include "tarpon/Targets/Codegen/LlvmCodegen.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;

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

Result<std::vector<char>> tarpon::generateGpuCode(gpu::GPUModuleOp module,
                                                  const GpuTarget &target,
                                                  const GpuCodegen &codegen,
                                                  llvm::CodeGenFileType type) {
  DiagnosticLog diagnostics(module.getContext());
  auto fail = [&](const llvm::Twine &what) {
    return Error{("kernel module '" + module.getName() + "' " + what + ": " +
                  diagnostics.getFirst())
                     .str()};
  };
  if (Operation *op = codegen.findLibraryCall(module))
    return Error{("kernel module '" + module.getName() + "' uses " +
                  op->getName().getStringRef() +
                  ", which the hardware does not have")
                     .str()};
  DialectRegistry registry;
  codegen.registerDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  OwningOpRef<ModuleOp> holder = ModuleOp::create(module.getLoc());
  holder->getBody()->push_back(module->clone());
  if (failed(codegen.lower(*holder, target)))
    return fail("cannot be lowered for " + target.chip);
  auto lowered = *holder->getOps<gpu::GPUModuleOp>().begin();
  llvm::LLVMContext context;
  std::string fault;
  context.setDiagnosticHandlerCallBack(keepError, &fault);
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(lowered, context, module.getName());
  if (!code)
    return fail("cannot be translated to LLVM IR");
  auto machine = codegen.makeMachine(target);
  if (!machine)
    return machine.error();
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  codegen.addFlags(*code);
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
