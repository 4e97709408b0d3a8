//===- GpuCompiler.h - Launches to code objects -----------------*- C++ -*-===//
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

/// A kernel as its solver has emitted it, with mathematics that the hardware
/// lacks expanded: what the emulated device runs, and code objects are made of.
class EmittedGpuKernel {
public:
  /// The error names the kernel and says what is wrong with it.
  static runtime::Result<EmittedGpuKernel> emit(const KernelSource &kernel,
                                                const GpuTarget &gpu);
  /// What `print` has written.
  static runtime::Result<EmittedGpuKernel> parse(llvm::ArrayRef<char> text);
  /// Lanes of a workgroup of what `print` has written.
  static runtime::Result<int64_t> readWorkgroup(llvm::ArrayRef<char> text);

  mlir::gpu::GPUModuleOp getModule();
  mlir::gpu::GPUFuncOp getFunction();
  std::string print();

private:
  EmittedGpuKernel();

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The code object of one kernel. A kernel that spills registers to
/// memory, or that takes more than the GPU has, is an error.
runtime::Result<CodeObject> compileGpuKernel(const KernelSource &kernel,
                                             const GpuTarget &gpu);
/// The same of what is emitted already.
runtime::Result<CodeObject> compileGpuKernel(EmittedGpuKernel &kernel,
                                             const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_GPUCOMPILER_H
