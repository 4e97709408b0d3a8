//===- FusedEstimate.cpp - Times of fused producers -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three things decide: how often a workgroup waits for the cells of windows,
// what it costs a compute unit to fetch and to convert them, and the launches
// and meetings of workgroups. The figures are fitted to 35 problems of
// MobileNetV2 and EfficientNet, which an H200 ran at batch 1 and 64
// (2026-11-27; the table is in docs/gpu-kit.md). No problem with an
// elementwise producer was measured at a large batch.
//
//===----------------------------------------------------------------------===//

#include "FusedEstimate.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

/// From the start of a launch to the next one's, with what is done once.
static constexpr double kFusedClocks = 3000, kSeparateClocks = 3600;
/// A launch that adds up the sums of splits.
static constexpr double kSumClocks = 6500;
/// The barriers of a step, and what its products do not hide of loads.
static constexpr double kStepClocks = 500;
/// The wait for loads of cells that miss the first-level cache, one row or
/// column of a window after another. A launch for the producer alone has more
/// waves, whose loads are under way meanwhile.
static constexpr double kMissClocks = 1300, kSeparateMissClocks = 650;
/// The bytes that a compute unit gets of the second-level cache in a clock.
static constexpr double kCacheBytes = 10;
/// Workgroups that share steps meet, and the last one of a block reads the
/// others' sums, so many bytes in a clock.
static constexpr double kMeetClocks = 5000, kMeetBytes = 50;

namespace {

/// The share of a compute unit.
struct Load {
  double groups; ///< workgroups, one after another or beside others
  double rounds; ///< of those that run at a time
  double steps;  ///< of each
  double parts;  ///< of a block, if workgroups meet; otherwise 0
};

} // namespace

static double real(int64_t number) { return static_cast<double>(number); }

/// `held` are the registers of a lane for windows.
static Load distribute(const GpuTarget &gpu, const Product &product,
                       const Tile &tile, int64_t held) {
  const TileFields &f = tile.getFields();
  int64_t steps = Depth(tile, product.geometry).steps;
  int64_t blocks = countBlocks(f, product.geometry);
  int64_t groups = blocks * f.wholeSplits();
  int64_t each = divideCeil(steps, f.wholeSplits());
  int64_t parts = 0;
  if (f.sharesSteps()) {
    StepShares shares = getShares(gpu, product, tile);
    groups = shares.groups;
    each = divideCeil(blocks * steps, groups);
    parts = shares.dividesBlocks() ? divideCeil(steps, each) : 0;
  }
  int64_t waves = gpu.getOccupancy(tile.estimateRegisters() + held,
                                   tile.ldsBytes(), tile.threads());
  int64_t resident = std::max<int64_t>(1, waves * gpu.simdsPerUnit *
                                              gpu.waveSize / tile.threads());
  int64_t ofUnit = divideCeil(groups, gpu.computeUnits);
  return {real(ofUnit), real(divideCeil(ofUnit, resident)), real(each),
          real(parts)};
}

/// The clocks for which the waves of a workgroup occupy their SIMDs with so
/// many instructions of each lane.
static double getIssue(const GpuTarget &gpu, const Tile &tile,
                       double instructions) {
  double each =
      real(gpu.waveSize * gpu.simdsPerUnit) / real(gpu.vectorFmasPerClock);
  return instructions * each * real(tile.waves()) / real(gpu.simdsPerUnit);
}

/// A step's matrix instructions.
static double getProductClocks(const GpuTarget &gpu, const Tile &tile) {
  int64_t ops = tile.tilesM() * tile.tilesN() * tile.rowBytes() /
                tile.getOp().depthBytes() * tile.getOp().opsPerUnit();
  return real(ops * tile.getOp().cycles * tile.waves()) /
         real(gpu.simdsPerUnit);
}

