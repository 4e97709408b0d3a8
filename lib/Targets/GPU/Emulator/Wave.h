//===- Wave.h - The state of a running kernel -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_WAVE_H
#define TARPON_TARGETS_GPU_EMULATOR_WAVE_H

#include "Memory.h"
#include "Program.h"

#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>

namespace tarpon::emulator {

/// One launch.
struct Machine {
  const Program &program;
  const EmulatedLaunch &arguments;
  /// Buffer 0 is none, then comes LDS, then the arguments.
  std::vector<Buffer> buffers;
  uint32_t epoch = 0;
  /// The writes that were published, by counter.
  std::unordered_map<const Cell *, std::vector<Published>> published = {};
  EmulationReport report = {};
  /// The fault that ended the launch; empty if there is none.
  std::string error = {};
};

/// The last fence between copies and asynchronous products that a wave has
/// executed, and the last one of an epoch before that. Epoch 0: none.
struct ProxyFences {
  struct Time {
    uint32_t epoch = 0, serial = 0;
  };
  Time last, earlier;
};

/// The running workgroup.
struct Workgroup {
  Machine &machine;
  int64_t id[3] = {0, 0, 0};
  /// Accesses of this workgroup have this epoch or later ones.
  uint32_t start = 0;
  uint32_t ldsEpoch = 0, globalEpoch = 0;
  /// By wave.
  std::vector<ProxyFences> proxyFences = {};

  /// Returns true if a fence between the cell's last write, which is ordered
  /// with the wave, and now makes it visible to products of the wave.
  bool isFenced(const Cell &cell, uint32_t wave) const;
};

/// A cell that an asynchronous product reads until it is waited for, with its
/// last write before.
struct HeldRead {
  Cell *cell;
  uint32_t writeEpoch, writeSerial;
};

/// The registers of sums, as asynchronous products see them.
struct Accumulator {
  /// The wave's step at the last access by another instruction.
  uint64_t lastAccess = 0;
  /// The number of products that have not been waited for.
  uint32_t underWay = 0;
};

/// The cells and registers of asynchronous products that run at a time.
struct ProductGroup {
  std::vector<HeldRead> reads;
  std::vector<uint32_t> accumulators;
};

/// One wave. Frame and thread ids are kept from one workgroup to the next.
struct Wave {
  enum class State : uint8_t { Running, AtBarrier, Finished, Failed };

  Workgroup *group = nullptr;
  uint8_t *frame = nullptr;
  unsigned lanes = 64;
  unsigned index = 0;
  State state = State::Running;
  uint32_t pc = 0;
  /// The lanes that execute, and those that exist.
  uint64_t exec = 0, launchMask = 0;
  std::vector<uint64_t> masks;
  uint64_t steps = 0;
  uint64_t matrixInstructions = 0;
  /// The barrier where it waits, if AtBarrier.
  const Instr *barrier = nullptr;
  /// Thread ids of the lanes, per dimension.
  std::vector<int64_t> threadIds[3];
  /// Cells that asynchronous loads have written since the last wait or commit.
  std::vector<Cell *> pending;
  /// Those of the committed groups that are still under way, oldest first.
  std::deque<std::vector<Cell *>> pendingGroups;
  /// Asynchronous products since the last commit, and by group.
  ProductGroup held;
  std::deque<ProductGroup> heldGroups;
  std::vector<Accumulator> accumulators;
  /// The step of the last fence between accesses to registers and products.
  uint64_t registerFence = 0;
  /// The last fence between accesses to global memory, and the lanes that
  /// executed it.
  struct {
    uint64_t lanes = 0;
    uint32_t epoch = 0, serial = 0;
  } release = {};
  /// Writes that other workgroups have published, by lane: seen at counters,
  /// and fenced since then. Empty as long as there are no fences.
  std::vector<std::vector<Published>> seen, acquired;

  template <typename T>
  T *at(uint32_t offset) const {
    return reinterpret_cast<T *>(frame + offset);
  }
  uint64_t fullMask() const { return ~uint64_t(0) >> (64 - lanes); }
  unsigned firstLane() const { return std::countr_zero(exec); }

  /// Makes a group of the asynchronous loads since the last commit.
  void commitPending() {
    pendingGroups.push_back(std::move(pending));
    pending.clear();
  }
  /// The data of all groups but the latest `left` has arrived, and counts as
  /// written now.
  void completeGroups(size_t left) {
    for (; pendingGroups.size() > left; pendingGroups.pop_front())
      for (Cell *cell : pendingGroups.front()) {
        cell->flags &= ~Pending;
        cell->writeEpoch = group->ldsEpoch;
        cell->writeSerial = static_cast<uint32_t>(steps);
      }
  }

  /// Makes a group of the asynchronous products since the last commit.
  void commitHeld() {
    heldGroups.push_back(std::move(held));
    held = {};
  }
  /// All groups of products but the latest `left` are done, and count as
  /// reading now. Returns a cell that was written in the meantime, or null.
  const Cell *completeProducts(size_t left);
  /// Orders the wave's writes to LDS with later asynchronous products.
  void fenceProxy();

  /// Orders the active lanes' accesses to global memory.
  void fenceDevice();
  /// The lane reads or changes a counter by an atomic operation.
  void meetAt(const Cell *counter, unsigned lane, bool changes);

  /// Ends the launch with the error "kernel k: workgroup 3, wave 1, lane 17:
  /// 'op' at file:1:2 MESSAGE". A negative lane is left out.
  void fail(const Instr &instr, int lane, const std::string &message);
};

/// Calls `body(lane)` for each active lane.
template <typename Body>
inline void forActiveLanes(const Wave &wave, Body body) {
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1)
    body(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Describes a site: "'llvm.load' at conv.mlir:3:4".
std::string describeSite(const Program &program, uint32_t site);
/// Describes a workgroup: "workgroup 3", or "workgroup (1, 0, 2)".
std::string describeWorkgroup(const Workgroup &group);

/// Executes the wave until it waits at a barrier, finishes or fails.
void runWave(Wave &wave);

/// Runs a launch; the error is the first fault.
runtime::Result<EmulationReport> runLaunch(const Program &program,
                                           const EmulatedLaunch &launch);

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_WAVE_H
