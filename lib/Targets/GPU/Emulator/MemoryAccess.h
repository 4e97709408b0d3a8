//===- MemoryAccess.h - Checked accesses of lanes to memory -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_MEMORYACCESS_H
#define TARPON_TARGETS_GPU_EMULATOR_MEMORYACCESS_H

#include "Wave.h"

namespace tarpon::emulator {

/// The accesses of one execution of an instruction. Each returns the memory, or
/// null after the wave has failed.
class MemoryAccess {
public:
  MemoryAccess(Wave &wave, const Instr &instr, const Access &access,
               bool pending = false)
      : wave(wave), instr(instr), access(access),
        checked(wave.group->machine.program.options.checkMemory) {
    const Workgroup &group = *wave.group;
    time.epoch = access.lds ? group.ldsEpoch : group.globalEpoch;
    time.groupStart = group.start;
    time.serial = static_cast<uint32_t>(wave.steps);
    time.site = instr.site;
    time.wave = wave.index;
    time.atomic = access.atomic;
    time.pending = pending;
  }

  const uint8_t *read(unsigned lane, uint64_t pointer) {
    uint8_t *data = resolve(lane, pointer, "reads");
    if (!data || !checked)
      return data;
    findAcquired(lane);
    for (Cell *cell = firstCell(), *end = endCell(); cell != end; ++cell)
      if (Fault::Kind kind = readCell(*cell, *buffer, time, lane))
        return fail(lane, "reads", explainFault(kind, *cell, time));
    return data;
  }

  /// `bytes` are the bytes to be written; null skips the comparison between
  /// lanes.
  uint8_t *write(unsigned lane, uint64_t pointer, const void *bytes) {
    uint8_t *data = resolve(lane, pointer, "writes");
    if (!data || !checked)
      return data;
    findAcquired(lane);
    bool sameInstruction = false;
    for (Cell *cell = firstCell(), *end = endCell(); cell != end; ++cell)
      if (Fault::Kind kind =
              writeCell(*cell, *buffer, time, lane, sameInstruction))
        return fail(lane, "writes", explainFault(kind, *cell, time));
    if (time.pending)
      addPending();
    if (sameInstruction && bytes && std::memcmp(data, bytes, access.bytes) != 0)
      return failLanes(lane);
    return data;
  }

  /// The lane meets others at the counter that was accessed last; it shows what
  /// it has written if it changes the counter.
  void meet(unsigned lane, bool changes) {
    if (checked && !access.lds)
      wave.meetAt(firstCell(), lane, changes);
  }

  /// Has the wave hold the cells that were read last. Fails if products cannot
  /// see their last writes.
  bool holdRead(unsigned lane) {
    if (!checked)
      return true;
    for (Cell *cell = firstCell(), *end = endCell(); cell != end; ++cell) {
      if (!wave.group->isFenced(*cell, wave.index)) {
        failFence(lane, *cell);
        return false;
      }
      wave.held.reads.push_back({cell, cell->writeEpoch, cell->writeSerial});
    }
    return true;
  }

private:
  // The access that was resolved last.
  Cell *firstCell() {
    return buffer->shadow.at(offset >> buffer->granuleShift);
  }
  Cell *endCell() {
    return buffer->shadow.at((offset + access.bytes) >> buffer->granuleShift);
  }

  uint8_t *resolve(unsigned lane, uint64_t pointer, const char *verb) {
    unsigned number = pointerBuffer(pointer);
    if (number != lastNumber && !findBuffer(lane, number, verb))
      return nullptr;
    offset = pointerOffset(pointer);
    if (offset < 0 || offset > limit || (offset & (access.alignment - 1)))
      return failPlace(lane, verb);
    return buffer->data + offset;
  }

  void findAcquired(unsigned lane) {
    if (!wave.acquired.empty())
      time.acquired = &wave.acquired[lane];
  }

  bool findBuffer(unsigned lane, unsigned number, const char *verb);
  /// Describes the access: "VERB 4 bytes at 12 of argument 2".
  std::string describe(const char *verb) const;
  uint8_t *failPlace(unsigned lane, const char *verb);
  uint8_t *fail(unsigned lane, const char *verb, const Fault &fault);
  uint8_t *failLanes(unsigned lane);
  void failFence(unsigned lane, const Cell &cell);
  void addPending();

  Wave &wave;
  const Instr &instr;
  const Access &access;
  AccessTime time;
  bool checked;
  unsigned lastNumber = ~0u;
  Buffer *buffer = nullptr;
  int64_t limit = 0, offset = 0;
};

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_MEMORYACCESS_H