/// Instructions of a lane for a chunk's window: for each cell its place, and
/// for each element what unpacks, converts and multiplies it and its weight.
static double countWindowInstructions(const Geometry &window,
                                      int64_t elementBytes) {
  constexpr int64_t kPlace = 7, kOfElement = 6;
  return real(window.taps() *
              (kOfElement * kChunkBytes / elementBytes + kPlace));
}

/// The cells of a window that miss the first-level cache: windows beside it in
/// a row have had the others.
static double countMisses(const Geometry &window) {
  return real(window.kernelD * window.kernelH *
              std::min(window.strideW, window.kernelW));
}

static double getClocks(const GpuTarget &gpu, double bytes) {
  return bytes / gpu.memoryGbps * gpu.clockGhz;
}

/// The clocks of adding up the sums of several workgroups.
static double getSumClocks(const Tile &tile, const Load &load) {
  constexpr double kSumBytes = 4;
  const TileFields &f = tile.getFields();
  if (f.wholeSplits() > 1)
    return kSumClocks;
  if (load.parts == 0)
    return 0;
  double block = real(f.blockM * f.blockN) * kSumBytes;
  return kMeetClocks + load.parts * block / kMeetBytes;
}

double gpuigemm::estimateFused(const GpuTarget &gpu, const Product &product,
                               const Tile &tile) {
  const Problem &producer = *product.producer;
  Geometry window = Prologue::getWindow(producer);
  int64_t loads = tile.loadsOfB();
  Load load =
      distribute(gpu, product, tile, loads * window.taps() * kChunkBytes / 4);
  double misses = countMisses(window);
  double instructions = real(loads) * countWindowInstructions(
                                          window, tile.getOp().elementBytes());
  double bytes = misses * real(loads * tile.threads() * kChunkBytes);
  double busy = getIssue(gpu, tile, instructions) + bytes / kCacheBytes +
                getProductClocks(gpu, tile);
  double wait = kStepClocks + kMissClocks * misses;
  double steps = load.steps * (wait * load.rounds + busy * load.groups);
  double memory =
      getClocks(gpu, producer.bytes() - real(producer.result.numBytes()));
  return kFusedClocks + std::max(steps, memory) + getSumClocks(tile, load);
}

/// Returns true if the solver of a 1x1 convolution by itself is expected to
/// split k: at small batches, where compute units would be without work.
static bool isSplit(const GpuTarget &gpu, const Product &product,
                    int64_t steps) {
  constexpr int64_t kLeastSteps = 8, kBlock = 32;
  int64_t blocks = divideCeil(product.geometry.outChannels, kBlock) *
                   divideCeil(product.pixels(), kBlock);
  return steps >= kLeastSteps && 2 * blocks <= gpu.computeUnits;
}

double gpuigemm::estimateSeparate(const GpuTarget &gpu, const Product &product,
                                  const Tile &tile) {
  const Problem &producer = *product.producer;
  Geometry window = Prologue::getWindow(producer);
  int64_t elementBytes = tile.getOp().elementBytes();
  double value = real(producer.result.numBytes());
  double instructions =
      value / kChunkBytes * countWindowInstructions(window, elementBytes);
  double first =
      kSeparateMissClocks * countMisses(window) +
      instructions / real(gpu.vectorFmasPerClock * gpu.computeUnits) +
      getClocks(gpu, producer.bytes());

  // The tile is not this one.
  constexpr int64_t kStepBytes = 128;
  const Geometry &g = product.geometry;
  int64_t steps = divideCeil(g.channels * elementBytes, kStepBytes);
  bool splits = isSplit(gpu, product, steps);
  double sums = real(product.pixels()) * real(g.outChannels);
  double products = 2 * sums * real(g.channels) /
                    gpu.peakGflops(producer.result.dtype) * gpu.clockGhz;
  double memory = getClocks(gpu, value + sums * real(elementBytes));
  double second =
      kStepClocks * real(steps) / (splits ? 2 : 1) + std::max(products, memory);
  return 2 * kSeparateClocks + first + second + (splits ? kSumClocks : 0);
}
