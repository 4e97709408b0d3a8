//===- NvidiaInstructions.cpp - The instructions of NVIDIA's GPUs ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuInstructions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

class NvidiaInstructions final : public GpuInstructions {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<NVVM::NVVMDialect>();
  }

  /// bar.sync, which orders global memory, too.
  void barrier(GpuKernelBuilder &b) const override {
    gpu::BarrierOp::create(b);
  }

  void setWavesPerEu(GpuKernelBuilder &b, gpu::GPUFuncOp kernel,
                     int64_t waves) const override;
  /// ptxas has no such fence: it schedules loads early by itself.
  void fenceSchedule(GpuKernelBuilder &) const override {}

  /// A pointer.
  BoundedBuffer bound(GpuKernelBuilder &, Value pointer,
                      Value bytes) const override {
    return {pointer, bytes};
  }
  Value loadBounded(GpuKernelBuilder &b, const BoundedBuffer &buffer,
                    Value offset, Value uniformOffset) const override;

  Value multiply(GpuKernelBuilder &, const MatrixShape &, Value, Value,
                 Value) const override {
    llvm_unreachable("the target's table has no matrix instructions");
  }
};

} // namespace

/// The number of workgroups on a multiprocessor.
void NvidiaInstructions::setWavesPerEu(GpuKernelBuilder &b,
                                       gpu::GPUFuncOp kernel,
                                       int64_t waves) const {
  const GpuTarget &gpu = b.getGpu();
  int64_t lanes = waves * gpu.simdsPerUnit * gpu.waveSize;
  int64_t groups = std::max<int64_t>(1, lanes / b.getWorkgroup());
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(static_cast<int32_t>(groups)));
}

/// Lanes outside read the buffer's start, which exists, and drop it.
Value NvidiaInstructions::loadBounded(GpuKernelBuilder &b,
                                      const BoundedBuffer &buffer, Value offset,
                                      Value uniformOffset) const {
  constexpr int64_t kBytes = 16;
  Value at = b.add(offset, uniformOffset);
  Value isInside = b.ult(at, buffer.bytes);
  at = b.select(isInside, at, b.cstLike(b.getI32Type(), 0));
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), at);
  VectorType type = b.vec(b.getI32Type(), kBytes / 4);
  Value loaded =
      LLVM::LoadOp::create(b, type, b.offset(buffer.start, wide), kBytes);
  return b.select(isInside, loaded, b.cstLike(type, 0));
}

const GpuInstructions &tarpon::getNvidiaGpuInstructions() {
  static const NvidiaInstructions instructions;
  return instructions;
}
