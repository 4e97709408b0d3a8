//===- NvvmLowering.cpp - Lowers GPU kernels to LLVM's dialect ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own pass (convert-gpu-to-nvvm) calls CUDA's device library for
// functions that LLVM's backend can select without it. This conversion uses
// MLIR's patterns, but prefers those for the backend.
//
//===----------------------------------------------------------------------===//

#include "NvvmLowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tarpon;

/// Returns true for mathematical functions that NVPTX selects instructions for.
/// It has none for exp, log and pow, and only approximate ones for sin and cos.
static bool isSelected(Operation *op) {
  return !isa<math::MathDialect>(op->getDialect()) ||
         isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::Exp2Op, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

Operation *tarpon::findDeviceLibraryCall(gpu::GPUModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (isSelected(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Shared memory beyond 48 KiB must be dynamic (CUDA C++ Programming Guide,
/// "Shared Memory" of compute capability 7.x and later): the sized global of
/// the kernel becomes one whose size the launch decides, with a constant beside
/// it that tells the size. Its alignment is that of the widest swizzle.
static void makeLdsDynamic(gpu::GPUModuleOp module) {
  constexpr unsigned kShared = 3, kGlobal = 1;
  constexpr unsigned kAlignment = 1024;
  int64_t bytes = 0;
  module.walk([&](LLVM::GlobalOp global) {
    if (global.getAddrSpace() != kShared)
      return;
    auto array = cast<LLVM::LLVMArrayType>(global.getGlobalType());
    bytes += static_cast<int64_t>(array.getNumElements());
    global.setGlobalType(LLVM::LLVMArrayType::get(array.getElementType(), 0));
    global.setLinkage(LLVM::Linkage::External);
    global.setAlignment(kAlignment);
  });
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(b, module.getLoc(), b.getI32Type(),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         kLdsBytesName,
                         b.getI32IntegerAttr(static_cast<int32_t>(bytes)),
                         /*alignment=*/4, kGlobal);
}

/// A launch always has the lanes that the kernel was compiled for. Without a
/// number of workgroups that a unit should hold, ptxas spills a few registers
/// to make room for more of them.
static void boundWorkgroup(LLVM::LLVMFuncOp kernel) {
  Attribute lanes = kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
  if (!lanes)
    return;
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), lanes);
  StringRef least = NVVM::NVVMDialect::getMinctasmAttrName();
  if (!kernel->hasAttr(least))
    kernel->setAttr(least, OpBuilder(kernel).getI32IntegerAttr(1));
}

static LogicalResult convert(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(32);
  LLVMTypeConverter converter(context, options);
  configureGpuToNVVMTypeConverter(converter);

  RewritePatternSet patterns(context);
  const PatternBenefit kFirst = 10;
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/true, kFirst);
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateGpuToNVVMConversionPatterns(converter, patterns);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                           math::MathDialect, scf::SCFDialect,
                           vector::VectorDialect>();
  target.addIllegalOp<gpu::GPUFuncOp>();
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  module.walk(boundWorkgroup);
  makeLdsDynamic(module);
  return success();
}

/// Ops of NVVM without an LLVM intrinsic become inline PTX.
static LogicalResult expandToPtx(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

LogicalResult tarpon::lowerToNvvm(ModuleOp holder) {
  for (auto module : holder.getOps<gpu::GPUModuleOp>())
    if (failed(convert(module)) || failed(expandToPtx(module)))
      return failure();
  PassManager passes(holder.getContext());
  OpPassManager &inner = passes.nest<gpu::GPUModuleOp>();
  inner.addPass(createCanonicalizerPass());
  inner.addPass(createCSEPass());
  return passes.run(holder);
}
