//===- GpuKernelBuilder.h - Emits the body of one GPU kernel ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU kernel is a gpu.func in a gpu.module of its own. Its arguments are a
// global pointer per buffer and an i32 per parameter (GpuLaunch.h has the
// layout); a task is a workgroup, whose lanes share it. The emitting functions
// of host solvers work here unchanged, as long as they spread the work over the
// lanes and need no scratch. Indices that are divided are below 2^31, so that
// divisions are done in 32 bits (IndexDivision.h). Only GPUs have LDS,
// barriers, communication between lanes, and matrix instructions.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_GPU_GPUKERNELBUILDER_H
#define TARPON_KERNELS_GPU_GPUKERNELBUILDER_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/Solver.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tarpon {

class GpuInstructions;

/// LLVM's numbers of the address spaces.
enum class GpuSpace : unsigned { Global = 1, Lds = 3 };

/// The shape of a GPU kernel's function.
struct GpuKernelShape {
  int64_t buffers = 0, params = 0;
  /// Lanes of a workgroup, a multiple of the wave size.
  int64_t workgroup = 256;
  /// Bytes of LDS per workgroup.
  int64_t ldsBytes = 0;
};

class GpuKernelBuilder : public KernelBuilder {
public:
  /// Builds the gpu.module `symbol` with the kernel of that name in `module`.
  GpuKernelBuilder(mlir::ModuleOp module, llvm::StringRef symbol,
                   const GpuTarget &gpu, const GpuKernelShape &shape);
  void finish() override;

  /// Registers the dialects of GPU kernels.
  static void registerDialects(mlir::DialectRegistry &registry);

  const GpuTarget &getGpu() const { return gpu; }
  /// Those of the GPU's vendor.
  const GpuInstructions &getInstructions() const { return instructions; }
  /// The lanes of a workgroup.
  int64_t getWorkgroup() const { return shape.workgroup; }

  Value getBuffer(int64_t index) override;
  Value getParam(int64_t index) override;
  Value getFloatParam(int64_t index) override;
  int64_t getLaneCount() const override {
    return shape.workgroup * groupsPerTask;
  }
  Value getLane() override;
  unsigned getAlignment(mlir::Type type) const override;
  /// From here on, `groups` neighbouring workgroups share a task, with the
  /// lanes of all of them. The launch must have that many workgroups per task.
  /// They have no LDS in common.
  void shareTasks(int64_t groups);
  /// From here on, the parameters of these indices have 64 bits, the upper half
  /// of which the last parameters hold, in the same order.
  void setWideParams(llvm::ArrayRef<int64_t> indices);

  /// The workgroup's LDS.
  Value getLds();
  /// Waits until all lanes of the workgroup are here; then their writes to LDS
  /// can be read.
  void barrier();
  /// Limits the registers, so that this many waves run on a SIMD at a time.
  void setWavesPerEu(int64_t waves);

private:
  const GpuTarget &gpu;
  const GpuInstructions &instructions;
  GpuKernelShape shape;
  int64_t groupsPerTask = 1;
  llvm::SmallVector<int64_t> wideParams;
  /// The target as host emission sees it: with vectors of one lane.
  TargetInfo scalarTarget;
  mlir::gpu::GPUFuncOp function;
  mlir::Value lane;
};

} // namespace tarpon

#endif // TARPON_KERNELS_GPU_GPUKERNELBUILDER_H
