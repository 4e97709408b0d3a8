//===- Disassembly.h - Reads the instructions of a kernel -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_DISASSEMBLY_DISASSEMBLY_H
#define TARPON_TARGETS_DISASSEMBLY_DISASSEMBLY_H

#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

struct Instruction {
  uint64_t address = 0;
  /// In AT&T's syntax: "vmovups 64(%rsp), %zmm3".
  std::string text;
  /// Where a direct jump goes to.
  std::optional<uint64_t> target;
};

/// The machine code of an object file with one function.
runtime::Result<std::vector<Instruction>>
disassemble(const std::vector<char> &object);

/// A natural loop with no other loop in it: all blocks that can go round.
struct InnermostLoop {
  std::vector<Instruction> body;

  /// Instructions that move a vector or a tile register to the stack or read
  /// one from it.
  std::vector<Instruction> spills;
  /// The multiplications that the kernel is made for: of the instructions that
  /// multiply and add, those that do the most at once.
  std::vector<Instruction> multiplications;
  /// The numbers of the registers that the loop only adds to: the sums
  /// that it carries. The loops of transforms and epilogues multiply too, but
  /// carry none.
  std::vector<int> sums;

  bool sumsProducts() const {
    return !multiplications.empty() && !sums.empty();
  }
};

std::vector<InnermostLoop>
findInnermostLoops(const std::vector<Instruction> &code);

} // namespace tarpon

#endif // TARPON_TARGETS_DISASSEMBLY_DISASSEMBLY_H
