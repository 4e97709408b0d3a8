//===- EmittedGpuKernel.cpp - A GPU kernel as its solver emits it ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/EmittedGpuKernel.h"

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
  GpuKernelBuilder::registerDialects(registry);
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
