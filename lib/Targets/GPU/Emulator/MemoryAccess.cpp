//===- MemoryAccess.cpp - Messages about faulty accesses ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryAccess.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::emulator;

bool MemoryAccess::findBuffer(unsigned lane, unsigned number,
                              const char *verb) {
  std::vector<Buffer> &buffers = wave.group->machine.buffers;
  if (number == 0 || number >= buffers.size() ||
      buffers[number].lds != access.lds) {
    wave.fail(instr, lane,
              std::string(verb) + " " + std::to_string(access.bytes) +
                  " bytes through a pointer into no buffer of " +
                  (access.lds ? "LDS" : "global memory"));
    return false;
  }
  lastNumber = number;
  buffer = &buffers[number];
  limit = buffer->bytes - access.bytes;
  return true;
}

std::string MemoryAccess::describe(const char *verb) const {
  return std::string(verb) + " " + std::to_string(access.bytes) + " bytes at " +
         std::to_string(offset) + " of " + buffer->name;
}

uint8_t *MemoryAccess::failPlace(unsigned lane, const char *verb) {
  if (offset < 0 || offset > limit)
    wave.fail(instr, lane,
              describe(verb) + ", which has " + std::to_string(buffer->bytes));
  else
    wave.fail(instr, lane,
              describe(verb) + ", which is not a multiple of " +
                  std::to_string(access.alignment));
  return nullptr;
}

uint8_t *MemoryAccess::fail(unsigned lane, const char *verb,
                            const Fault &fault) {
  std::string message = describe(verb);
  if (fault.kind == Fault::Uninitialized) {
    message += ", which was never written";
  } else {
    std::string other = fault.otherGroup
                            ? "another workgroup"
                            : "lane " + std::to_string(fault.lane) +
                                  " of wave " + std::to_string(fault.wave);
    bool reads = fault.kind == Fault::ReadUnordered;
    message += ", which " + other + (reads ? " reads in " : " writes in ") +
               describeSite(wave.group->machine.program, fault.site);
    if (fault.kind == Fault::StillFilling)
      message += ", and nothing has waited for that";
    else if (!fault.otherGroup)
      message += ", with no barrier between";
  }
  wave.fail(instr, lane, message);
  return nullptr;
}

uint8_t *MemoryAccess::failLanes(unsigned lane) {
  wave.fail(instr, lane,
            describe("writes") +
                ", where another lane of the same op writes another value");
  return nullptr;
}

void MemoryAccess::failFence(unsigned lane, const Cell &cell) {
  wave.fail(instr, static_cast<int>(lane),
            describe("reads") + ", which lane " +
                std::to_string(cell.writeSite & 255) + " of wave " +
                std::to_string(cell.writeWave) + " writes in " +
                describeSite(wave.group->machine.program, cell.writeSite >> 8) +
                ", with no fence between for asynchronous products");
}

const Cell *Wave::completeProducts(size_t left) {
  for (; heldGroups.size() > left; heldGroups.pop_front()) {
    for (uint32_t accumulator : heldGroups.front().accumulators)
      --accumulators[accumulator].underWay;
    for (const HeldRead &read : heldGroups.front().reads) {
      Cell &cell = *read.cell;
      if (cell.writeEpoch != read.writeEpoch ||
          cell.writeSerial != read.writeSerial)
        return &cell;
      bool isNow = cell.readEpoch == group->ldsEpoch;
      if (isNow && cell.readWave != index)
        cell.flags |= SeveralReaders;
      if (isNow)
        continue;
      cell.flags &= ~SeveralReaders;
      cell.readEpoch = group->ldsEpoch;
      cell.readWave = static_cast<uint8_t>(index);
    }
  }
  return nullptr;
}

void Wave::fenceProxy() {
  ProxyFences &fences = group->proxyFences[index];
  if (fences.last.epoch != group->ldsEpoch)
    fences.earlier = fences.last;
  fences.last = {group->ldsEpoch, static_cast<uint32_t>(steps)};
}

bool Workgroup::isFenced(const Cell &cell, uint32_t wave) const {
  for (auto [index, fences] : llvm::enumerate(proxyFences)) {
    // Another wave's fence is ordered with this one by a barrier behind it.
    bool isOrdered = index == wave || fences.last.epoch != ldsEpoch;
    const ProxyFences::Time &fence = isOrdered ? fences.last : fences.earlier;
    bool isOwn = index == cell.writeWave;
    if (fence.epoch > cell.writeEpoch ||
        (isOwn && fence.epoch == cell.writeEpoch &&
         fence.serial > cell.writeSerial))
      return true;
  }
  return false;
}

void Wave::fenceDevice() {
  seen.resize(lanes);
  acquired.resize(lanes);
  release = {exec, group->globalEpoch, static_cast<uint32_t>(steps)};
  forActiveLanes(*this, [&](unsigned lane) {
    llvm::append_range(acquired[lane], seen[lane]);
    seen[lane].clear();
  });
}

void Wave::meetAt(const Cell *counter, unsigned lane, bool changes) {
  std::vector<Published> &published = group->machine.published[counter];
  seen.resize(lanes);
  llvm::append_range(seen[lane], published);
  if (changes && (release.lanes >> lane & 1))
    published.push_back({group->start, release.epoch, release.serial,
                         static_cast<uint8_t>(index),
                         static_cast<uint8_t>(lane)});
}

void MemoryAccess::addPending() {
  for (Cell *cell = firstCell(), *end = endCell(); cell != end; ++cell)
    wave.pending.push_back(cell);
}
