//===- Memory.h - Buffers, pointers into them, and their shadow -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pointer of an emulated kernel is the number of its buffer in the upper 16
// bits, and 2^46 plus the offset in that buffer below. Arithmetic on it never
// changes the buffer, so that an access beyond its end is detected.
//
// The shadow remembers the last writer and reader of each granule of memory,
// and the time. The time is an epoch, a number that grows with every barrier
// and every workgroup. Two accesses of one epoch by different waves, and two
// accesses of different workgroups, are unordered. This is a vector clock for
// the ways in which GPU kernels synchronise: waves synchronise through barriers
// of their whole workgroup only, and workgroups not at all, but for lanes that
// hand over what they have written: one stores, fences and changes a counter by
// an atomic operation; another one changes or reads the counter by one, fences
// and loads. What
// other lanes of the first one's workgroup have written is not ordered thereby,
// whatever barriers there are. Atomic loads are checked, but not remembered as
// readers: a race with a later plain store is not detected.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_MEMORY_H
#define TARPON_TARGETS_GPU_EMULATOR_MEMORY_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tarpon::emulator {

constexpr unsigned kBufferShift = 48;
constexpr int64_t kOffsetBias = int64_t(1) << 46;

constexpr uint64_t makePointer(unsigned buffer, int64_t offset) {
  return (uint64_t(buffer) << kBufferShift) + kOffsetBias + offset;
}
constexpr unsigned pointerBuffer(uint64_t pointer) {
  return pointer >> kBufferShift;
}
constexpr int64_t pointerOffset(uint64_t pointer) {
  return int64_t(pointer & ((uint64_t(1) << kBufferShift) - 1)) - kOffsetBias;
}

/// The last accesses to one granule. Epoch 0: never.
struct Cell {
  uint32_t writeEpoch, readEpoch;
  /// The number of the writer's instruction in its wave's execution.
  uint32_t writeSerial;
  /// The site in the upper 24 bits, the lane in the lower 8.
  uint32_t writeSite, readSite;
  uint8_t writeWave, readWave;
  uint8_t flags;
};
enum CellFlags : uint8_t {
  /// The last write was atomic, and so were all others of its epoch.
  AtomicWrite = 1,
  /// Several waves have read in readEpoch.
  SeveralReaders = 2,
  /// A workgroup before that of readEpoch has read.
  EarlierReader = 4,
  /// An asynchronous load has written the granule, and has not been waited for
  /// yet.
  Pending = 8,
};

/// The cells of a buffer, allocated on demand; all zero at first.
class Shadow {
public:
  void allocate(int64_t granules) {
    cells.reset(static_cast<Cell *>(std::calloc(granules, sizeof(Cell))));
    count = granules;
  }
  explicit operator bool() const { return cells != nullptr; }
  Cell *at(int64_t granule) { return cells.get() + granule; }
  int64_t size() const { return count; }

private:
  struct Free {
    void operator()(Cell *cells) const { std::free(cells); }
  };
  std::unique_ptr<Cell[], Free> cells;
  int64_t count = 0;
};

struct Buffer {
  uint8_t *data = nullptr;
  int64_t bytes = 0;
  bool lds = false;
  bool uninitialized = false;
  std::string name; ///< "argument 2", "LDS @lds"
  uint32_t granuleShift = 2;
  Shadow shadow;
};

/// A lane's writes to global memory up to a fence, which it has published by an
/// atomic operation. The epochs are those of its workgroup until then.
struct Published {
  uint32_t groupStart, epoch, serial;
  uint8_t wave, lane;

  bool includesWrite(const Cell &cell) const {
    return cell.writeEpoch >= groupStart && cell.writeEpoch <= epoch &&
           cell.writeSerial <= serial && cell.writeWave == wave &&
           (cell.writeSite & 255) == lane;
  }
};

/// One lane's access, as the shadow sees it.
struct AccessTime {
  uint32_t epoch, groupStart, serial, site;
  uint8_t wave;
  bool atomic = false;
  bool pending = false;
  /// The writes of other workgroups that the lane knows; may be null.
  const std::vector<Published> *acquired = nullptr;

  bool hasAcquired(const Cell &cell) const {
    return acquired && std::any_of(acquired->begin(), acquired->end(),
                                   [&](const Published &published) {
                                     return published.includesWrite(cell);
                                   });
  }
};

