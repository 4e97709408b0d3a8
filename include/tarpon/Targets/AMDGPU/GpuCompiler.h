//===- GpuCompiler.h - Compiles launches to code objects --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_GPUCOMPILER_H
#define TARPON_TARGETS_AMDGPU_GPUCOMPILER_H

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/CodeObject.h"

#include "mlir/IR/BuiltinOps.h"
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

/// Compiles one kernel. A kernel that spills registers to memory, or that needs
/// more resources than the GPU has, is an error.
runtime::Result<CodeObject> compileGpuKernel(const KernelSource &kernel,
                                             const GpuTarget &gpu);
/// Compiles a kernel that was emitted before.
runtime::Result<CodeObject> compileGpuKernel(EmittedGpuKernel &kernel,
                                             const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_GPUCOMPILER_H
