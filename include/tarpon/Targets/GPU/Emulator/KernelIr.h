//===- KernelIr.h - Kernels of GPUs as text in MLIR -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_KERNELIR_H
#define TARPON_TARGETS_GPU_EMULATOR_KERNELIR_H

#include "tarpon/Runtime/Result.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/ArrayRef.h"

namespace tarpon {

/// Parses a module that holds a gpu.module with a kernel, in the dialects that
/// the context has loaded.
runtime::Result<mlir::OwningOpRef<mlir::ModuleOp>>
parseKernelIr(mlir::MLIRContext &context, llvm::ArrayRef<char> text);

/// Returns the gpu.module of a parsed or emitted kernel, and its function.
mlir::gpu::GPUModuleOp getKernelModule(mlir::ModuleOp module);
mlir::gpu::GPUFuncOp getKernelFunction(mlir::ModuleOp module);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_EMULATOR_KERNELIR_H
