//===- BufferOps.cpp - Buffer resources, and loads to LDS -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Raw buffers: dwords beyond num_records read as zero, and are not written.
// "AMD Instinct MI300 ISA", section 9.1.5.1: accesses of several dwords are
// checked dword by dword. A dword that num_records cuts is a fault, because
// generations treat it differently. Within num_records, the memory must exist.
//
//===----------------------------------------------------------------------===//

#include "AmdOps.h"

#include "GPU/Emulator/MemoryAccess.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Raw buffers
//===----------------------------------------------------------------------===//

namespace {

/// The operands of a raw buffer access: a is the resource, b the offset, c the
/// uniform offset; `aux` is the access to one dword (or one narrower element).
/// `fixed` is added to the offset.
struct RawAccess {
  RawAccess(Wave &wave, const Instr &instr, int64_t fixed = 0)
      : access(wave.group->machine.program.accesses[instr.aux]),
        memory(wave, instr, access), wave(wave), instr(instr),
        base(wave.at<uint64_t>(instr.a)),
        records(wave.at<uint64_t>(instr.a) + wave.lanes),
        offset(wave.at<uint32_t>(instr.b)), uniform(wave.at<uint32_t>(instr.c)),
        fixed(fixed) {}

  /// Returns true if the piece `i` of a lane is in range. Fails if only a part
  /// of it is.
  bool isInRange(unsigned lane, uint32_t i) {
    uint64_t begin =
        uint64_t(offset[lane]) + uniform[lane] + fixed + i * access.bytes;
    if (begin + access.bytes <= records[lane])
      return true;
    if (begin < records[lane])
      wave.fail(instr, lane,
                "accesses " + std::to_string(access.bytes) + " bytes at " +
                    std::to_string(begin) + " of a resource of " +
                    std::to_string(records[lane]) + ", which ends within them");
    return false;
  }
  uint64_t pointer(unsigned lane, uint32_t i) const {
    return base[lane] + offset[lane] + uniform[lane] + fixed + i * access.bytes;
  }
  /// Loads `bytes` of a lane, those out of range as zeros. Returns false after
  /// the wave has failed.
  bool load(unsigned lane, int64_t bytes, void *value) {
    std::memset(value, 0, bytes);
    for (uint32_t i = 0; i < bytes / access.bytes; ++i) {
      if (!isInRange(lane, i))
        continue;
      const uint8_t *data = memory.read(lane, pointer(lane, i));
      if (!data)
        return false;
      std::memcpy(static_cast<uint8_t *>(value) + i * access.bytes, data,
                  access.bytes);
    }
    return true;
  }

  const Access &access;
  MemoryAccess memory;
  Wave &wave;
  const Instr &instr;
  const uint64_t *base, *records;
  const uint32_t *offset, *uniform;
  int64_t fixed;
};

} // namespace

/// `imm` is the bytes of a lane.
template <typename T>
static void runRawLoad(Wave &wave, const Instr &instr) {
  RawAccess raw(wave, instr);
  T *dst = wave.at<T>(instr.dst);
  T value[16 / sizeof(T)];
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    if (!raw.load(lane, instr.imm, value))
      return;
    for (uint32_t i = 0; i < instr.imm / sizeof(T); ++i)
      dst[i * wave.lanes + lane] = value[i];
  }
}

/// The value is in dst, and `imm` is the bytes of a lane.
template <typename T>
static void runRawStore(Wave &wave, const Instr &instr) {
  RawAccess raw(wave, instr);
  const T *source = wave.at<T>(instr.dst);
  uint32_t pieces = instr.imm / raw.access.bytes;
  T value[16 / sizeof(T)];
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    for (uint32_t i = 0; i < instr.imm / sizeof(T); ++i)
      value[i] = source[i * wave.lanes + lane];
    for (uint32_t i = 0; i < pieces; ++i) {
      if (!raw.isInRange(lane, i))
        continue;
      const uint8_t *bytes =
          reinterpret_cast<uint8_t *>(value) + i * raw.access.bytes;
      uint8_t *data = raw.memory.write(lane, raw.pointer(lane, i), bytes);
      if (!data)
        return;
      std::memcpy(data, bytes, raw.access.bytes);
    }
  }
}

constexpr Handler kRawLoads[] = {runRawLoad<uint8_t>, runRawLoad<uint16_t>,
                                 runRawLoad<uint32_t>, runRawLoad<uint64_t>};
