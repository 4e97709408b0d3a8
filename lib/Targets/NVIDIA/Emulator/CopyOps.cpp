//===- CopyOps.cpp - Asynchronous copies to LDS ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy": the
// bytes of a copy can be read by its thread after a wait for its group, and by
// others after a barrier behind that. So a copy counts as a write at the time
// of the wait, and until then nobody may read or write its destination. A
// barrier waits for no copy.
//
//===----------------------------------------------------------------------===//

#include "NvidiaOps.h"

#include "GPU/Emulator/CommonOps.h"
#include "GPU/Emulator/MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

constexpr uint32_t kCopyBytes = 16;

/// Copies from the pointers in a to those in b; c has how many bytes are read,
/// and the rest are zeros. `aux` is the access to global memory, and the next
/// one that to LDS.
static void runCopy(Wave &wave, const Instr &instr) {
  const auto &accesses = wave.group->machine.program.accesses;
  MemoryAccess from(wave, instr, accesses[instr.aux]);
  MemoryAccess to(wave, instr, accesses[instr.aux + 1], /*pending=*/true);
  const uint64_t *source = wave.at<uint64_t>(instr.a);
  const uint64_t *target = wave.at<uint64_t>(instr.b);
  const uint32_t *bytes = wave.at<uint32_t>(instr.c);
  static constexpr uint8_t kZeros[kCopyBytes] = {};
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    if (bytes[lane] != 0 && bytes[lane] != kCopyBytes)
      return wave.fail(instr, lane,
                       "reads " + std::to_string(bytes[lane]) +
                           " bytes, and the emulator knows 0 and 16 only");
    const uint8_t *data =
        bytes[lane] == 0 ? kZeros : from.read(lane, source[lane]);
    if (!data)
      return;
    uint8_t *lds = to.write(lane, target[lane], data);
    if (!lds)
      return;
    std::memcpy(lds, data, kCopyBytes);
  }
}

static LogicalResult translateCopy(Translator &translator, Operation *op) {
  auto copy = cast<NVVM::CpAsyncOp>(op);
  if (copy.getSize() != kCopyBytes)
    return translator.refuse(op, "is not of 16 bytes");
  Access access;
  access.bytes = access.alignment = kCopyBytes;
  uint32_t index = translator.addAccess(access);
  access.lds = true;
  translator.addAccess(access);
  Reg bytes = copy.getCpSize() ? translator.use(copy.getCpSize())
                               : translator.getConstant(Elem::I32, kCopyBytes);
  translator
      .emit(op, runCopy, {}, translator.use(copy.getSrc()),
            translator.use(copy.getDst()), bytes)
      .aux = index;
  return success();
}

static void runCommit(Wave &wave, const Instr &instr) {
  if (areAllActive(wave, instr))
    wave.commitPending();
}

static LogicalResult translateCommit(Translator &translator, Operation *op) {
  translator.emit(op, runCommit);
  return success();
}

/// `imm` is how many of the latest groups may still be under way.
static void runWait(Wave &wave, const Instr &instr) {
  if (areAllActive(wave, instr))
    wave.completeGroups(static_cast<size_t>(instr.imm));
}

static LogicalResult translateWait(Translator &translator, Operation *op) {
  translator.emit(op, runWait).imm = cast<NVVM::CpAsyncWaitGroupOp>(op).getN();
  return success();
}

static LogicalResult translateBarrier(Translator &translator, Operation *op) {
  return emitBarrier(translator, op, /*ordersGlobal=*/true,
                     /*waitsForLoads=*/false);
}

void emulator::addCopyOps(OpTable &table) {
  table["nvvm.cp.async.shared.global"] = translateCopy;
  table["nvvm.cp.async.commit.group"] = translateCommit;
  table["nvvm.cp.async.wait.group"] = translateWait;
  table["gpu.barrier"] = translateBarrier;
  table["nvvm.barrier0"] = translateBarrier;
}
