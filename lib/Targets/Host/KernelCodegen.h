//===- KernelCodegen.h - Compiles one kernel by MLIR and LLVM ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stateless part of the kernel compiler. Every call has MLIR and LLVM
// contexts of its own, so that calls may run at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_HOST_KERNELCODEGEN_H
#define TARPON_LIB_TARGETS_HOST_KERNELCODEGEN_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/CodeGen.h"

#include <string>
#include <vector>

namespace tarpon {

/// Emits, lowers, optimises and compiles one kernel, to an object or to
/// assembly text. The object is PIC and exports the kernel's symbol.
runtime::Result<std::vector<char>> compileKernel(const KernelSource &kernel,
                                                 const TargetInfo &target,
                                                 llvm::CodeGenFileType type);

/// Prints the kernel as its solver emitted it, in MLIR. A malformed kernel is
/// printed in generic form behind the verifier's errors.
std::string printEmittedKernel(const KernelSource &kernel,
                               const TargetInfo &target);

/// Rewrites an emitted kernel to the LLVM dialect. Diagnostics go to the
/// context.
mlir::LogicalResult lowerKernel(mlir::ModuleOp module,
                                const TargetInfo &target);

/// The target's features in LLVM's spelling, "+avx2,-avx512f,...": exactly
/// those of TargetInfo::features and the x86-64 baseline, so that a package
/// never needs more than it says.
std::string getFeatureString(const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_HOST_KERNELCODEGEN_H
