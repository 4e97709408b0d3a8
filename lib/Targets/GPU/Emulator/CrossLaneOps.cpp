//===- CrossLaneOps.cpp - Values of other lanes of the wave ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonOps.h"
#include "Wave.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Returns the active lanes' common value of a register, or none after the wave
/// has failed.
static std::optional<int32_t> getUniform(Wave &wave, const Instr &instr,
                                         uint32_t offset, const char *what) {
  const int32_t *values = wave.at<int32_t>(offset);
  int32_t first = values[wave.firstLane()];
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    if (values[lane] == first)
      continue;
    wave.fail(instr, lane,
              "has " + std::string(what) + " " + std::to_string(values[lane]) +
                  ", and another lane has " + std::to_string(first));
    return std::nullopt;
  }
  return first;
}

static bool checkActive(Wave &wave, const Instr &instr, unsigned lane,
                        unsigned source) {
  if (wave.exec >> source & 1)
    return true;
  wave.fail(instr, lane,
            "reads lane " + std::to_string(source) + ", which is not active");
  return false;
}

/// Returns the lane that `lane` reads, or -1 outside of its group of `width`
/// lanes.
static int getSource(gpu::ShuffleMode mode, int lane, int offset, int width) {
  int begin = lane / width * width, end = begin + width;
  int source = lane;
  switch (mode) {
  case gpu::ShuffleMode::XOR:
    source = lane ^ offset;
    break;
  case gpu::ShuffleMode::DOWN:
    source = lane + offset;
    break;
  case gpu::ShuffleMode::UP:
    source = lane - offset;
    break;
  case gpu::ShuffleMode::IDX:
    return offset >= 0 && offset < end ? offset : -1;
  }
  return source >= begin && source < end ? source : -1;
}

/// dst from a, by the offsets in b and the width in c; `imm` is the register of
/// the second result, `aux` the mode. As in MLIR's lowering, a lane whose
/// source is outside of its group keeps its own value, and its result is marked
/// as not valid.
template <typename T>
static void runShuffle(Wave &wave, const Instr &instr) {
  std::optional<int32_t> width = getUniform(wave, instr, instr.c, "width");
  if (!width)
    return;
  if (*width < 1 || *width > int32_t(wave.lanes) || (*width & (*width - 1)))
    return wave.fail(instr, wave.firstLane(),
                     "has width " + std::to_string(*width) +
                         ", which is not a power of two within the wave");
  auto mode = static_cast<gpu::ShuffleMode>(instr.aux);
  const int32_t *offsets = wave.at<int32_t>(instr.b);
  uint8_t *valid = wave.at<uint8_t>(instr.imm);
  unsigned sources[64];
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    sources[lane] = lane;
    if (!(wave.exec >> lane & 1))
      continue;
    int source = getSource(mode, lane, offsets[lane], *width);
    valid[lane] = source >= 0;
    if (source < 0)
      continue;
    if (!checkActive(wave, instr, lane, source))
      return;
    sources[lane] = source;
  }
  T *__restrict dst = wave.at<T>(instr.dst);
  const T *__restrict value = wave.at<T>(instr.a);
  for (uint32_t i = 0; i < instr.count; i += wave.lanes)
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      dst[i + lane] = value[i + sources[lane]];
}

template <typename T>
static void broadcastLane(Wave &wave, const Instr &instr, unsigned source) {
  T *dst = wave.at<T>(instr.dst);
  const T *value = wave.at<T>(instr.a);
  for (uint32_t i = 0; i < instr.count; i += wave.lanes) {
    T chosen = value[i + source];
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      dst[i + lane] = chosen;
  }
}

template <typename T>
static void runReadFirstLane(Wave &wave, const Instr &instr) {
  broadcastLane<T>(wave, instr, wave.firstLane());
}

/// Reads the lane in b, which must be the same in all lanes.
template <typename T>
static void runReadLane(Wave &wave, const Instr &instr) {
  std::optional<int32_t> lane = getUniform(wave, instr, instr.b, "lane");
  if (!lane)
    return;
  if (*lane < 0 || *lane >= int32_t(wave.lanes))
    return wave.fail(instr, wave.firstLane(),
                     "reads lane " + std::to_string(*lane) + " of a wave of " +
                         std::to_string(wave.lanes));
  if (checkActive(wave, instr, wave.firstLane(), *lane))
    broadcastLane<T>(wave, instr, *lane);
}

constexpr Handler kShuffles[] = {runShuffle<uint8_t>, runShuffle<uint16_t>,
                                 runShuffle<uint32_t>, runShuffle<uint64_t>};
constexpr Handler kReadFirstLanes[] = {
    runReadFirstLane<uint8_t>, runReadFirstLane<uint16_t>,
    runReadFirstLane<uint32_t>, runReadFirstLane<uint64_t>};
constexpr Handler kReadLanes[] = {runReadLane<uint8_t>, runReadLane<uint16_t>,
                                  runReadLane<uint32_t>, runReadLane<uint64_t>};

static Handler pickSize(const Handler *handlers, Reg reg) {
  return handlers[std::countr_zero(elemBytes(reg.elem))];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult translateShuffle(Translator &translator, Operation *op) {
  auto shuffle = cast<gpu::ShuffleOp>(op);
  Reg value = translator.use(shuffle.getValue());
  Reg dst = translator.define(shuffle.getShuffleResult());
  Reg valid = translator.define(shuffle.getValid());
  Instr &instr = translator.emit(op, pickSize(kShuffles, value), dst, value,
                                 translator.use(shuffle.getOffset()),
                                 translator.use(shuffle.getWidth()));
  instr.aux = static_cast<uint32_t>(shuffle.getMode());
  instr.imm = valid.offset;
  return success();
}

static LogicalResult translateReadFirstLane(Translator &translator,
                                            Operation *op) {
  Reg value = translator.use(op->getOperand(0));
  Reg dst = translator.define(op->getResult(0));
  translator.emit(op, pickSize(kReadFirstLanes, value), dst, value);
  return success();
}

static LogicalResult translateReadLane(Translator &translator, Operation *op) {
  Reg value = translator.use(op->getOperand(0));
  Reg lane = translator.use(op->getOperand(1));
  Reg dst = translator.define(op->getResult(0));
  translator.emit(op, pickSize(kReadLanes, value), dst, value, lane);
  return success();
}

LogicalResult emulator::translateLaneBroadcast(Translator &translator,
                                               Operation *op) {
  return op->getNumOperands() == 1 ? translateReadFirstLane(translator, op)
                                   : translateReadLane(translator, op);
}

void emulator::addCrossLaneOps(OpTable &table) {
  table["gpu.shuffle"] = translateShuffle;
  table["gpu.subgroup_broadcast"] = translateLaneBroadcast;
}
