//===- GpuLowering.cpp - Lowers GPU kernels to LLVM's dialect -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own pass (convert-gpu-to-rocdl) calls ROCm's device library for
// functions that LLVM's backend can expand without it. This conversion uses
// MLIR's patterns, but prefers those for the backend.
//
//===----------------------------------------------------------------------===//

#include "GpuLowering.h"

#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tarpon;

/// Returns true for mathematical functions that the backend expands itself,
/// with the hardware's instructions. For all others it would call a library.
static bool isNative(Operation *op) {
  return !isa<math::MathDialect>(op->getDialect()) ||
         isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CosOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::ExpOp, math::Exp2Op, math::FloorOp,
             math::FmaOp, math::LogOp, math::Log2Op, math::RoundEvenOp,
             math::RsqrtOp, math::SinOp, math::SqrtOp, math::TruncOp>(op);
}

Operation *tarpon::findLibraryCall(gpu::GPUModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (isNative(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Tells LLVM the number of lanes of a workgroup: its default of 256 would
/// limit the registers and stand in the code object.
static void boundWorkgroup(LLVM::LLVMFuncOp kernel) {
  ROCDL::ROCDLDialect::ReqdWorkGroupSizeAttrHelper required(
      kernel.getContext());
  if (!required.isAttrPresent(kernel))
    return;
  int64_t lanes = 1;
  for (int32_t size : required.getAttr(kernel).asArrayRef())
    lanes *= size;
  std::string text = std::to_string(lanes);
  ROCDL::ROCDLDialect::FlatWorkGroupSizeAttrHelper flat(kernel.getContext());
  flat.setAttr(kernel, StringAttr::get(kernel.getContext(), text + "," + text));
}

static LogicalResult convert(gpu::GPUModuleOp module, amdgpu::Chipset chipset) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(32);
  LLVMTypeConverter converter(context, options);
  amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);

  RewritePatternSet patterns(context);
  const PatternBenefit kFirst = 10;
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/true, kFirst);
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateAMDGPUToROCDLConversionPatterns(converter, patterns, chipset);
  populateGpuToROCDLConversionPatterns(converter, patterns,
                                       gpu::amd::Runtime::Unknown, chipset);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.addIllegalDialect<amdgpu::AMDGPUDialect, arith::ArithDialect,
                           cf::ControlFlowDialect, math::MathDialect,
                           scf::SCFDialect, vector::VectorDialect>();
  target.addIllegalOp<gpu::GPUFuncOp>();
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  module.walk(boundWorkgroup);
  return success();
}

LogicalResult tarpon::lowerGpuKernels(ModuleOp holder,
                                      const GpuTarget &target) {
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(target.chip);
  if (failed(chipset))
    return failure();
  for (auto module : holder.getOps<gpu::GPUModuleOp>())
    if (failed(convert(module, *chipset)))
      return failure();
  PassManager passes(holder.getContext());
  OpPassManager &inner = passes.nest<gpu::GPUModuleOp>();
  inner.addPass(createCanonicalizerPass());
  inner.addPass(createCSEPass());
  return passes.run(holder);
}