constexpr Handler kRawStores[] = {runRawStore<uint8_t>, runRawStore<uint16_t>,
                                  runRawStore<uint32_t>, runRawStore<uint64_t>};

static LogicalResult emitRaw(Translator &translator, Operation *op,
                             const Handler *handlers, Reg value, Value rsrc,
                             Value offset, Value uniform) {
  uint32_t bytes = value.components * elemBytes(value.elem);
  if (value.elem == Elem::I1 || (bytes & (bytes - 1) && bytes != 12) ||
      bytes > 16)
    return translator.refuse(op, "is not of 1, 2, 4, 8, 12 or 16 bytes");
  Access access;
  access.bytes = access.alignment = std::min(bytes, 4u);
  uint32_t index = translator.addAccess(access);
  Instr &instr = translator.emit(
      op, handlers[std::countr_zero(elemBytes(value.elem))], value,
      translator.use(rsrc), translator.use(offset), translator.use(uniform));
  instr.aux = index;
  instr.imm = bytes;
  return success();
}

static LogicalResult translateRawLoad(Translator &translator, Operation *op) {
  auto load = cast<ROCDL::RawPtrBufferLoadOp>(op);
  Reg dst = translator.define(load.getRes());
  return emitRaw(translator, op, kRawLoads, dst, load.getRsrc(),
                 load.getOffset(), load.getSoffset());
}

static LogicalResult translateRawStore(Translator &translator, Operation *op) {
  auto store = cast<ROCDL::RawPtrBufferStoreOp>(op);
  return emitRaw(translator, op, kRawStores, translator.use(store.getVdata()),
                 store.getRsrc(), store.getOffset(), store.getSoffset());
}

/// A resource is its base and its number of bytes.
static LogicalResult translateMakeResource(Translator &translator,
                                           Operation *op) {
  auto make = cast<ROCDL::MakeBufferRsrcOp>(op);
  Reg base = translator.use(make.getBase());
  Reg records = translator.use(make.getNumRecords());
  Reg dst = translator.define(make.getRes());
  if (base.components != 1 || dst.components != 2)
    return translator.refuse(op, "does not make a !llvm.ptr<8> of a pointer");
  translator.emitMoves(op, {{translator.component(dst, 0), base},
                            {translator.component(dst, 1), records}});
  return success();
}

//===----------------------------------------------------------------------===//
// Loads to LDS
//===----------------------------------------------------------------------===//

/// Adds the accesses of a load to LDS of `bytes` a lane: that to global memory,
/// by pieces of so many bytes, and the next one that to LDS. Refuses widths
/// that the GPU does not have.
static LogicalResult addLdsAccesses(Translator &translator, Operation *op,
                                    uint32_t bytes, uint32_t pieceBytes,
                                    uint32_t &index) {
  int64_t widest = translator.program.options.directToLdsBytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 12 && bytes != 16)
    return translator.refuse(op, "is not of 1, 2, 4, 12 or 16 bytes");
  if (bytes > widest)
    return translator.refuse(op, "is of " + Twine(bytes) +
                                     " bytes, and the GPU loads at most " +
                                     Twine(widest) + " to LDS");
  Access access;
  access.bytes = pieceBytes;
  access.alignment = std::min(bytes, 4u);
  index = translator.addAccess(access);
  access.bytes = bytes;
  access.lds = true;
  translator.addAccess(access);
  return success();
}

/// Copies from the pointers in a to those in b, the second of which is taken
/// from the first active lane; lane i writes the i-th piece from there, and
/// `imm` is added to both sides. "AMD Instinct MI300 ISA", section 9.1.9 on
/// memory-to-LDS loads. `aux` is the access to global memory, and the next one
/// that to LDS. The kernel must wait for the data before it reads them: each
/// instruction counts as one.
static void runLoadToLds(Wave &wave, const Instr &instr) {
  const auto &accesses = wave.group->machine.program.accesses;
  const Access &access = accesses[instr.aux];
  MemoryAccess from(wave, instr, access);
  MemoryAccess to(wave, instr, accesses[instr.aux + 1], /*pending=*/true);
  const uint64_t *source = wave.at<uint64_t>(instr.a);
  uint64_t base = wave.at<uint64_t>(instr.b)[wave.firstLane()] + instr.imm;
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    const uint8_t *data = from.read(lane, source[lane] + instr.imm);
    if (!data)
      return;
    uint8_t *lds = to.write(lane, base + lane * access.bytes, data);
    if (!lds)
      return;
    std::memcpy(lds, data, access.bytes);
  }
  wave.commitPending();
}

