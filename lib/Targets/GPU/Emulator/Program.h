//===- Program.h - The translated form of a kernel --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator's code: a flat list of instructions over the registers of a
// wave. A register holds one scalar for every lane of the wave, and a vector is
// as many registers in a row, so that an op is one loop over consecutive
// elements. Control flow is jumps and a stack of execution masks.
//
// Instructions compute in all lanes, active or not: an inactive lane's value of
// a register written in divergent code is never read, because values of a
// region are not visible outside of it. Only the moves that carry values out of
// regions and around loops, and instructions that access memory or can fail,
// obey the mask.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_PROGRAM_H
#define TARPON_TARGETS_GPU_EMULATOR_PROGRAM_H

#include "tarpon/Targets/GPU/Emulator/Emulator.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tarpon::emulator {

/// The type of a register's elements. Pointers and indices are I64; I1 is a
/// byte that is 0 or 1.
enum class Elem : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64 };

constexpr unsigned elemBytes(Elem elem) {
  constexpr unsigned bytes[] = {1, 1, 2, 4, 8, 2, 2, 4, 8};
  return bytes[static_cast<unsigned>(elem)];
}

/// The place of a value in the wave's frame: `components` registers in a row.
struct Reg {
  uint32_t offset = 0; ///< in bytes
  uint32_t components = 1;
  Elem elem = Elem::I32;
};

struct Wave;
struct Instr;
using Handler = void (*)(Wave &wave, const Instr &instr);

/// One instruction. Operands are offsets in the frame, unless the handler says
/// otherwise.
struct Instr {
  Handler run = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  /// The number of elements of the result over all lanes.
  uint32_t count = 0;
  /// An index of a table of the program, or another number.
  uint32_t aux = 0;
  int64_t imm = 0;
  /// The index in Program::sites.
  uint32_t site = 0;
};

/// Copies registers: `bytes` of elements of `elemBytes`.
struct Move {
  uint32_t dst, src, bytes, elemBytes;
};
struct MoveList {
  std::vector<Move> moves;
  /// True if a source is a destination of another move: all are read before any
  /// is written.
  bool staged = false;
};

/// An instruction's access to memory.
struct Access {
  uint32_t elemBytes = 4;
  uint32_t components = 1;
  uint32_t bytes = 4;
  uint32_t alignment = 4;
  bool lds = false;
  bool atomic = false;
};

/// The op that instructions come from, for messages.
struct Site {
  std::string op, location;
};

/// The same scalar in all lanes of a register, written once per wave.
struct Constant {
  uint32_t offset;
  uint32_t elemBytes;
  uint64_t bits;
};

/// The data of a vendor's instruction, whose handler knows the type.
struct VendorData {
  virtual ~VendorData() = default;
};

struct LdsGlobal {
  std::string name;
  int64_t offset, bytes;
};

struct Program {
  std::string name;
  EmulatorOptions options;
  std::vector<Instr> code;
  std::vector<Site> sites;
  std::vector<MoveList> moveLists;
  std::vector<Access> accesses;
  std::vector<std::unique_ptr<const VendorData>> vendorData;
  std::vector<Constant> constants;
  std::vector<LdsGlobal> lds;
  int64_t ldsBytes = 0;
  /// Every access covers whole granules of memory: its size and alignment are
  /// multiples of this power of two.
  uint32_t ldsGranule = 16, globalGranule = 16;
  uint32_t frameBytes = 0;
  /// The number of accumulators of asynchronous products (ProductSums.h).
  uint32_t accumulators = 0;
  std::vector<Reg> arguments;
  std::vector<bool> isPointer; ///< of the arguments
  std::array<int64_t, 3> knownBlock = {0, 0, 0};
};

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_PROGRAM_H
