//===- CostModel.cpp - The cost of transforms of tiles --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of the transforms divided by a rate that was fitted to
// measurements on a Zen 5 with vectors of 512 bits. The products are the
// engine's (Winograd/CostModel.cpp).
//
//===----------------------------------------------------------------------===//

#include "Fft.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;
using llvm::divideCeil;

/// The instructions of transforms that the core issues per cycle: with the
/// tile's plane near the L1 cache, and in the L2 cache.
static constexpr double kNearRate = 3.6, kFarRate = 2.5;
/// The instructions of loading a pixel that may be padding, and of storing one
/// with the epilogue.
static constexpr double kLoadInstructions = 3, kStoreInstructions = 6;
/// The instructions of transposing a pixel's vector of channels.
static constexpr double kTransposeInstructions = 6;
/// The cycles of writing a vector of one point to its panel, or of reading a
/// product: they are far apart.
static constexpr double kPointCycles = 3;
/// The additional cycles if they are not in the L2 cache.
static constexpr double kFarPointCycles = 12;
/// Storing the sums takes as long as adding up this many channels.
static constexpr double kFewChannels = 16;
/// The bytes per cycle of a filter that no cache holds.
static constexpr double kMemoryRate = 6;

/// The instructions for n complex numbers: arithmetic, and a load and a store
/// of each for every three factors of two.
static double complexInstructions(int64_t n) {
  auto points = static_cast<double>(n);
  double levels = std::log2(points);
  return 2.5 * points * levels + 4 * points * std::ceil(levels / 3);
}

/// The instructions for n real numbers: those of half as many complex ones,
/// recombined in memory if there are many.
static double realInstructions(int64_t n) {
  auto points = static_cast<double>(n);
  return complexInstructions(n / 2) + (n > 16 ? 5.25 : 3.25) * points;
}

static double columnInstructions(const TileShape &tile) {
  if (tile.height == 1)
    return 0;
  int64_t complexColumns = tile.width / 2 - 1;
  return 2 * realInstructions(tile.height) +
         static_cast<double>(complexColumns) * complexInstructions(tile.height);
}

static bool isNchw(const TensorDesc &desc) {
  return desc.layout.kind == Layout::NCHW;
}

namespace {
/// The tiles of one image, and the cycles per tile and vector of channels.
struct TransformCost {
  int64_t tilesX, tilesY;
  double forward, inverse;
};
} // namespace

/// Rows of padding are not transformed, and only the stored pixels are
/// transformed back.
static TransformCost estimateTransforms(const TileShape &tile,
                                        const Problem &problem,
                                        const igemm::Geometry &g,
                                        const TargetInfo &target) {
  int64_t outH = tile.height - g.kernelH + 1, outW = tile.width - g.kernelW + 1;
  auto tilesX = static_cast<int64_t>(divideCeil(g.outWidth, outW));
  auto tilesY = static_cast<int64_t>(divideCeil(g.outHeight, outH));
  auto tiles = static_cast<double>(tilesY);
  // Neighbours overlap by all rows of the filter but one.
  double read = std::min<double>(
      static_cast<double>(tile.height),
      static_cast<double>(g.height + (tilesY - 1) * (g.kernelH - 1)) / tiles);
  double stored = static_cast<double>(g.outHeight) / tiles;
  double pixelsX =
      static_cast<double>(g.outWidth) / static_cast<double>(tilesX);
  double load = kLoadInstructions, store = kStoreInstructions;
  load += isNchw(problem.operands[0]) ? kTransposeInstructions : 0;
  store += isNchw(problem.result) ? kTransposeInstructions : 0;
  double row = realInstructions(tile.width), columns = columnInstructions(tile);
  double forward =
      columns + read * (row + load * static_cast<double>(tile.width));
  double inverse = columns + stored * (row + store * pixelsX);
  int64_t plane = 4 * target.lanes() * tile.height * tile.width;
  double rate = plane <= target.l2Bytes / 8 ? kNearRate : kFarRate;
  return {tilesX, tilesY, forward / rate, inverse / rate};
}

winograd::TileWork fft::getTileWork(const TileShape &tile,
                                    const Problem &problem,
                                    const igemm::Geometry &g,
                                    const TargetInfo &target) {
  TransformCost cost = estimateTransforms(tile, problem, g, target);
  auto points = static_cast<double>(tile.points());
  auto channels = static_cast<double>(g.channels);
  double moved = kPointCycles * points;
  double stored = moved * (1 + kFewChannels / channels);
  return {tile.points(),         cost.tilesX,
          cost.tilesY,           cost.forward + moved,
          cost.inverse + stored, kFarPointCycles * points};
}

double fft::estimateDepthwiseCycles(const TileShape &tile,
                                    const Problem &problem,
                                    const igemm::Geometry &g,
                                    const TargetInfo &target) {
  TransformCost cost = estimateTransforms(tile, problem, g, target);
  auto vectors = static_cast<double>(divideCeil(g.channels, target.lanes()));
  auto tiles = static_cast<double>(g.batch * cost.tilesX * cost.tilesY);
  auto pairs = static_cast<double>(tile.pairs());
  double multiply = 6 * pairs / kNearRate;
  double filter = pairs * 2 * 4 * static_cast<double>(target.lanes());
  return vectors *
         (tiles * (cost.forward + cost.inverse + multiply) +
          filter / kMemoryRate) /
         static_cast<double>(target.threads);
}