/// A faulty access.
struct Fault {
  enum Kind {
    None,
    Uninitialized,
    WrittenUnordered, ///< another wave's write
    ReadUnordered,    ///< another wave's read, before this write
    StillFilling,     ///< an asynchronous load has not been waited for
  } kind = None;
  /// The other access of a race.
  uint32_t site = 0, lane = 0, wave = 0;
  bool otherGroup = false;
};

/// Returns true if the last write of the cell is unordered with an access now.
inline bool isWriteUnordered(const Cell &cell, bool lds,
                             const AccessTime &time) {
  if (time.atomic && (cell.flags & AtomicWrite))
    return false;
  if (cell.writeEpoch == time.epoch)
    return cell.writeWave != time.wave;
  return !lds && cell.writeEpoch != 0 && cell.writeEpoch < time.groupStart &&
         !time.hasAcquired(cell);
}

/// Returns true if another wave has read the cell in this epoch.
inline bool isReadNow(const Cell &cell, const AccessTime &time) {
  return cell.readEpoch == time.epoch &&
         ((cell.flags & SeveralReaders) || cell.readWave != time.wave);
}

/// Returns true if an earlier workgroup has read the cell of global memory.
inline bool isReadEarlier(const Cell &cell, bool lds, const AccessTime &time) {
  return !lds && cell.readEpoch != 0 &&
         ((cell.flags & EarlierReader) || cell.readEpoch < time.groupStart);
}

/// Returns true if an asynchronous load of this workgroup may still write the
/// cell.
inline bool isPending(const Cell &cell, const AccessTime &time) {
  return (cell.flags & Pending) && cell.writeEpoch >= time.groupStart;
}

/// Checks a read, and records it if nothing is wrong.
inline Fault::Kind readCell(Cell &cell, const Buffer &buffer,
                            const AccessTime &time, unsigned lane) {
  bool written = buffer.lds ? cell.writeEpoch >= time.groupStart
                            : cell.writeEpoch != 0 || !buffer.uninitialized;
  if (!written)
    return Fault::Uninitialized;
  if (isWriteUnordered(cell, buffer.lds, time))
    return Fault::WrittenUnordered;
  if (isPending(cell, time))
    return Fault::StillFilling;
  if (time.atomic)
    return Fault::None;
  if (cell.readEpoch == time.epoch) {
    if (cell.readWave != time.wave)
      cell.flags |= SeveralReaders;
    return Fault::None;
  }
  cell.flags &= ~SeveralReaders;
  if (cell.readEpoch != 0 && cell.readEpoch < time.groupStart)
    cell.flags |= EarlierReader;
  cell.readEpoch = time.epoch;
  cell.readWave = time.wave;
  cell.readSite = time.site << 8 | lane;
  return Fault::None;
}

/// Checks a write, and records it if nothing is wrong. Also tells if another
/// lane of the same instruction has written there.
inline Fault::Kind writeCell(Cell &cell, const Buffer &buffer,
                             const AccessTime &time, unsigned lane,
                             bool &sameInstruction) {
  if (isWriteUnordered(cell, buffer.lds, time))
    return Fault::WrittenUnordered;
  if (isReadNow(cell, time) || isReadEarlier(cell, buffer.lds, time))
    return Fault::ReadUnordered;
  bool sameEpoch = cell.writeEpoch == time.epoch && cell.writeWave == time.wave;
  if (sameEpoch && cell.writeSerial == time.serial)
    sameInstruction = true;
  else if (isPending(cell, time))
    return Fault::StillFilling;
  // A plain write is remembered even if an atomic one follows in its epoch.
  bool atomic = time.atomic && (!sameEpoch || (cell.flags & AtomicWrite));
  cell.flags &= ~(AtomicWrite | Pending);
  cell.flags |= (atomic ? AtomicWrite : 0) | (time.pending ? Pending : 0);
  cell.writeEpoch = time.epoch;
  cell.writeWave = time.wave;
  cell.writeSerial = time.serial;
  cell.writeSite = time.site << 8 | lane;
  return Fault::None;
}

/// Explains the fault of a cell, which has not changed since it was found.
Fault explainFault(Fault::Kind kind, const Cell &cell, const AccessTime &time);

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_MEMORY_H
