//===- KernelLowering.cpp - Lowers kernels to the LLVM dialect ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCodegen.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tarpon;

namespace {

/// Without hardware support, LLVM would turn a fused multiply-add into a call
/// of libm for every lane.
template <typename FmaOp>
struct SplitFma : public OpRewritePattern<FmaOp> {
  using OpRewritePattern<FmaOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(FmaOp op,
                                PatternRewriter &rewriter) const override {
    Value a = op->getOperand(0), b = op->getOperand(1), c = op->getOperand(2);
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), a, b);
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, c);
    return success();
  }
};

} // namespace

/// Expands functions for which LLVM would call libm.
static LogicalResult expandMath(ModuleOp module, const TargetInfo &target) {
  RewritePatternSet patterns(module.getContext());
  static constexpr StringLiteral kExpanded[] = {"math.exp", "math.log",
                                                "math.tanh", "math.erf"};
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(kExpanded, name);
  });
  if (!target.hasFma)
    patterns.add<SplitFma<math::FmaOp>, SplitFma<vector::FMAOp>>(
        module.getContext());
  return applyPatternsGreedily(module, std::move(patterns));
}

static bool usesMath(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        bool isFma = isa<vector::FMAOp>(op);
        return isFma || isa<math::MathDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Converts all dialects in one pass over the kernel.
static LogicalResult convertToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

LogicalResult tarpon::lowerKernel(ModuleOp module, const TargetInfo &target) {
  PassManager cleanup(module.getContext());
  cleanup.enableVerifier(false);
  cleanup.addPass(createCanonicalizerPass());
  cleanup.addPass(createCSEPass());
  if (failed(cleanup.run(module)))
    return failure();
  if (usesMath(module) && failed(expandMath(module, target)))
    return failure();
  return convertToLLVM(module);
}
