//===- PtxInstruction.h - One statement of PTX ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_NVIDIA_MODEL_PTXINSTRUCTION_H
#define TARPON_LIB_TARGETS_NVIDIA_MODEL_PTXINSTRUCTION_H

#include "tarpon/Targets/GPU/Model/MachineCode.h"

#include "llvm/ADT/SmallVector.h"

namespace tarpon::ptx {

/// A statement as text: "@%p1 add.s32 %r1, %r2, 3".
struct Statement {
  llvm::StringRef predicate, mnemonic;
  /// In "mov.b64 {%r1, %r2}, %rd1", they are "{%r1, %r2}" and "%rd1".
  llvm::SmallVector<llvm::StringRef, 4> operands;
};

/// Tells what the instruction does, but for its registers.
MachineInstruction readInstruction(const Statement &statement);

/// Returns true if the first operand is what the instruction writes.
bool writesFirstOperand(llvm::StringRef mnemonic);

/// The operand to which an instruction adds products, or -1.
int getAddend(llvm::StringRef mnemonic);

} // namespace tarpon::ptx

#endif // TARPON_LIB_TARGETS_NVIDIA_MODEL_PTXINSTRUCTION_H
