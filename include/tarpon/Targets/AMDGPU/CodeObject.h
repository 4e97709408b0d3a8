//===- CodeObject.h - Compiles GPU modules to code objects ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a gpu.module in process, with LLVM's backend and lld's library and
// without ROCm. Mathematical functions that would need ROCm's device library
// (OCML) is an error: tanh, erf and the like have to be expanded before.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_CODEOBJECT_H
#define TARPON_TARGETS_AMDGPU_CODEOBJECT_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/GPU/KernelResources.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>
#include <vector>

namespace tarpon {

/// A HIP code object, version 5, which hipModuleLoadData takes.
struct CodeObject {
  std::vector<char> bytes;
  /// The kernels, in the order of the metadata.
  std::vector<KernelResources> kernels;
};

/// Registers the dialects of kernels, with the interfaces that translate them
/// to LLVM.
void registerGpuKernelDialects(mlir::DialectRegistry &registry);

/// Compiles every kernel of the module, which is not changed. The error names
/// the kernel module and says what is wrong with it.
runtime::Result<CodeObject> compileCodeObject(mlir::gpu::GPUModuleOp module,
                                              const GpuTarget &target);

/// Compiles to assembly text instead.
runtime::Result<std::string> printGpuAssembly(mlir::gpu::GPUModuleOp module,
                                              const GpuTarget &target);

/// Reads the metadata of a code object's kernels.
runtime::Result<std::vector<KernelResources>>
readKernelResources(llvm::ArrayRef<char> codeObject);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_CODEOBJECT_H
