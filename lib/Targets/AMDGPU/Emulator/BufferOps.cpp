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

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Raw buffers
//===----------------------------------------------------------------------===//

namespace {

/// The operands of a raw buffer access: a is the resource, b the offset, c the
/// uniform offset; `aux` is the access to one dword (or one narrower element),
/// and `imm` the bytes of all.
struct RawAccess {
  RawAccess(Wave &wave, const Instr &instr)
      : access(wave.group->machine.program.accesses[instr.aux]),
        memory(wave, instr, access), wave(wave), instr(instr),
        base(wave.at<uint64_t>(instr.a)),
        records(wave.at<uint64_t>(instr.a) + wave.lanes),
        offset(wave.at<uint32_t>(instr.b)),
        uniform(wave.at<uint32_t>(instr.c)) {}

  /// Returns true if the piece `i` of a lane is in range. Fails if only a part
  /// of it is.
  bool isInRange(unsigned lane, uint32_t i) {
    uint64_t begin = uint64_t(offset[lane]) + uniform[lane] + i * access.bytes;
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
    return base[lane] + offset[lane] + uniform[lane] + i * access.bytes;
  }

  const Access &access;
  MemoryAccess memory;
  Wave &wave;
  const Instr &instr;
  const uint64_t *base, *records;
  const uint32_t *offset, *uniform;
};

} // namespace

template <typename T>
static void runRawLoad(Wave &wave, const Instr &instr) {
  RawAccess raw(wave, instr);
  T *dst = wave.at<T>(instr.dst);
  uint32_t pieces = instr.imm / raw.access.bytes;
  T value[16 / sizeof(T)];
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    std::memset(value, 0, sizeof(value));
    for (uint32_t i = 0; i < pieces; ++i) {
      if (!raw.isInRange(lane, i))
        continue;
      const uint8_t *data = raw.memory.read(lane, raw.pointer(lane, i));
      if (!data)
        return;
      std::memcpy(reinterpret_cast<uint8_t *>(value) + i * raw.access.bytes,
                  data, raw.access.bytes);
    }
    for (uint32_t i = 0; i < instr.imm / sizeof(T); ++i)
      dst[i * wave.lanes + lane] = value[i];
  }
}

/// The value is in dst.
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
// rocdl.load.to.lds
//===----------------------------------------------------------------------===//

/// Copies from the pointers in a to those in b, the second of which is taken
/// from the first active lane; lane i writes the i-th piece from there, and
/// `imm` is added to both sides. "AMD Instinct MI300 ISA", section 9.1.9 on
/// memory-to-LDS loads. `aux` is the access to global memory, and the next one
/// that to LDS. The kernel must wait for the data before it reads them.
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
}

static LogicalResult translateLoadToLds(Translator &translator, Operation *op) {
  auto load = cast<ROCDL::LoadToLDSOp>(op);
  uint32_t bytes = load.getSize();
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 12 && bytes != 16)
    return translator.refuse(op, "is not of 1, 2, 4, 12 or 16 bytes");
  if (load.getGlobalPtr().getType().getAddressSpace() != 1)
    return translator.refuse(op, "is not from global memory");
  Access access;
  access.bytes = bytes;
  access.alignment = std::min(bytes, 4u);
  uint32_t index = translator.addAccess(access);
  access.lds = true;
  translator.addAccess(access);
  Instr &instr =
      translator.emit(op, runLoadToLds, {}, translator.use(load.getGlobalPtr()),
                      translator.use(load.getLdsPtr()));
  instr.aux = index;
  instr.imm = load.getOffset();
  return success();
}

static void runWait(Wave &wave, const Instr &) { wave.clearPending(); }
static void runNothing(Wave &, const Instr &) {}

/// vmcnt is bits 3:0 and 15:14 on gfx9, which alone loads to LDS.
static LogicalResult translateWaitcnt(Translator &translator, Operation *op) {
  uint32_t bits = cast<ROCDL::SWaitcntOp>(op).getBitfield();
  bool waits = (bits & 0xc00f) == 0;
  translator.emit(op, waits ? runWait : runNothing);
  return success();
}

static LogicalResult translateCounterWait(Translator &translator,
                                          Operation *op) {
  std::optional<uint32_t> loads =
      cast<amdgpu::MemoryCounterWaitOp>(op).getLoad();
  translator.emit(op, loads && *loads == 0 ? runWait : runNothing);
  return success();
}

void emulator::addBufferOps(OpTable &table) {
  table["rocdl.make.buffer.rsrc"] = translateMakeResource;
  table["rocdl.raw.ptr.buffer.load"] = translateRawLoad;
  table["rocdl.raw.ptr.buffer.store"] = translateRawStore;
  table["rocdl.load.to.lds"] = translateLoadToLds;
  table["rocdl.s.waitcnt"] = translateWaitcnt;
  table["amdgpu.memory_counter_wait"] = translateCounterWait;
}
