//===- AmdAssembly.h - Reads machine code of AMD GPUs -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All generations share one reader, since names and operands of an instruction
// tell what it does.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_MODEL_AMDASSEMBLY_H
#define TARPON_TARGETS_AMDGPU_MODEL_AMDASSEMBLY_H

#include "tarpon/Targets/GPU/Model/StaticModel.h"

namespace tarpon {

/// Reads one line of assembly, without comments and labels.
MachineInstruction readInstruction(llvm::StringRef line);

/// Reads assembly text up to the end of the first kernel: labels, instructions,
/// and directives, which are skipped.
runtime::Result<MachineCode> parseAssembly(llvm::StringRef text);

/// The text of one kernel of a code object, with labels where branches go.
runtime::Result<std::string> disassembleKernel(llvm::ArrayRef<char> codeObject,
                                               llvm::StringRef symbol,
                                               const GpuTarget &gpu);

/// Profiles a kernel from its assembly.
runtime::Result<KernelProfile> profileAssembly(llvm::StringRef assembly,
                                               const KernelResources &resources,
                                               const GpuTarget &gpu);

/// Profiles a kernel of a code object.
runtime::Result<KernelProfile> profileKernel(llvm::ArrayRef<char> codeObject,
                                             llvm::StringRef symbol,
                                             const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_MODEL_AMDASSEMBLY_H
