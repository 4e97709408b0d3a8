//===- GpuCodegen.h - Code for GPUs by one of LLVM's backends ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_GPUCODEGEN_H
#define TARPON_TARGETS_GPU_GPUCODEGEN_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/CodeGen.h"

#include <memory>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tarpon {

/// The vendor's part of code generation.
struct GpuCodegen {
  /// Registers the dialects of kernels, with the interfaces that translate them
  /// to LLVM.
  void (*registerDialects)(mlir::DialectRegistry &registry);
  /// The first operation that needs a library, or null.
  mlir::Operation *(*findLibraryCall)(mlir::gpu::GPUModuleOp module);
  /// Lowers the gpu.modules in `holder` to dialects that are translated.
  mlir::LogicalResult (*lower)(mlir::ModuleOp holder, const GpuTarget &target);
  runtime::Result<std::unique_ptr<llvm::TargetMachine>> (*makeMachine)(
      const GpuTarget &target);
  void (*addFlags)(llvm::Module &module);
};

/// Compiles every kernel of the module, which is not changed. The error names
/// the kernel module and says what is wrong with it.
runtime::Result<std::vector<char>>
generateGpuCode(mlir::gpu::GPUModuleOp module, const GpuTarget &target,
                const GpuCodegen &codegen, llvm::CodeGenFileType type);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_GPUCODEGEN_H
