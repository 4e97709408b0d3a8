//===- MachineCode.h - Instructions of a compiled kernel --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input of the static model: a kernel's instructions by the units that they
// keep busy, its basic blocks, and its loops. All generations share it, since
// names and operands of an instruction tell what it does.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_MODEL_MACHINECODE_H
#define TARPON_TARGETS_AMDGPU_MODEL_MACHINECODE_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

enum class InstructionKind : uint8_t {
  Matrix,
  Vector,
  Scalar,
  ScalarLoad,
  LdsRead,
  LdsWrite,
  GlobalRead,
  GlobalWrite, ///< atomics too
  GlobalToLds,
  Wait,
  Barrier,
  Branch,
  End,
  Other
};

/// The number of outstanding accesses of each kind that a wait allows.
struct WaitCounts {
  std::optional<int64_t> reads, writes, lds, scalars;
};

struct MachineInstruction {
  InstructionKind kind = InstructionKind::Other;
  std::string mnemonic;
  /// For Lds and Global kinds: bytes per lane.
  int64_t bytes = 0;
  /// For Vector: the issue slots it takes, in multiples of a plain
  /// instruction's.
  int64_t rate = 1;
  /// Multiplications and additions of floats: per lane of Vector, of the whole
  /// wave for Matrix.
  double flops = 0;
  /// For Matrix: its shape.
  int64_t m = 0, n = 0, k = 0;
  runtime::DType input = runtime::DType::F32;
  /// The registers that a Matrix or an accumulating Vector instruction adds to;
  /// empty for other instructions.
  std::string accumulator;
  WaitCounts wait;
  /// For Branch: the label.
  std::string target;
  bool isConditional = false;
};

struct BasicBlock {
  std::string label;
  std::vector<MachineInstruction> instructions;
  /// The indices of the blocks that may follow.
  std::vector<size_t> successors;
};

struct MachineLoop {
  /// The indices of its blocks, ascending.
  std::vector<size_t> blocks;
};

/// A kernel's blocks in the order of the code.
class MachineCode {
public:
  /// Reads assembly text up to the end of the first kernel: labels,
  /// instructions, and directives, which are skipped. An error if it has no
  /// instructions, or a branch to an unknown label.
  static runtime::Result<MachineCode> parse(llvm::StringRef text);

  llvm::ArrayRef<BasicBlock> getBlocks() const { return blocks; }

  /// The natural loops, one per back edge.
  std::vector<MachineLoop> findLoops() const;

  /// The innermost loop with the most floating-point work; none if no loop does
  /// any.
  std::optional<MachineLoop> findInnerLoop() const;

  double countFlops(const MachineLoop &loop, int64_t waveSize) const;

private:
  void connect();

  std::vector<BasicBlock> blocks;
};

/// Reads one line of assembly, without comments and labels.
MachineInstruction readInstruction(llvm::StringRef line);

/// The text of one kernel of a code object, with labels where branches go.
runtime::Result<std::string> disassembleKernel(llvm::ArrayRef<char> codeObject,
                                               llvm::StringRef symbol,
                                               const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_MODEL_MACHINECODE_H
