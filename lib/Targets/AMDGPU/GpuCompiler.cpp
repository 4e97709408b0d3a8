//===- GpuCompiler.cpp - Compiles launches to code objects ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

#include "IndexDivision.h"

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"
#include "tarpon/Targets/GPU/Emulator/KernelIr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {

/// Rounds to nearest even in two instructions: only CPUs have one for both.
struct SplitRounding : public OpRewritePattern<LLVM::LrintOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LLVM::LrintOp op,
                                PatternRewriter &rewriter) const override {
    Value rounded =
        math::RoundEvenOp::create(rewriter, op.getLoc(), op.getVal());
    rewriter.replaceOpWithNewOp<arith::FPToSIOp>(op, op.getType(), rounded);
    return success();
  }
};

} // namespace

/// Expands functions that need a library to polynomials, and shortens
/// divisions.
static LogicalResult expandMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateIndexDivisionPatterns(patterns);
  patterns.add<SplitRounding>(module.getContext());
  static constexpr StringLiteral kExpanded[] = {"math.tanh", "math.erf"};
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(kExpanded, name);
  });
  return applyPatternsGreedily(module, std::move(patterns));
}

static LogicalResult simplify(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

EmittedGpuKernel::EmittedGpuKernel() {
  DialectRegistry registry;
  registerGpuKernelDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
}

Result<EmittedGpuKernel> EmittedGpuKernel::emit(const KernelSource &kernel,
                                                const GpuTarget &gpu) {
  EmittedGpuKernel emitted;
  MLIRContext *context = emitted.context.get();
  std::string complaint;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (complaint.empty())
      complaint = diagnostic.str();
  });
  emitted.module = ModuleOp::create(UnknownLoc::get(context));
  GpuKernelBuilder builder(
      *emitted.module, kernel.symbol, gpu,
      {kernel.numBuffers, kernel.numParams, kernel.workgroup, kernel.ldsBytes});
  kernel.emit(builder);
  builder.finish();
  if (failed(verify(*emitted.module)) || failed(expandMath(*emitted.module)) ||
      failed(simplify(*emitted.module)))
    return Error{"kernel '" + kernel.symbol + "' is malformed: " + complaint};
  return emitted;
}

Result<EmittedGpuKernel> EmittedGpuKernel::parse(ArrayRef<char> text) {
  EmittedGpuKernel parsed;
  Result<OwningOpRef<ModuleOp>> module = parseKernelIr(*parsed.context, text);
  if (!module)
    return module.error();
  parsed.module = std::move(*module);
  return parsed;
}

Result<int64_t> EmittedGpuKernel::readWorkgroup(ArrayRef<char> text) {
  Result<EmittedGpuKernel> parsed = parse(text);
  if (!parsed)
    return parsed.error();
  std::optional<ArrayRef<int32_t>> block =
      parsed->getFunction().getKnownBlockSize();
  if (!block || block->empty())
    return Error{"a kernel in MLIR does not tell its workgroup"};
  return block->front();
}

gpu::GPUModuleOp EmittedGpuKernel::getModule() {
  return getKernelModule(*module);
}

gpu::GPUFuncOp EmittedGpuKernel::getFunction() {
  return getKernelFunction(*module);
}

std::string EmittedGpuKernel::print() {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

//===----------------------------------------------------------------------===//
// Code objects
//===----------------------------------------------------------------------===//

/// Refuses kernels that spill, or that exceed the hardware's resources.
static Status checkResources(const KernelResources &kernel,
                             const GpuTarget &gpu) {
  std::string who = "kernel '" + kernel.symbol + "' ";
  // Scalars are spilled to lanes of vector registers; if there are too few, to
  // memory, which the next check detects.
  if (kernel.vectorSpills > 0)
    return Error{who + "spills " + std::to_string(kernel.vectorSpills) +
                 " registers"};
  if (kernel.privateBytes > 0)
    return Error{who + "keeps " + std::to_string(kernel.privateBytes) +
                 " bytes per lane in memory"};
  if (gpu.getOccupancy(kernel.vectorRegisters, kernel.ldsBytes,
                       kernel.workgroup) == 0)
    return Error{who + "does not fit on a compute unit of " + gpu.chip + ": " +
                 std::to_string(kernel.vectorRegisters) + " registers, " +
                 std::to_string(kernel.ldsBytes) + " bytes of LDS"};
  return runtime::success();
}

Result<CodeObject> tarpon::compileGpuKernel(const KernelSource &source,
                                            const GpuTarget &gpu) {
  Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(source, gpu);
  if (!emitted)
    return emitted.error();
  return compileGpuKernel(*emitted, gpu);
}

Result<CodeObject> tarpon::compileGpuKernel(EmittedGpuKernel &emitted,
                                            const GpuTarget &gpu) {
  Result<CodeObject> object = compileCodeObject(emitted.getModule(), gpu);
  if (!object)
    return object.error();
  for (const KernelResources &kernel : object->kernels)
    if (Status status = checkResources(kernel, gpu); !status)
      return status.error();
  return object;
}
