//===- ReferencePackage.h - Makes packages to compare with ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_REFERENCEPACKAGE_H
#define TARPON_LIB_AUTOTUNE_CHOICE_REFERENCEPACKAGE_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "mlir/IR/BuiltinOps.h"

namespace tarpon {

/// The simplified model in fp32 and nchw, not fused, every layer by the
/// reference solver. Its kernels are the host's: where `kernels` compiles for
/// another target, the package is for the host that `options` describe.
runtime::Result<runtime::Package>
compileReferencePackage(mlir::ModuleOp module, KernelCompiler &kernels,
                        const TargetOptions &options);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_REFERENCEPACKAGE_H