static LogicalResult translateLoadToLds(Translator &translator, Operation *op) {
  auto load = cast<ROCDL::LoadToLDSOp>(op);
  if (load.getGlobalPtr().getType().getAddressSpace() != 1)
    return translator.refuse(op, "is not from global memory");
  uint32_t index = 0;
  if (failed(addLdsAccesses(translator, op, load.getSize(), load.getSize(),
                            index)))
    return failure();
  Instr &instr =
      translator.emit(op, runLoadToLds, {}, translator.use(load.getGlobalPtr()),
                      translator.use(load.getLdsPtr()));
  instr.aux = index;
  instr.imm = load.getOffset();
  return success();
}

/// The same from a raw buffer; the pointers to LDS are in dst.
static void runRawLoadToLds(Wave &wave, const Instr &instr) {
  RawAccess raw(wave, instr, instr.imm);
  const Access &access = wave.group->machine.program.accesses[instr.aux + 1];
  MemoryAccess to(wave, instr, access, /*pending=*/true);
  uint64_t base = wave.at<uint64_t>(instr.dst)[wave.firstLane()] + instr.imm;
  uint8_t value[16];
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    if (!raw.load(lane, access.bytes, value))
      return;
    uint8_t *lds = to.write(lane, base + lane * access.bytes, value);
    if (!lds)
      return;
    std::memcpy(lds, value, access.bytes);
  }
  wave.commitPending();
}

static LogicalResult translateRawLoadToLds(Translator &translator,
                                           Operation *op) {
  auto load = cast<ROCDL::RawPtrBufferLoadLdsOp>(op);
  APInt bytes, fixed;
  if (!matchPattern(load.getSize(), m_ConstantInt(&bytes)) ||
      !matchPattern(load.getOffset(), m_ConstantInt(&fixed)))
    return translator.refuse(op, "has a size or an offset that is no constant");
  auto size = static_cast<uint32_t>(bytes.getZExtValue());
  uint32_t index = 0;
  if (failed(addLdsAccesses(translator, op, size, std::min(size, 4u), index)))
    return failure();
  Instr &instr = translator.emit(
      op, runRawLoadToLds, translator.use(load.getLdsPtr()),
      translator.use(load.getRsrc()), translator.use(load.getVoffset()),
      translator.use(load.getSoffset()));
  instr.aux = index;
  instr.imm = fixed.getZExtValue();
  return success();
}

/// `imm` is how many of the latest loads may still be on their way. vmcnt also
/// counts other accesses: the more of those, the fewer loads to LDS may be, so
/// that it is safe to count these alone.
static void runWait(Wave &wave, const Instr &instr) {
  wave.completeGroups(static_cast<size_t>(instr.imm));
}

/// vmcnt is bits 3:0 and 15:14 on gfx9, which alone loads to LDS.
static LogicalResult translateWaitcnt(Translator &translator, Operation *op) {
  uint32_t bits = cast<ROCDL::SWaitcntOp>(op).getBitfield();
  translator.emit(op, runWait).imm = (bits & 15) | (bits >> 14 & 3) << 4;
  return success();
}

static LogicalResult translateCounterWait(Translator &translator,
                                          Operation *op) {
  std::optional<uint32_t> loads =
      cast<amdgpu::MemoryCounterWaitOp>(op).getLoad();
  if (loads)
    translator.emit(op, runWait).imm = *loads;
  return success();
}

void emulator::addBufferOps(OpTable &table) {
  table["rocdl.make.buffer.rsrc"] = translateMakeResource;
  table["rocdl.raw.ptr.buffer.load"] = translateRawLoad;
  table["rocdl.raw.ptr.buffer.store"] = translateRawStore;
  table["rocdl.load.to.lds"] = translateLoadToLds;
  table["rocdl.raw.ptr.buffer.load.lds"] = translateRawLoadToLds;
  table["rocdl.s.waitcnt"] = translateWaitcnt;
  table["amdgpu.memory_counter_wait"] = translateCounterWait;
}
