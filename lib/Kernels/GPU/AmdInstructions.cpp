//===- AmdInstructions.cpp - The instructions of AMD's GPUs ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuInstructions.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace tarpon;

namespace {

class AmdInstructions final : public GpuInstructions {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<amdgpu::AMDGPUDialect, ROCDL::ROCDLDialect>();
  }

  void barrier(GpuKernelBuilder &b) const override {
    amdgpu::LDSBarrierOp::create(b);
  }

  void setWavesPerEu(GpuKernelBuilder &b, gpu::GPUFuncOp kernel,
                     int64_t waves) const override {
    kernel->setAttr("rocdl.waves_per_eu",
                    b.getI32IntegerAttr(static_cast<int32_t>(waves)));
  }

  void fenceSchedule(GpuKernelBuilder &b) const override {
    amdgpu::SchedBarrierOp::create(
        b, amdgpu::sched_barrier_opt_enumAttr::get(
               b.getContext(), amdgpu::sched_barrier_opt_enum::none));
  }

  /// A buffer resource.
  BoundedBuffer bound(GpuKernelBuilder &b, Value pointer,
                      Value bytes) const override;
  Value loadBounded(GpuKernelBuilder &b, const BoundedBuffer &buffer,
                    Value offset, Value uniformOffset) const override;

  /// Those of CDNA go to the lanes' places in a row, and RDNA has none.
  int64_t getMostCopyGroups() const override { return 0; }
  void copyToLds(GpuKernelBuilder &, Value, Value, Value, bool) const override {
    llvm_unreachable("there are no copies");
  }
  void commitCopies(GpuKernelBuilder &) const override {}
  void waitForCopies(GpuKernelBuilder &, int64_t) const override {}

  void fenceCopies(GpuKernelBuilder &) const override {}
  void beginProducts(GpuKernelBuilder &) const override {}
  void commitProducts(GpuKernelBuilder &) const override {}
  void waitForProducts(GpuKernelBuilder &, int64_t) const override {}
  Value multiplyGroup(GpuKernelBuilder &, const MatrixShape &, Type, Value,
                      Value, Value) const override {
    llvm_unreachable("AMD's GPUs have no warpgroups");
  }

  Value loadFragment(GpuKernelBuilder &, Value) const override {
    llvm_unreachable("AMD's GPUs have no mma.sync");
  }
  Value multiply(GpuKernelBuilder &b, const MatrixShape &shape, Value left,
                 Value right, Value sum) const override;
};

} // namespace

BoundedBuffer AmdInstructions::bound(GpuKernelBuilder &b, Value pointer,
                                     Value bytes) const {
  Value flags = b.cstLike(
      b.getI32Type(),
      static_cast<double>(static_cast<int32_t>(b.getGpu().bufferFlags)));
  Value stride = b.cstLike(b.getI16Type(), 0);
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), bytes);
  auto resource = LLVM::LLVMPointerType::get(b.getContext(), 8);
  return {ROCDL::MakeBufferRsrcOp::create(b, resource, pointer, stride, wide,
                                          flags),
          bytes};
}

Value AmdInstructions::loadBounded(GpuKernelBuilder &b,
                                   const BoundedBuffer &buffer, Value offset,
                                   Value uniformOffset) const {
  VectorType type = b.vec(b.getI32Type(), 4);
  Value cachePolicy = b.cstLike(b.getI32Type(), 0);
  return ROCDL::RawPtrBufferLoadOp::create(
      b, type, buffer.start, offset, uniformOffset, cachePolicy, ArrayAttr(),
      ArrayAttr(), ArrayAttr());
}

Value AmdInstructions::multiply(GpuKernelBuilder &b, const MatrixShape &shape,
                                Value left, Value right, Value sum) const {
  if (b.getGpu().matrixUnit == MatrixUnit::Mfma)
    return amdgpu::MFMAOp::create(b, sum.getType(), shape.m, shape.n, shape.k,
                                  /*blocks=*/1, left, right, sum);
  return amdgpu::WMMAOp::create(b, sum.getType(), shape.m, shape.n, shape.k,
                                left, right, sum);
}

const GpuInstructions &tarpon::getAmdGpuInstructions() {
  static const AmdInstructions instructions;
  return instructions;
}
