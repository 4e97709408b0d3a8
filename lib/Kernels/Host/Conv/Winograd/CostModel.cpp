//===- CostModel.cpp - The cost of transformed tiles ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The products are most of the work; the rest is counted in cycles per vector.
// The constants were fitted to measurements on a Zen 5 with vectors of 512
// bits.
//
//===----------------------------------------------------------------------===//

#include "Host/Conv/ConvGeometry.h"
#include "Winograd.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;
using llvm::divideCeil;

/// The instructions of transforms that the core issues per cycle, with loads
/// and stores that wait for the L2 cache.
static constexpr double kTransformRate = 1.7;
/// The factor of transposing a row of nchw, which costs about half as much as
/// its transform.
static constexpr double kTransposeFactor = 1.5;
/// The cycles to start a loop over channels and to store its sums.
static constexpr double kLoopCycles = 30;
/// The bytes per cycle from the L2 cache, of the filter from the last-level
/// cache and from memory, and of panels that were just written.
static constexpr double kL2Rate = 20, kCacheRate = 12, kMemoryRate = 6,
                        kPanelRate = 32;

/// The share of the shorter one of two times that does not overlap with the
/// longer one.
static constexpr double kNotHidden = 0.2;

/// The instructions for a product of pairs and its addition where one
/// instruction does not do both, as a ratio to a fused one: the core issues
/// three vector instructions in the time of two multiplications.
static constexpr double kApartFactor = 4.0 / 3;
/// The cycles of one step over a unit for one register tile; see
/// igemm::estimateEfficiency. `fitsL1` is true if the filter of one point fits
/// into the L1 cache.
static double stepCycles(double m, double vectors, double vectorBytes,
                         bool fitsL1) {
  double products = m * vectors;
  double ports = std::min(1.0, products / (m + vectors));
  double efficiency = std::min(1.0, products / 8) *
                      (0.9 * ports + 0.1 * std::min(1.0, products / 28));
  double cycles = products / 2 / efficiency;
  return fitsL1 ? cycles : std::max(cycles, vectors * vectorBytes / kL2Rate);
}

TileWork winograd::getTileWork(const Transform &transform,
                               const Problem &problem) {
  igemm::Geometry g = getConvGeometry(problem);
  auto points = static_cast<double>(transform.points());
  // A transform has 2 size (2 size) multiply-adds per vector, and a load and a
  // store per point.
  double cycles = (4 * points + 2 * points) / kTransformRate;
  bool fromNchw = problem.operands[0].layout.kind == Layout::NCHW;
  bool toNchw = problem.result.layout.kind == Layout::NCHW;
  // Each tile has its pixels of one residue modulo the dilation.
  auto count = [&](int64_t pixels, int64_t dilation) {
    int64_t covered = transform.outTile() * dilation;
    return pixels / covered * dilation + std::min(pixels % covered, dilation);
  };
  // Integers take a shift or a multiplication and an addition for a fused one,
  // and are widened, but a vector has the channels of two.
  TileWork work = {transform.points(), count(g.outWidth, g.dilationW),
                   count(g.outHeight, g.dilationH),
                   cycles * (fromNchw ? kTransposeFactor : 1),
                   cycles * (toNchw ? kTransposeFactor : 1)};
  work.arith = chooseArith(problem.operands[0]);
  return work;
}

namespace {
/// The division of a launch into tasks; see winograd::setTaskParams.
struct Cut {
  int64_t panels, block; ///< panels of all tiles, and of one block
  int64_t channelTiles;

  int64_t blocks() const { return divideCeil(panels, block); }
};

/// The shares of all tasks and of all blocks' input that the busiest thread
/// processes.
struct Shares {
  double tasks, input;
};
} // namespace

/// All blocks, even the last one, count as whole ones.
static Shares countShares(const TargetInfo &target, const Cut &cut,
                          int64_t groups) {
  int64_t blocks = cut.blocks() * groups;
  int64_t parts = divideCeil(
      cut.channelTiles, chooseChannelBlock(target, blocks, cut.channelTiles));
  double block =
      static_cast<double>(cut.block) / static_cast<double>(cut.panels * groups);
  auto share = [&](int64_t pieces) {
    auto most =
        static_cast<double>(divideCeil(blocks * pieces, target.threads));
    return std::min(1.0, most * block / static_cast<double>(pieces));
  };
  return {share(parts), share(1)};
}

/// The time to read data that no cache holds. The filters of a model do not
/// stay in the last-level cache from one run to the next, unless they are
/// small.
static double estimateStream(const TargetInfo &target, const Cut &cut,
                             double filterBytes, double panelBytes) {
  auto l2 = static_cast<double>(target.l2Bytes);
  auto l3 = static_cast<double>(target.l3Bytes);
  auto blocks = static_cast<double>(cut.blocks());
  double cycles = 0;
  if (filterBytes + panelBytes > 0.9 * l2)
    cycles += blocks * filterBytes /
              (filterBytes > 0.25 * l3 ? kMemoryRate : kCacheRate);
  if (panelBytes > 0.75 * l2)
    cycles += blocks * static_cast<double>(cut.channelTiles) * panelBytes /
              kPanelRate;
  return cycles;
}

double winograd::estimateCycles(const TargetInfo &target, const TileWork &work,
                                const igemm::Geometry &g,
                                const PerfConfig &config) {
  int64_t m = config.get("tile_m"), n = config.get("tile_n");
  auto panels = static_cast<int64_t>(divideCeil(work.tiles(g), m));
  Cut cut = {panels, std::min(config.get("block_m"), panels),
             static_cast<int64_t>(divideCeil(g.outChannels, n))};
  auto lanes = static_cast<double>(target.lanes());
  auto points = static_cast<double>(work.points);
  double units = static_cast<double>(work.units(g));
  auto channelTiles = static_cast<double>(cut.channelTiles);
  double vectors = static_cast<double>(n) / lanes;

  bool fitsL1 = units * static_cast<double>(4 * n) <
                0.5 * static_cast<double>(target.l1Bytes);
  double loop =
      units * stepCycles(static_cast<double>(m), vectors, 4 * lanes, fitsL1);
  if (work.arith == igemm::Arith::I16Dot && !target.hasVnni)
    loop *= kApartFactor;
  double products = static_cast<double>(panels) * channelTiles * points *
                    (loop + kLoopCycles);

  auto tiles = static_cast<double>(work.tiles(g));
  double inputVectors = units / lanes;
  auto outputVectors =
      static_cast<double>(divideCeil(g.outChannels, target.lanes()));
  int64_t blockTiles = m * cut.block;
  ProductSpec spec = {work.points, m, n};
  double held = static_cast<double>(
      spec.panelBytes(blockTiles, work.units(g) / igemm::kLineUnits) +
      spec.productBytes(blockTiles));
  double far =
      std::clamp(held / static_cast<double>(4 * target.l2Bytes) - 1, 0.0, 1.0);
  double input =
      tiles * inputVectors * (work.inputCycles + far * work.farCycles);
  double output =
      tiles * outputVectors * (work.outputCycles + far * work.farCycles);

  // Reading overlaps with the products.
  double filterBytes =
      4 * points * units * static_cast<double>(n) * channelTiles;
  double panelBytes = 4 * points * units * static_cast<double>(blockTiles);
  double stream = estimateStream(target, cut, filterBytes, panelBytes);
  double longer = std::max(products, stream),
         shorter = std::min(products, stream);
  Shares shares = countShares(target, cut, g.groups);
  return static_cast<double>(g.groups) *
         (shares.tasks * (longer + kNotHidden * shorter + output) +
          shares.input * input);
}
