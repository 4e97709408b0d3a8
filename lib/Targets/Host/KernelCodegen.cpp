//===- KernelCodegen.cpp - Compiles one kernel by MLIR and LLVM -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels arrive vectorised and tiled for the registers.
//
//===----------------------------------------------------------------------===//

#include "KernelCodegen.h"

#include "tarpon/IR/DiagnosticLog.h"
#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Targets/Codegen/LlvmCodegen.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

namespace {

/// A context and the kernel in it.
class EmittedKernel {
public:
  EmittedKernel(const KernelSource &kernel, const TargetInfo &target)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context) {
    context.loadAllAvailableDialects();
    module = ModuleOp::create(UnknownLoc::get(&context));
    KernelBuilder builder(*module, kernel.symbol, target);
    kernel.emit(builder);
    builder.finish();
    valid = succeeded(verify(*module));
  }

  ModuleOp getModule() { return *module; }
  bool isValid() const { return valid; }
  std::string getDiagnostics() const { return diagnostics.getAll(); }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    KernelBuilder::registerDialects(registry);
    // The lowering goes through these dialects.
    registry.insert<cf::ControlFlowDialect, index::IndexDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    return registry;
  }

  MLIRContext context;
  DiagnosticLog diagnostics;
  OwningOpRef<ModuleOp> module;
  bool valid = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// LLVM
//===----------------------------------------------------------------------===//

std::string tarpon::getFeatureString(const TargetInfo &target) {
  // The baseline's features, which are never removed.
  static const llvm::StringSet<> kBaseline = {"64bit", "x87", "cmov", "cx8",
                                              "fxsr",  "mmx", "sse",  "sse2"};
  std::vector<std::string> wanted = target.features, unwanted;
  for (const auto &entry : llvm::sys::getHostCPUFeatures())
    if (!kBaseline.contains(entry.getKey()) &&
        !llvm::is_contained(wanted, entry.getKey()))
      unwanted.push_back(entry.getKey().str());
  llvm::sort(unwanted);
  // Removing a feature also removes those that need it, so that removals come
  // first.
  std::string text;
  for (const std::string &name : unwanted)
    text += "-" + name + ",";
  for (const std::string &name : wanted)
    text += "+" + name + ",";
  if (!text.empty())
    text.pop_back();
  return text;
}

static Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const TargetInfo &target, const std::string &features) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // OuterProduct.cpp adds by an instruction of its own.
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return Error{"LLVM has no backend for '" + triple.str() + "'"};
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, features, getKernelOptions(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  machine->setFastISel(false);
  return machine;
}

/// The CPU whose scheduling model LLVM uses. Its models of Intel's CPUs with
/// AVX-512 before Sapphire Rapids move loads far up in a loop. Register tiles
/// have fences (KernelBuilder::fence), but not all loops that multiply do.
static StringRef getSchedulingCpu(const TargetInfo &target) {
  bool isZen = StringRef(target.cpu).starts_with("znver");
  if (target.vectorBits == 512 && !isZen)
    return "sapphirerapids";
  return target.cpu;
}

/// Sets the promises of KernelABI.h on the arguments, and the options of
/// compilation.
static void setAttributes(llvm::Function &function, const TargetInfo &target,
                          const std::string &features) {
  function.addFnAttr("target-cpu", target.cpu);
  // LLVM would split vpdpwssd for a shorter latency, which sums that do not
  // wait for each other do not need.
  function.addFnAttr("target-features",
                     features + (features.empty() ? "" : ",") + "+fast-dpwssd");
  function.addFnAttr("tune-cpu", getSchedulingCpu(target));
  // Otherwise LLVM prefers 256-bit vectors on some CPUs that have wider ones.
  function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
  function.addFnAttr("min-legal-vector-width",
                     std::to_string(target.vectorBits));
  function.addFnAttr(llvm::Attribute::NoUnwind);
  enum { Buffers = 0, Params = 1, Scratch = 4 };
  for (unsigned table : {Buffers, Params}) {
    function.addParamAttr(table, llvm::Attribute::NoAlias);
    function.addParamAttr(table, llvm::Attribute::ReadOnly);
  }
  function.addParamAttr(Scratch, llvm::Attribute::NoAlias);
}

static Result<std::vector<char>> generateCode(llvm::Module &module,
                                              const KernelSource &kernel,
                                              const TargetInfo &target,
                                              llvm::CodeGenFileType type) {
  std::string features = getFeatureString(target);
  Result<std::unique_ptr<llvm::TargetMachine>> machine =
      makeTargetMachine(target, features);
  if (!machine)
    return machine.error();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  llvm::Function *function = module.getFunction(kernel.symbol);
  assert(function && "the emitted function is gone");
  setAttributes(*function, target, features);
  return generateMachineCode(module, **machine, type);
}

//===----------------------------------------------------------------------===//
// The whole way
//===----------------------------------------------------------------------===//

Result<std::vector<char>> tarpon::compileKernel(const KernelSource &kernel,
                                                const TargetInfo &target,
                                                llvm::CodeGenFileType type) {
  EmittedKernel emitted(kernel, target);
  auto fail = [&](StringRef what) {
    return Error{("kernel '" + kernel.symbol + "' " + what + ": " +
                  emitted.getDiagnostics())
                     .str()};
  };
  if (!emitted.isValid())
    return fail("is malformed");
  if (failed(lowerKernel(emitted.getModule(), target)))
    return fail("cannot be lowered");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(emitted.getModule(), context, kernel.symbol);
  if (!module)
    return fail("cannot be translated to LLVM IR");
  return generateCode(*module, kernel, target, type);
}

std::string tarpon::printEmittedKernel(const KernelSource &kernel,
                                       const TargetInfo &target) {
  EmittedKernel emitted(kernel, target);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (emitted.isValid()) {
    emitted.getModule().print(stream);
    return text;
  }
  stream << "// malformed: " << emitted.getDiagnostics() << "\n";
  emitted.getModule().print(stream, OpPrintingFlags().printGenericOpForm());
  return text;
}
