//===- GpuKernelBuilder.cpp - Emits the body of one GPU kernel ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

#include "GpuInstructions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

static constexpr llvm::StringLiteral kLdsName = "lds";

void GpuKernelBuilder::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  getAmdGpuInstructions().registerDialects(registry);
  getNvidiaGpuInstructions().registerDialects(registry);
}

const GpuInstructions &tarpon::getGpuInstructions(GpuVendor vendor) {
  return vendor == GpuVendor::AMD ? getAmdGpuInstructions()
                                  : getNvidiaGpuInstructions();
}

/// Describes a target of scalars: each lane has its own.
static TargetInfo makeScalarTarget(const GpuTarget &gpu) {
  TargetInfo target;
  target.arch = gpu.arch().str();
  target.cpu = gpu.chip;
  target.vectorBits = 32;
  target.hasFma = true;
  target.hasF16c = true;
  return target;
}

static Type getPointer(MLIRContext *context, GpuSpace space) {
  return LLVM::LLVMPointerType::get(context, static_cast<unsigned>(space));
}

GpuKernelBuilder::GpuKernelBuilder(ModuleOp module, StringRef symbol,
                                   const GpuTarget &gpu,
                                   const GpuKernelShape &shape)
    : KernelBuilder(module.getContext(), scalarTarget), gpu(gpu),
      instructions(getGpuInstructions(gpu.vendor)), shape(shape),
      scalarTarget(makeScalarTarget(gpu)) {
  setInsertionPointToEnd(module.getBody());
  auto kernels = gpu::GPUModuleOp::create(*this, symbol);
  setInsertionPointToStart(kernels.getBody());
  if (shape.ldsBytes > 0) {
    auto bytes = LLVM::LLVMArrayType::get(getI8Type(), shape.ldsBytes);
    LLVM::GlobalOp::create(*this, bytes, /*isConstant=*/false,
                           LLVM::Linkage::Internal, kLdsName, Attribute(),
                           /*alignment=*/16,
                           static_cast<unsigned>(GpuSpace::Lds));
  }
  SmallVector<Type> arguments(shape.buffers,
                              getPointer(getContext(), GpuSpace::Global));
  arguments.append(shape.params, getI32Type());
  function =
      gpu::GPUFuncOp::create(*this, symbol, getFunctionType(arguments, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), getUnitAttr());
  int32_t block[] = {static_cast<int32_t>(shape.workgroup), 1, 1};
  function.setKnownBlockSize(ArrayRef<int32_t>(block));
  setInsertionPointToStart(&function.getBody().front());
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(*this, getI64Type(), index);
  };
  begin = toI64(gpu::BlockIdOp::create(*this, gpu::Dimension::x));
  end = add(begin, 1);
  lane = toI64(gpu::ThreadIdOp::create(*this, gpu::Dimension::x));
}

void GpuKernelBuilder::finish() { gpu::ReturnOp::create(*this); }

Value GpuKernelBuilder::getBuffer(int64_t index) {
  return function.getArgument(index);
}

void GpuKernelBuilder::setWideParams(ArrayRef<int64_t> indices) {
  wideParams.assign(indices.begin(), indices.end());
}

Value GpuKernelBuilder::getParam(int64_t index) {
  auto widen = [&](Value half) -> Value {
    return arith::ExtSIOp::create(*this, getI64Type(), half);
  };
  Value low = function.getArgument(shape.buffers + index);
  const auto *wide = llvm::find(wideParams, index);
  if (wide == wideParams.end())
    return widen(low);
  Value high = function.getArguments().take_back(wideParams.end() - wide)[0];
  Value zeroExtended = arith::ExtUIOp::create(*this, getI64Type(), low);
  Value shifted = arith::ShLIOp::create(*this, widen(high), cst(32));
  return arith::OrIOp::create(*this, shifted, zeroExtended);
}

Value GpuKernelBuilder::getFloatParam(int64_t index) {
  return arith::BitcastOp::create(*this, getF32Type(),
                                  function.getArgument(shape.buffers + index));
}

Value GpuKernelBuilder::getLane() { return lane; }

unsigned GpuKernelBuilder::getAlignment(Type type) const {
  auto vector = dyn_cast<VectorType>(type);
  int64_t bits = vector ? vector.getNumElements() *
                              vector.getElementType().getIntOrFloatBitWidth()
                        : type.getIntOrFloatBitWidth();
  // The largest power of two that divides the access.
  int64_t bytes = std::max<int64_t>(1, bits / 8);
  return static_cast<unsigned>(std::min(bytes & -bytes, gpu.accessAlignment));
}

void GpuKernelBuilder::shareTasks(int64_t groups) {
  assert(groupsPerTask == 1 && "tasks are shared already");
  groupsPerTask = groups;
  Value group = rem(begin, groups);
  begin = div(begin, groups);
  end = add(begin, 1);
  lane = add(mul(group, shape.workgroup), lane);
}

Value GpuKernelBuilder::getLds() {
  return LLVM::AddressOfOp::create(
      *this, getPointer(getContext(), GpuSpace::Lds), kLdsName);
}

void GpuKernelBuilder::barrier() { instructions.barrier(*this); }

void GpuKernelBuilder::setWavesPerEu(int64_t waves) {
  instructions.setWavesPerEu(*this, function, waves);
}
