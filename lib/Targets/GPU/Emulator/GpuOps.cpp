//===- GpuOps.cpp - Ids and barriers --------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonOps.h"
#include "Wave.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Ids; `aux` is the dimension
//===----------------------------------------------------------------------===//

static void runThreadId(Wave &wave, const Instr &instr) {
  const std::vector<int64_t> &ids = wave.threadIds[instr.aux];
  std::copy(ids.begin(), ids.end(), wave.at<int64_t>(instr.dst));
}

static void fill(Wave &wave, const Instr &instr, int64_t value) {
  std::fill_n(wave.at<int64_t>(instr.dst), wave.lanes, value);
}

static void runBlockId(Wave &wave, const Instr &instr) {
  fill(wave, instr, wave.group->id[instr.aux]);
}
static void runBlockDim(Wave &wave, const Instr &instr) {
  fill(wave, instr, wave.group->machine.arguments.block[instr.aux]);
}
static void runGridDim(Wave &wave, const Instr &instr) {
  fill(wave, instr, wave.group->machine.arguments.grid[instr.aux]);
}

static void runLaneId(Wave &wave, const Instr &instr) {
  int64_t *dst = wave.at<int64_t>(instr.dst);
  std::iota(dst, dst + wave.lanes, int64_t(0));
}

template <typename Op, auto handler>
static LogicalResult translateId(Translator &translator, Operation *op) {
  Reg dst = translator.define(op->getResult(0));
  translator.emit(op, handler, dst).aux =
      static_cast<uint32_t>(cast<Op>(op).getDimension());
  return success();
}

static LogicalResult translateLaneId(Translator &translator, Operation *op) {
  translator.emit(op, runLaneId, translator.define(op->getResult(0)));
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// `imm` is 1 if the barrier also orders global memory, and `aux` 1 if it waits
/// for asynchronous loads to LDS.
static void runBarrier(Wave &wave, const Instr &instr) {
  if (uint64_t missing = wave.launchMask & ~wave.exec)
    return wave.fail(instr, std::countr_zero(missing),
                     "is not reached by this lane, but by others of its wave");
  if (instr.aux)
    wave.completeGroups(0);
  wave.barrier = &instr;
  wave.state = Wave::State::AtBarrier;
}

LogicalResult emulator::emitBarrier(Translator &translator, Operation *op,
                                    bool ordersGlobal, bool waitsForLoads) {
  Instr &instr = translator.emit(op, runBarrier);
  instr.imm = ordersGlobal;
  instr.aux = waitsForLoads;
  return success();
}

static LogicalResult translateBarrier(Translator &translator, Operation *op) {
  return emitBarrier(translator, op, /*ordersGlobal=*/true,
                     /*waitsForLoads=*/true);
}

void emulator::addGpuOps(OpTable &table) {
  table["gpu.thread_id"] = translateId<gpu::ThreadIdOp, runThreadId>;
  table["gpu.block_id"] = translateId<gpu::BlockIdOp, runBlockId>;
  table["gpu.block_dim"] = translateId<gpu::BlockDimOp, runBlockDim>;
  table["gpu.grid_dim"] = translateId<gpu::GridDimOp, runGridDim>;
  table["gpu.lane_id"] = translateLaneId;
  table["gpu.barrier"] = translateBarrier;
}
