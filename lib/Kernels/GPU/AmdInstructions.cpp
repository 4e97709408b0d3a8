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

#include <algorithm>

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
  StringRef getDeviceScope() const override { return "agent"; }

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

  /// CDNA's loads to LDS; RDNA has none.
  CopyForm getCopyForm(const GpuTarget &gpu) const override {
    if (gpu.directToLdsBytes == 0)
      return {};
    return {gpu.directToLdsBytes, /*mostGroups=*/4, /*inRow=*/true};
  }
  void copyRow(GpuKernelBuilder &b, Value lds, const BoundedBuffer &buffer,
               Value offset, Value uniformOffset,
               int64_t further) const override;
  Value takeFirstLane(GpuKernelBuilder &b, Value value) const override {
    return ROCDL::ReadfirstlaneOp::create(b, value.getType(), value);
  }
  void copyToLds(GpuKernelBuilder &, Value, Value, Value, bool) const override {
    llvm_unreachable("AMD's copies are in rows");
  }
  void commitCopies(GpuKernelBuilder &) const override {}
  void waitForCopies(GpuKernelBuilder &b, int64_t left,
                     int64_t copies) const override;
  Value loadStage(GpuKernelBuilder &b, Value pointer) const override;

  void fenceCopies(GpuKernelBuilder &) const override {}
  void beginProducts(GpuKernelBuilder &) const override {}
  void commitProducts(GpuKernelBuilder &) const override {}
  void waitForProducts(GpuKernelBuilder &, int64_t) const override {}
  Value multiplyGroup(GpuKernelBuilder &, const MatrixShape &, Type, Value,
                      Value, Value) const override {
    llvm_unreachable("AMD's GPUs have no warpgroups");
  }

  Value loadFragment(GpuKernelBuilder &, Value, bool) const override {
    llvm_unreachable("AMD's GPUs have no mma.sync");
  }
  Value roundToTf32(GpuKernelBuilder &, Value) const override {
    llvm_unreachable("AMD's GPUs have no TF32");
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

//===----------------------------------------------------------------------===//
// Loads to LDS
//===----------------------------------------------------------------------===//

/// LLVM waits for all loads to LDS before each read of LDS that it cannot tell
/// from them. The barriers of a kernel order both, and LLVM moves nothing over
/// them, so that loads and reads of LDS count as two scopes between barriers.
static ArrayAttr makeScope(GpuKernelBuilder &b, const char *name) {
  MLIRContext *context = b.getContext();
  auto domain = LLVM::AliasScopeDomainAttr::get(context, b.getStringAttr("lds"),
                                                /*description=*/StringAttr());
  return b.getArrayAttr(LLVM::AliasScopeAttr::get(
      context, b.getStringAttr(name), domain, /*description=*/StringAttr()));
}

static constexpr const char *kLoads = "loads to LDS", *kReads = "reads of LDS";

/// "AMD Instinct MI300 ISA", section 9.1.9: lane i writes the bytes from M0 +
/// the instruction's offset + i * 4 on, or i * 16; a lane whose bytes are out
/// of range writes zeros.
void AmdInstructions::copyRow(GpuKernelBuilder &b, Value lds,
                              const BoundedBuffer &buffer, Value offset,
                              Value uniformOffset, int64_t further) const {
  auto cst = [&](int64_t value) {
    return b.cstLike(b.getI32Type(), static_cast<double>(value));
  };
  ROCDL::RawPtrBufferLoadLdsOp::create(
      b, buffer.start, lds, cst(b.getGpu().directToLdsBytes), offset,
      uniformOffset, cst(further), /*aux=*/cst(0), makeScope(b, kLoads),
      ArrayAttr(), ArrayAttr());
}

/// vmcnt, of at most 63, counts instructions: bits 3:0 and 15:14, where the
/// others name no other count.
void AmdInstructions::waitForCopies(GpuKernelBuilder &b, int64_t left,
                                    int64_t copies) const {
  constexpr int64_t kMost = 63;
  constexpr uint32_t kOtherCounts = 0xf70;
  auto count = static_cast<uint32_t>(std::min(left * copies, kMost));
  ROCDL::SWaitcntOp::create(b,
                            kOtherCounts | (count & 15) | (count >> 4) << 14);
}

Value AmdInstructions::loadStage(GpuKernelBuilder &b, Value pointer) const {
  auto load = LLVM::LoadOp::create(b, b.vec(b.getI32Type(), 4), pointer,
                                   /*alignment=*/16);
  load.setAliasScopesAttr(makeScope(b, kReads));
  load.setNoaliasScopesAttr(makeScope(b, kLoads));
  return load;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

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
