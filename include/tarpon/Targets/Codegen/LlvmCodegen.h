//===- LlvmCodegen.h - LLVM's part in compiling kernels ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_CODEGEN_LLVMCODEGEN_H
#define TARPON_TARGETS_CODEGEN_LLVMCODEGEN_H

#include "tarpon/Runtime/Result.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

#include <vector>

namespace tarpon {

/// The options of the machines that kernels are compiled for.
llvm::TargetOptions getKernelOptions();

/// Optimises a module of kernels, which arrive tiled, and unrolled where that
/// is useful, and returns its object file or assembly text.
runtime::Result<std::vector<char>>
generateMachineCode(llvm::Module &module, llvm::TargetMachine &machine,
                    llvm::CodeGenFileType type);

} // namespace tarpon

#endif // TARPON_TARGETS_CODEGEN_LLVMCODEGEN_H
