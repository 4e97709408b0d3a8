//===- ModelLoading.h - A model and its compiler ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first steps of every compilation of a model.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_MODELLOADING_H
#define TARPON_LIB_AUTOTUNE_CHOICE_MODELLOADING_H

#include "tarpon/Import/OnnxImport.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>

namespace tarpon {

/// A target with the compiler of its kernels, which uses the kernel cache.
struct TargetCompiler {
  std::shared_ptr<const Target> target;
  std::unique_ptr<KernelCompiler> kernels;
};

runtime::Result<TargetCompiler>
makeTargetCompiler(const std::string &name, const TargetOptions &options);

/// Returns an error if kernels of the target called `name` have to run here, as
/// nothing models their times, and cannot.
runtime::Status checkRunsHere(const TargetCompiler &compiler,
                              const std::string &name);

/// A context with the dialects of imported models.
std::unique_ptr<mlir::MLIRContext> makeModelContext();

/// Imports a model, which is opened first if it is null. An error of `onRemark`
/// ends it.
runtime::Result<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, std::unique_ptr<OnnxModel> &model,
            const std::string &path, const ImportOptions &options,
            llvm::function_ref<runtime::Status(const std::string &)> onRemark);

/// Imports an ONNX file.
runtime::Result<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, const std::string &path,
            const ImportOptions &options,
            llvm::function_ref<runtime::Status(const std::string &)> onRemark);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_MODELLOADING_H
