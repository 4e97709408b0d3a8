//===- MachineCode.h - Instructions of a compiled kernel --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input of the static model: a kernel's instructions by the units that they
// keep busy, its basic blocks, and its loops. Vendors read it from their
// assembly.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_MODEL_MACHINECODE_H
#define TARPON_TARGETS_GPU_MODEL_MACHINECODE_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

enum class InstructionKind : uint8_t {
  Matrix,
  Vector,
  Scalar, ///< issued beside vector instructions
  ScalarLoad,
  LdsRead,
  LdsWrite,
  GlobalRead,
  GlobalWrite, ///< atomics too
  GlobalToLds,
  Commit, ///< ends a group of GlobalToLds, which a wait counts as one
  Wait,
  Barrier,
  Branch,
  End,
  Other
};

/// The number of outstanding accesses of each kind that a wait allows.
struct WaitCounts {
  std::optional<int64_t> reads, writes, lds, scalars;
  std::optional<int64_t> matrices = std::nullopt;
};

struct MachineInstruction {
  InstructionKind kind = InstructionKind::Other;
  std::string mnemonic;
  /// For Lds and Global kinds: bytes per lane. For Matrix: those that the unit
  /// reads from LDS by itself.
  int64_t bytes = 0;
  /// For Vector: the issue slots it takes, in multiples of a plain
  /// instruction's.
  int64_t rate = 1;
  /// Multiplications and additions of floats: per lane of Vector, of the whole
  /// wave for Matrix.
  double flops = 0;
  /// For Matrix: its shape, and the number of waves that execute it together,
  /// each an equal part of `flops`.
  int64_t m = 0, n = 0, k = 0, waves = 1;
  runtime::DType input = runtime::DType::F32;
  /// The registers that a Matrix or an accumulating Vector instruction adds to;
  /// empty for other instructions.
  std::string accumulator;
  WaitCounts wait;
  /// The registers by which instructions wait for each other, numbered from 0;
  /// empty where Wait instructions do that.
  std::vector<unsigned> reads, writes;
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

/// The blocks of a kernel in the order of the code.
class MachineCode {
public:
  /// Says in which order instructions execute.
  enum class Order : uint8_t {
    Program,  ///< as they are given
    Operands, ///< another assembler schedules each block once more
  };

  explicit MachineCode(Order order = Order::Program) : order(order) {}

  /// Append to the code.
  void addLabel(llvm::StringRef label);
  void add(MachineInstruction instruction);
  /// Changes what was added.
  void forEach(llvm::function_ref<void(MachineInstruction &)> change);
  /// Ends the code. An error if it has no instructions, or a branch to an
  /// unknown label.
  runtime::Status finish();

  Order getOrder() const { return order; }
  llvm::ArrayRef<BasicBlock> getBlocks() const { return blocks; }

  /// The natural loops, one per back edge.
  std::vector<MachineLoop> findLoops() const;

  /// The innermost loop with the most floating-point work; none if no loop does
  /// any.
  std::optional<MachineLoop> findInnerLoop() const;

  double countFlops(const MachineLoop &loop, int64_t waveSize) const;

private:
  void connect();

  Order order;
  std::vector<BasicBlock> blocks;
};

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_MODEL_MACHINECODE_H
