//===- PtxInstructions.cpp - Classifies instructions of PTX ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names are those of NVIDIA's "Parallel Thread Execution ISA"; rates are those
// of the table "Throughput of Native Arithmetic Instructions" in the CUDA C++
// Programming Guide, as multiples of those of f32.
//
//===----------------------------------------------------------------------===//

#include "PtxInstruction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tarpon;
using namespace tarpon::ptx;
using llvm::SmallVector;
using llvm::StringRef;
using runtime::DType;
using Kind = InstructionKind;

using Parts = SmallVector<StringRef, 12>;

static Parts splitMnemonic(StringRef mnemonic) {
  Parts parts;
  mnemonic.split(parts, '.');
  return parts;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The bytes of "f32", "b128" or "f16x2"; 0 if it is no type.
static int64_t getTypeBytes(StringRef type) {
  if (type == "pred")
    return 0;
  int64_t bits = 0;
  type = type.drop_while([](char c) { return c >= 'a' && c <= 'z'; });
  if (type.consumeInteger(10, bits))
    return 0;
  return (type == "x2" ? 2 : 1) * bits / 8;
}

/// The bytes that an access moves per lane: those of its last type, times its
/// vector.
static int64_t countBytes(llvm::ArrayRef<StringRef> parts) {
  int64_t count = 1;
  for (StringRef part : parts)
    count = llvm::StringSwitch<int64_t>(part)
                .Case("v2", 2)
                .Case("v4", 4)
                .Case("v8", 8)
                .Default(count);
  return count * getTypeBytes(parts.back());
}

static DType getInput(StringRef type) {
  return llvm::StringSwitch<DType>(type)
      .Case("f16", DType::F16)
      .Case("bf16", DType::BF16)
      .Cases({"s8", "u8"}, DType::I8)
      .Default(DType::F32);
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static void readShape(llvm::ArrayRef<StringRef> parts,
                      MachineInstruction &instruction) {
  for (StringRef part : parts) {
    if (!part.consume_front("m") || part.consumeInteger(10, instruction.m))
      continue;
    part.consume_front("n");
    (void)part.consumeInteger(10, instruction.n);
    part.consume_front("k");
    (void)part.consumeInteger(10, instruction.k);
  }
  instruction.flops = 2.0 * static_cast<double>(instruction.m) *
                      static_cast<double>(instruction.n) *
                      static_cast<double>(instruction.k);
}

/// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32".
static void readMatrix(llvm::ArrayRef<StringRef> parts,
                       MachineInstruction &instruction) {
  constexpr size_t kTypeOfA = 3;
  instruction.kind = Kind::Matrix;
  if (parts.size() > kTypeOfA)
    instruction.input = getInput(parts[parts.size() - kTypeOfA]);
  readShape(parts, instruction);
}

/// "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", whose four waves read
/// both factors from LDS, each once.
static void readGroupMatrix(const Statement &statement,
                            llvm::ArrayRef<StringRef> parts,
                            MachineInstruction &instruction) {
  constexpr int64_t kWaves = 4, kLanes = 128;
  int64_t outstanding = 0;
  if (llvm::is_contained(parts, "wait_group")) {
    instruction.kind = Kind::Wait;
    if (!statement.operands.empty())
      (void)statement.operands.front().getAsInteger(10, outstanding);
    instruction.wait.matrices = outstanding;
  } else if (llvm::is_contained(parts, "mma_async")) {
    instruction.kind = Kind::Matrix;
    instruction.input = getInput(parts.back());
    readShape(parts, instruction);
    instruction.waves = kWaves;
    instruction.flops /= kWaves;
    instruction.bytes = (instruction.m + instruction.n) * instruction.k *
                        getTypeBytes(parts.back()) / kLanes;
  }
}

/// Where a load or store goes: "ld.global.nc.v4.b32".
static StringRef getSpace(llvm::ArrayRef<StringRef> parts) {
  for (StringRef part : parts)
    for (StringRef space : {"shared", "global", "param", "local", "const"})
      if (part.starts_with(space))
        return space;
  return "global";
}

static void readAccess(llvm::ArrayRef<StringRef> parts,
                       MachineInstruction &instruction) {
  StringRef space = getSpace(parts);
  bool isLoad = parts.front() == "ld" || parts.front() == "ldu";
  instruction.bytes = countBytes(parts);
  if (space == "param" || space == "const") {
    instruction.kind = Kind::ScalarLoad;
    instruction.bytes = 0;
  } else if (space == "shared") {
    instruction.kind = isLoad ? Kind::LdsRead : Kind::LdsWrite;
  } else {
    instruction.kind = isLoad ? Kind::GlobalRead : Kind::GlobalWrite;
  }
}

/// "ldmatrix.sync.aligned.m8n8.x4.shared.b16": each lane gets 4 bytes of each
/// matrix.
static void readMatrixLoad(llvm::ArrayRef<StringRef> parts,
                           MachineInstruction &instruction) {
  constexpr int64_t kBytesOfMatrix = 4;
  instruction.kind = Kind::LdsRead;
  instruction.bytes = kBytesOfMatrix;
  for (StringRef part : parts)
    if (int64_t count = 0;
        part.consume_front("x") && !part.getAsInteger(10, count))
      instruction.bytes = count * kBytesOfMatrix;
}

/// "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2", and the ends of groups.
static void readCopy(const Statement &statement,
                     llvm::ArrayRef<StringRef> parts,
                     MachineInstruction &instruction) {
  constexpr size_t kSize = 2;
  int64_t number = 0;
  if (llvm::is_contained(parts, "commit_group")) {
    instruction.kind = Kind::Commit;
  } else if (llvm::is_contained(parts, "wait_all")) {
    instruction.kind = Kind::Wait;
    instruction.wait.reads = 0;
  } else if (llvm::is_contained(parts, "wait_group")) {
    instruction.kind = Kind::Wait;
    instruction.wait.reads = 0;
    if (!statement.operands.empty() &&
        !statement.operands.front().getAsInteger(0, number))
      instruction.wait.reads = number;
  } else {
    instruction.kind = Kind::GlobalToLds;
    if (statement.operands.size() > kSize &&
        !statement.operands[kSize].getAsInteger(0, number))
      instruction.bytes = number;
  }
}

static bool isFloat(StringRef type) {
  return type.starts_with("f") || type.starts_with("bf");
}

static double countFlops(llvm::ArrayRef<StringRef> parts) {
  if (parts.front() == "dp4a")
    return 8;
  StringRef type = parts.back();
  if (!isFloat(type))
    return 0;
  double lanes = type.ends_with("x2") ? 2 : 1;
  return lanes * llvm::StringSwitch<double>(parts.front())
                     .Cases({"fma", "mad"}, 2)
                     .Cases({"add", "sub", "mul"}, 1)
                     .Default(0);
}

/// The issue slots; 0 for what ptxas renames away.
static int64_t getRate(llvm::ArrayRef<StringRef> parts,
                       const Statement &statement) {
  constexpr int64_t kInteger = 2, kSpecial = 8, kLibrary = 16;
  StringRef name = parts.front();
  bool isApproximate = llvm::is_contained(parts, "approx");
  if (name == "mov")
    return statement.operands.size() > 1 &&
                   (statement.operands[0].starts_with("{") ||
                    statement.operands[1].starts_with("{"))
               ? 1
               : 0;
  if (name == "div" || name == "rem" || name == "sqrt" || name == "rcp")
    return isApproximate ? kSpecial : kLibrary;
  return llvm::StringSwitch<int64_t>(name)
      .Cases({"ex2", "lg2", "rsqrt", "sin", "cos", "tanh"}, kSpecial)
      .Case("cvta", 0)
      .Case("cvt", kInteger)
      .Default(isFloat(parts.back()) && parts.back() != "f64" ? 1 : kInteger);
}

MachineInstruction ptx::readInstruction(const Statement &statement) {
  MachineInstruction instruction;
  instruction.mnemonic = statement.mnemonic.str();
  Parts parts = splitMnemonic(statement.mnemonic);
  StringRef name = parts.front();
  if (name == "mma") {
    readMatrix(parts, instruction);
  } else if (name == "wgmma") {
    readGroupMatrix(statement, parts, instruction);
  } else if (name == "ldmatrix") {
    readMatrixLoad(parts, instruction);
  } else if (name == "ld" || name == "ldu" || name == "st") {
    readAccess(parts, instruction);
  } else if (name == "cp") {
    readCopy(statement, parts, instruction);
  } else if (name == "atom" || name == "red") {
    instruction.kind = Kind::GlobalWrite;
    instruction.bytes = countBytes(parts);
  } else if (name == "shfl") {
    // It goes through the network of LDS.
    instruction.kind = Kind::LdsRead;
    instruction.bytes = 4;
  } else if (name == "bar" || name == "barrier") {
    instruction.kind = Kind::Barrier;
  } else if (name == "bra") {
    instruction.kind = Kind::Branch;
    instruction.isConditional = !statement.predicate.empty();
    instruction.target = statement.operands.front().str();
  } else if (name == "ret" || name == "exit") {
    instruction.kind = statement.predicate.empty() ? Kind::End : Kind::Scalar;
  } else {
    instruction.kind = Kind::Vector;
    instruction.flops = countFlops(parts);
    instruction.rate = getRate(parts, statement);
  }
  return instruction;
}

bool ptx::writesFirstOperand(StringRef mnemonic) {
  for (StringRef name : {"st.", "red.", "bra", "bar", "cp.", "ret", "exit",
                         "membar", "fence", "prefetch", "griddep", "nanosleep",
                         "wgmma.fence", "wgmma.commit", "wgmma.wait"})
    if (mnemonic.starts_with(name))
      return false;
  return true;
}

int ptx::getAddend(StringRef mnemonic) {
  // The sum of wgmma is its result as well.
  if (mnemonic.starts_with("wgmma.mma_async"))
    return 0;
  return mnemonic.starts_with("mma.") || mnemonic.starts_with("fma.") ||
                 mnemonic.starts_with("dp4a.")
             ? 3
             : -1;
}
