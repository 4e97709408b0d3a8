//===- Instructions.cpp - Classifies instructions -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names follow the instruction set architecture guides (CDNA 2 to 4, RDNA 3 and
// 4); the older spelling of an instruction and its newer one (ds_read_b128,
// ds_load_b128) mean the same.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tarpon;
using llvm::SmallVector;
using llvm::StringRef;
using runtime::DType;
using Kind = InstructionKind;

/// Splits "v0", "v[0:3]" and the like, in order.
static SmallVector<StringRef> splitOperands(StringRef text) {
  SmallVector<StringRef> operands;
  text.split(operands, ',');
  for (StringRef &operand : operands)
    operand = operand.trim();
  return operands;
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

static DType parseInput(StringRef name) {
  return llvm::StringSwitch<DType>(name)
      .StartsWith("f16", DType::F16)
      .StartsWith("bf16", DType::BF16)
      .StartsWith("i8", DType::I8)
      .StartsWith("iu8", DType::I8)
      .Default(DType::F32);
}

/// Reads "f32_16x16x16_f16" or, as CDNA 2 spells it, "f32_16x16x16f16".
static void readMatrix(StringRef name, MachineInstruction &instruction) {
  StringRef shape = name.split('_').second;
  (void)shape.consumeInteger(10, instruction.m);
  (void)shape.consume_front("x");
  (void)shape.consumeInteger(10, instruction.n);
  (void)shape.consume_front("x");
  (void)shape.consumeInteger(10, instruction.k);
  (void)shape.consume_front("_");
  instruction.input = parseInput(shape);
  instruction.flops = 2.0 * static_cast<double>(instruction.m) *
                      static_cast<double>(instruction.n) *
                      static_cast<double>(instruction.k);
}

//===----------------------------------------------------------------------===//
// Vector instructions
//===----------------------------------------------------------------------===//

/// Counts the operations of a name without "v_", "pk_" and the suffix of its
/// encoding.
static double countFlops(StringRef name) {
  double lanes = name.consume_front("pk_") ? 2 : 1;
  bool isFloat =
      name.contains("f32") || name.contains("f16") || name.contains("f64");
  if (name.starts_with("dot4"))
    return 8;
  if (name.starts_with("dot2"))
    return 4;
  if (!isFloat)
    return 0;
  for (StringRef fused : {"fma", "mad_", "mac_"})
    if (name.starts_with(fused))
      return 2 * lanes;
  for (StringRef plain : {"mul_f", "add_f", "sub_f", "subrev_f"})
    if (name.starts_with(plain))
      return lanes;
  return 0;
}

/// Transcendental functions and products of 32-bit integers take four times as
/// long as others (LLVM's SIQuarterRate).
static int64_t getRate(StringRef name) {
  for (StringRef slow : {"exp_", "log_", "rcp_", "rsq_", "sqrt_", "sin_",
                         "cos_", "mul_lo_", "mul_hi_", "mad_u64", "mad_i64"})
    if (name.starts_with(slow))
      return 4;
  return 1;
}

/// Returns true if the first operand is read too: "v_fmac v0, v1, v2", or
/// "v_fma v0, v1, v2, v0".
static bool accumulates(StringRef name, llvm::ArrayRef<StringRef> operands) {
  if (countFlops(name) == 0 || operands.empty())
    return false;
  return name.starts_with("fmac") || name.starts_with("mac") ||
         name.starts_with("dot2c") || name.starts_with("dot4c") ||
         llvm::is_contained(operands.drop_front(), operands.front());
}

static void readVector(StringRef line, StringRef name,
                       MachineInstruction &instruction) {
  StringRef operands =
      line.split(' ').second.split("::").first.split(" op_sel").first;
  instruction.flops = countFlops(name);
  instruction.rate = getRate(name);
  SmallVector<StringRef> list = splitOperands(operands);
  if (accumulates(name, list))
    instruction.accumulator = list.front().str();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static int64_t getWidth(StringRef token) {
  return llvm::StringSwitch<int64_t>(token)
      .Cases({"dwordx4", "b128"}, 16)
      .Cases({"dwordx3", "b96"}, 12)
      .Cases({"dwordx2", "b64", "u64", "i64", "f64", "x2"}, 8)
      .Cases({"dword", "b32", "u32", "i32", "f32"}, 4)
      .Cases({"short", "ushort", "sshort", "b16", "u16", "i16"}, 2)
      .Cases({"byte", "ubyte", "sbyte", "b8", "u8", "i8"}, 1)
      .Default(0);
}

/// The bytes per lane.
static int64_t countBytes(StringRef mnemonic) {
  SmallVector<StringRef> tokens;
  mnemonic.split(tokens, '_');
  int64_t count = 1, width = 4;
  for (StringRef token : tokens)
    if (token.starts_with("read2") || token.starts_with("write2") ||
        token == "2addr")
      count = 2;
  for (StringRef token : llvm::reverse(tokens))
    if (int64_t bytes = getWidth(token)) {
      width = bytes;
      break;
    }
  return count * width;
}

static Kind getLdsKind(StringRef name) {
  for (StringRef read : {"read", "load", "swizzle", "permute", "bpermute"})
    if (name.starts_with(read))
      return Kind::LdsRead;
  return name == "nop" ? Kind::Other : Kind::LdsWrite;
}

static Kind getGlobalKind(StringRef line, StringRef mnemonic) {
  if (mnemonic.contains("load")) {
    bool isDirect = mnemonic.contains("_lds") || line.ends_with(" lds") ||
                    line.contains(" lds ");
    return isDirect ? Kind::GlobalToLds : Kind::GlobalRead;
  }
  return mnemonic.contains("store") || mnemonic.contains("atomic")
             ? Kind::GlobalWrite
             : Kind::Other;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Finds the number behind "name(" in the text.
static std::optional<int64_t> findCount(StringRef text, StringRef name) {
  size_t at = text.find((name + "(").str());
  int64_t count = 0;
  StringRef rest = text.drop_front(
      at == StringRef::npos ? text.size() : at + name.size() + 1);
  if (rest.consumeInteger(10, count))
    return std::nullopt;
  return count;
}

/// Reads "s_waitcnt vmcnt(0) lgkmcnt(1)", "s_waitcnt_vscnt null, 0x0",
/// "s_wait_loadcnt_dscnt 0x102".
static WaitCounts readWait(StringRef mnemonic, StringRef operands) {
  WaitCounts wait;
  int64_t number = 0;
  bool hasNumber =
      !operands.rsplit(',').second.trim().getAsInteger(0, number) ||
      !operands.trim().getAsInteger(0, number);
  if (mnemonic == "s_waitcnt") {
    wait.reads = findCount(operands, "vmcnt");
    wait.lds = findCount(operands, "lgkmcnt");
    if (wait.lds == 0)
      wait.scalars = 0;
    // The form without names waits for everything.
    if (hasNumber && number == 0)
      wait = {0, 0, 0, 0};
  } else if (hasNumber && mnemonic == "s_wait_loadcnt") {
    wait.reads = number;
  } else if (hasNumber &&
             (mnemonic == "s_waitcnt_vscnt" || mnemonic == "s_wait_storecnt")) {
    wait.writes = number;
  } else if (hasNumber && mnemonic == "s_wait_dscnt") {
    wait.lds = number;
  } else if (hasNumber && mnemonic == "s_wait_kmcnt") {
    wait.scalars = number;
  } else if (hasNumber && mnemonic.ends_with("_dscnt")) {
    // There are two counters in one: that of LDS is below.
    (mnemonic.contains("load") ? wait.reads : wait.writes) = number >> 8 & 63;
    wait.lds = number & 63;
  }
  return wait;
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

static void readScalar(StringRef operands, MachineInstruction &instruction) {
  StringRef name = instruction.mnemonic;
  if (name.starts_with("s_wait")) {
    instruction.kind = Kind::Wait;
    instruction.wait = readWait(name, operands);
  } else if (name.starts_with("s_barrier")) {
    // The first of two halves does not wait.
    instruction.kind = name.contains("signal") ? Kind::Other : Kind::Barrier;
  } else if (name.starts_with("s_branch") || name.starts_with("s_cbranch")) {
    instruction.kind = Kind::Branch;
    instruction.isConditional = name.starts_with("s_cbranch");
    instruction.target = operands.trim().str();
  } else if (name.starts_with("s_endpgm")) {
    instruction.kind = Kind::End;
  } else if (name.starts_with("s_load") || name.starts_with("s_buffer_load")) {
    instruction.kind = Kind::ScalarLoad;
  } else if (llvm::is_contained({"s_nop", "s_clause", "s_delay_alu",
                                 "s_setprio", "s_code_end", "s_sleep"},
                                name)) {
    instruction.kind = Kind::Other;
  } else {
    instruction.kind = Kind::Scalar;
  }
}

/// Reads both halves of "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4,
/// v5".
static void readDual(StringRef line, MachineInstruction &instruction) {
  auto [first, second] = line.split("::");
  instruction = readInstruction(
      (first.trim().substr(0, 2) + first.trim().substr(7)).str());
  second = second.trim();
  if (second.consume_front("v_dual_"))
    instruction.flops += readInstruction(("v_" + second).str()).flops;
  instruction.mnemonic = "v_dual";
}

MachineInstruction tarpon::readInstruction(StringRef line) {
  MachineInstruction instruction;
  line = line.trim();
  auto [mnemonic, operands] = line.split(' ');
  instruction.mnemonic = mnemonic.trim().str();
  StringRef name = mnemonic.trim();
  if (name.starts_with("v_dual_")) {
    readDual(line, instruction);
  } else if (name.consume_front("v_mfma_") || name.consume_front("v_wmma_") ||
             name.consume_front("v_smfmac_") ||
             name.consume_front("v_swmmac_")) {
    instruction.kind = Kind::Matrix;
    readMatrix(name, instruction);
    instruction.accumulator = splitOperands(operands).front().str();
  } else if (name.consume_front("v_")) {
    instruction.kind = Kind::Vector;
    readVector(line, name, instruction);
  } else if (name.consume_front("ds_")) {
    instruction.kind = getLdsKind(name);
    instruction.bytes = countBytes(mnemonic);
  } else if (name.starts_with("global_") || name.starts_with("buffer_") ||
             name.starts_with("flat_") || name.starts_with("scratch_")) {
    instruction.kind = getGlobalKind(line, mnemonic);
    instruction.bytes =
        instruction.kind == Kind::Other ? 0 : countBytes(mnemonic);
  } else if (name.starts_with("s_")) {
    readScalar(operands, instruction);
  }
  return instruction;
}
