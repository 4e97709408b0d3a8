//===- FusedEstimate.cpp - Times of fused producers -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three things decide: how often a workgroup waits for memory, how many
// instructions lanes issue for windows, and the number of launches. The figures
// were not fitted to measurements of such kernels: no GPU has run one yet.
//
//===----------------------------------------------------------------------===//

#include "FusedEstimate.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

/// A launch of MobileNetV2 takes an H100 2.8 us at batch 1, of which a kernel
/// that does nothing would take about one.
static constexpr double kLaunchMicroseconds = 1.0;
/// Arguments, the first data, and the last stores.
static constexpr double kFillClocks = 1500;
/// Loads that products of one step do not hide, and those of copies that
/// several steps do.
static constexpr double kWaitClocks = 700, kCopyClocks = 250;
/// Workgroups that share steps meet.
static constexpr double kMeetClocks = 800;

namespace {

/// The share of a compute unit.
struct Load {
  double groups; ///< workgroups, one after another or beside others
  double rounds; ///< of those that run at a time
  double steps;  ///< of each
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
  if (f.sharesSteps()) {
    groups = getShares(gpu, product, tile).groups;
    each = divideCeil(blocks * steps, groups);
  }
  int64_t waves = gpu.getOccupancy(tile.estimateRegisters() + held,
                                   tile.ldsBytes(), tile.threads());
  int64_t resident = std::max<int64_t>(1, waves * gpu.simdsPerUnit *
                                              gpu.waveSize / tile.threads());
  int64_t ofUnit = divideCeil(groups, gpu.computeUnits);
  return {real(ofUnit), real(divideCeil(ofUnit, resident)), real(each)};
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

/// Conversions and multiply-adds of a lane for the windows of a step, with the
/// addresses of their cells.
static double countWindowInstructions(const Product &product,
                                      const Tile &tile) {
  constexpr int64_t kAddress = 8;
  int64_t cells = Prologue::getWindow(*product.producer).taps();
  int64_t elements = kChunkBytes / tile.getOp().elementBytes();
  return real(tile.loadsOfB() * cells * (2 * elements + kAddress));
}

static double getClocks(const GpuTarget &gpu, double bytes) {
  return bytes / gpu.memoryGbps * gpu.clockGhz;
}

/// The clocks of further launches of a solution, and of meeting.
static double getSplitClocks(const GpuTarget &gpu, const Product &product,
                             const Tile &tile) {
  const TileFields &f = tile.getFields();
  if (f.wholeSplits() > 1)
    return kLaunchMicroseconds * 1000 * gpu.clockGhz + kFillClocks;
  bool meets = f.sharesSteps() && getShares(gpu, product, tile).dividesBlocks();
  return meets ? kMeetClocks : 0;
}

double gpuigemm::estimateFused(const GpuTarget &gpu, const Product &product,
                               const Tile &tile) {
  int64_t cells = Prologue::getWindow(*product.producer).taps();
  Load load =
      distribute(gpu, product, tile, tile.loadsOfB() * cells * kChunkBytes / 4);
  double issue = getIssue(gpu, tile, countWindowInstructions(product, tile)) +
                 getProductClocks(gpu, tile);
  double steps = load.steps * (kWaitClocks * load.rounds + issue * load.groups);
  double memory = getClocks(gpu, product.producer->bytes() -
                                     real(product.producer->result.numBytes()));
  return kFillClocks + std::max(steps, memory) +
         getSplitClocks(gpu, product, tile);
}

double gpuigemm::estimateSeparate(const GpuTarget &gpu, const Product &product,
                                  const Tile &tile) {
  const Problem &producer = *product.producer;
  double launch = kLaunchMicroseconds * 1000 * gpu.clockGhz;
  int64_t elements = kChunkBytes / tile.getOp().elementBytes();
  double chunks = real(producer.result.numElements()) / real(elements);
  double instructions =
      chunks * countWindowInstructions(product, tile) / real(tile.loadsOfB());
  double first = std::max(instructions / real(gpu.vectorFmasPerClock) /
                              real(gpu.computeUnits),
                          getClocks(gpu, producer.bytes()));
  Load load = distribute(gpu, product, tile, /*held=*/0);
  double steps = load.steps * (kCopyClocks * load.rounds +
                               getProductClocks(gpu, tile) * load.groups);
  double second =
      std::max(steps, getClocks(gpu, real(producer.result.numBytes())));
  return launch + 2 * kFillClocks + first + second +
         getSplitClocks(gpu, product, tile);
}
