//===- EmittedGpuKernel.h - A GPU kernel as its solver emits it -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMITTEDGPUKERNEL_H
#define TARPON_TARGETS_GPU_EMITTEDGPUKERNEL_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/Solver.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>

namespace tarpon {

/// A kernel as its solver has emitted it, with functions that the hardware
/// lacks expanded. The emulated device runs it, and code objects are compiled
/// from it.
class EmittedGpuKernel {
public:
  /// Emits a kernel. The error names the kernel and says what is wrong with it.
  static runtime::Result<EmittedGpuKernel> emit(const KernelSource &kernel,
                                                const GpuTarget &gpu);
  /// Parses the output of `print`.
  static runtime::Result<EmittedGpuKernel> parse(llvm::ArrayRef<char> text);
  /// Reads the number of lanes of a workgroup from the output of `print`.
  static runtime::Result<int64_t> readWorkgroup(llvm::ArrayRef<char> text);

  mlir::gpu::GPUModuleOp getModule();
  mlir::gpu::GPUFuncOp getFunction();
  std::string print();

private:
  EmittedGpuKernel();

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_EMITTEDGPUKERNEL_H
