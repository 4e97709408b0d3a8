//===- StrassenSolver.cpp - The solver of large products with weights -----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Strassen.h.
//
//===----------------------------------------------------------------------===//

#include "Host/Conv/ConvGeometry.h"
#include "Host/Gemm/Batches.h"
#include "Host/ImplicitGemm/FilterPlan.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"
#include "Strassen.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::strassen;
using igemm::Geometry;
using llvm::divideCeil;

/// The parts that one level cuts a dimension into.
static constexpr int64_t kParts = 2;
static constexpr int64_t kMaxLevels = 2;
static constexpr int64_t kMaxBlock = 64;

/// Packing a row of a panel takes as long as multiplying it by so many columns
/// (on a Zen 4).
static constexpr double kColumnsPerPanel = 8;

static int64_t getParts(int64_t levels) { return int64_t(1) << levels; }

/// The rows of all matrices, or the pixels of all images, are those of one.
static Geometry getGeometry(const Problem &problem) {
  if (problem.op == OpKind::Conv) {
    Geometry g = getConvGeometry(problem);
    g.width = g.outWidth = g.batch * g.outPixels();
    g.batch = g.height = g.outHeight = g.depth = g.outDepth = 1;
    return g;
  }
  Geometry g;
  g.channels = gemm::getDepth(problem);
  g.outChannels = problem.result.shape.back();
  g.width = g.outWidth = problem.result.numElements() / g.outChannels;
  return g;
}

static igemm::FilterStrides getStrides(const Problem &problem) {
  int64_t depth = getGeometry(problem).channels;
  bool isDepthInnermost =
      problem.op == OpKind::Conv || problem.integer("transpose_rhs");
  return isDepthInnermost
             ? igemm::FilterStrides{depth, 1, 0}
             : igemm::FilterStrides{1, problem.result.shape.back(), 0};
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static Applicability checkConv(const Problem &problem) {
  if (problem.result.rank() > 5)
    return Applicability::no("needs one to three spatial dimensions");
  Geometry g = getConvGeometry(problem);
  if (!g.isPointwise() || g.groups > 1)
    return Applicability::no("needs windows of one pixel, a stride of 1, no "
                             "padding and one group");
  if (problem.operands[0].layout.kind != Layout::NHWC ||
      problem.result.layout.kind != Layout::NHWC)
    return Applicability::no("needs an nhwc input and result");
  return Applicability::yes();
}

static Applicability checkMatMul(const Problem &problem) {
  if (!gemm::isOneProduct(problem))
    return Applicability::no("needs one right-hand matrix");
  if (problem.integer("transpose_lhs"))
    return Applicability::no("needs rows of the left-hand matrix");
  return Applicability::yes();
}

static bool fitsLines(const Geometry &g, int64_t levels) {
  return g.channels % (igemm::kLineUnits * getParts(levels)) == 0;
}

/// Packed weights take 7/4 of their memory with one level, and three times as
/// much with two. Those of large language models would not fit any more.
static bool fitsMemory(const Geometry &g, int64_t levels) {
  constexpr int64_t kMostBytes = int64_t(64) << 20;
  BilinearScheme scheme = makeStrassenScheme(levels);
  return g.channels * g.outChannels * igemm::kUnitBytes / scheme.blocks() *
             scheme.rank() <=
         kMostBytes;
}

static bool fitsLevels(const Geometry &g, int64_t levels) {
  return fitsLines(g, levels) && fitsMemory(g, levels);
}

namespace {
class Strassen final : public Solver {
public:
  StringRef id() const override { return "strassen-v1"; }
  bool knowsSlices() const override { return true; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override;
  PerfConfig configLike(const Problem &problem, const TargetInfo &target,
                        const PerfConfig &like) const override;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const override;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};
} // namespace

Applicability Strassen::isApplicable(const Problem &problem,
                                     const TargetInfo &target) const {
  if (problem.op != OpKind::Conv && problem.op != OpKind::MatMul)
    return Applicability::no("needs a convolution or a matrix product");
  Applicability answer =
      problem.op == OpKind::Conv ? checkConv(problem) : checkMatMul(problem);
  if (!answer)
    return answer;
  if (problem.operands[0].dtype != runtime::DType::F32)
    return Applicability::no("multiplies f32 only");
  Geometry g = getGeometry(problem);
  if (!fitsLines(g, 1))
    return Applicability::no("needs halves of the depth in whole lines");
  if (!fitsMemory(g, 1))
    return Applicability::no("would pack more than 64 MiB of weights");
  // Fewer rows wait for their weights, of which there are more here.
  constexpr int64_t kFewestRows = 16;
  if (g.width < kFewestRows || g.outChannels < kParts * target.lanes())
    return Applicability::no("needs 16 rows, and two vectors of columns");
  return igemm::isSupported(problem, target, g);
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

/// The lines of a block's depth that are multiplied at a stretch.
static int64_t chooseBlockLines(const Sizes &sizes) {
  constexpr int64_t kMostDepth = 384;
  int64_t lines = sizes.blockDepth / igemm::kLineUnits;
  return divideCeil(lines, divideCeil(sizes.blockDepth, kMostDepth));
}

/// The tiles of rows of a task: so many that the weights, which each task reads
/// from memory, are used often, although the panels may not stay in the L2.
static int64_t chooseBlockM(const TargetInfo &target, const Sizes &sizes,
                            const PerfConfig &config) {
  BilinearScheme scheme = makeStrassenScheme(config.get("levels"));
  int64_t tileM = config.get("tile_m");
  int64_t tiles = divideCeil(sizes.blockRows, tileM);
  int64_t bytes =
      scheme.rank() * tileM * chooseBlockLines(sizes) * igemm::kLineBytes;
  constexpr int64_t kFewTiles = 4;
  int64_t most = std::clamp(2 * target.l2Bytes / bytes, kFewTiles, kMaxBlock);
  return divideCeil(tiles, divideCeil(tiles, most));
}

namespace {
struct RankedTile {
  double efficiency;
  int64_t m, n;
};
} // namespace

/// The share of the peak at which a tile multiplies blocks.
static double estimateEfficiency(const TargetInfo &target, const Sizes &sizes,
                                 int64_t m, int64_t n) {
  Geometry whole;
  int64_t rows = static_cast<int64_t>(llvm::alignTo(sizes.blockRows, m));
  // Incomplete tiles are counted here; the engine has others for them.
  whole.width = whole.outWidth = rows * m;
  whole.channels = sizes.blockDepth;
  whole.outChannels = sizes.blockColumns;
  return static_cast<double>(sizes.blockRows) / static_cast<double>(rows) *
         igemm::estimateEfficiency(target, whole, m, n);
}

static std::vector<RankedTile>
rankTiles(const TargetInfo &target, const Sizes &sizes,
          ArrayRef<std::pair<int64_t, int64_t>> tiles) {
  std::vector<RankedTile> ranked;
  for (auto [m, vectors] : tiles)
    if (int64_t n = vectors * target.lanes();
        igemm::fitsRegisters(target, igemm::Arith::F32, m, n))
      ranked.push_back({estimateEfficiency(target, sizes, m, n), m, n});
  llvm::stable_sort(ranked, [](const RankedTile &a, const RankedTile &b) {
    return a.efficiency > b.efficiency;
  });
  return ranked;
}

/// The tiles (rows, vectors of columns) that a search chooses from: blocks have
/// few rows, of which no tile may leave many unused.
static SmallVector<std::pair<int64_t, int64_t>> listTiles() {
  SmallVector<std::pair<int64_t, int64_t>> tiles;
  for (int64_t vectors = 1; vectors <= 4; ++vectors)
    for (int64_t m = 4; m <= 28; ++m)
      tiles.emplace_back(m, vectors);
  return tiles;
}

/// The tiles of models without tuning, the best one first: each one is a kernel
/// to compile, so that all sizes share a few. With three vectors a power of
/// two, as numbers of tokens often are, and half of the tallest tile, which
/// divides images of 14 and 28 pixels with AVX-512.
static std::vector<RankedTile> rankDefaultTiles(const TargetInfo &target,
                                                const Sizes &sizes) {
  int64_t rows = (target.vectorRegisters - 3) / 2;
  auto power = static_cast<int64_t>(
      llvm::bit_floor(static_cast<uint64_t>(target.vectorRegisters - 4) / 3));
  return rankTiles(target, sizes,
                   {{rows, 2}, {rows * 3 / 4, 2}, {power, 3}, {rows / 2, 3}});
}

static PerfConfig makeConfig(const TargetInfo &target, const Sizes &sizes,
                             int64_t levels, const RankedTile &tile) {
  PerfConfig config{{"levels", levels},
                    {"tile_m", tile.m},
                    {"tile_n", tile.n},
                    {"block_m", 1}};
  config.set("block_m", chooseBlockM(target, sizes, config));
  return config;
}

static Sizes getSizes(const Problem &problem, const TargetInfo &target,
                      int64_t levels) {
  return Sizes(getGeometry(problem), getParts(levels), target.lanes());
}

/// Estimates the time in vectors of multiply-adds.
static double estimateTime(const TargetInfo &target, const Sizes &sizes,
                           const BilinearScheme &scheme,
                           const RankedTile &tile) {
  // Adding a register tile to those of a block takes as long as so many steps
  // of a product. Fitted to products of 48 to 768 steps on a Zen 4.
  constexpr double kStepsPerAddition = 3;
  // The bytes of weights that come from memory, or from the last-level cache,
  // in the time of a vector; see winograd's model.
  constexpr double kMemoryRate = 6, kCacheRate = 12, kNotHidden = 0.05;
  auto rank = static_cast<double>(scheme.rank());
  double additions = 0;
  for (const Product &product : scheme.products)
    additions += static_cast<double>(product.result.size()) / rank;
  auto depth = static_cast<double>(chooseBlockLines(sizes) * igemm::kLineUnits);
  auto columns = static_cast<double>(llvm::alignTo(sizes.blockColumns, tile.n));
  double perThread = columns / std::min<double>(target.threads, columns / 16);
  double overhead = (1 + kStepsPerAddition * additions / depth) *
                    (1 + kColumnsPerPanel / perThread);
  double vectors = rank * static_cast<double>(sizes.blockRows) *
                   static_cast<double>(sizes.blockDepth) *
                   static_cast<double>(sizes.blockColumns) /
                   static_cast<double>(target.lanes());
  double bytes = rank * static_cast<double>(sizes.blockDepth) * columns *
                 igemm::kUnitBytes;
  bool isFar = bytes > 0.25 * static_cast<double>(target.l3Bytes);
  double stream = bytes / (isFar ? kMemoryRate : kCacheRate);
  double products = vectors * overhead / tile.efficiency / target.threads;
  return std::max(products, stream) + kNotHidden * std::min(products, stream);
}

namespace {
/// The best tile of some levels.
struct Choice {
  int64_t levels;
  RankedTile tile;
  double time;
};
} // namespace

static Choice choose(const Problem &problem, const TargetInfo &target,
                     int64_t levels) {
  Sizes sizes = getSizes(problem, target, levels);
  RankedTile tile = rankDefaultTiles(target, sizes).front();
  return {levels, tile,
          estimateTime(target, sizes, makeStrassenScheme(levels), tile)};
}

static Choice choose(const Problem &problem, const TargetInfo &target) {
  Choice best = choose(problem, target, 1);
  for (int64_t levels = 2; levels <= kMaxLevels; ++levels) {
    if (!fitsLevels(getGeometry(problem), levels))
      continue;
    Choice other = choose(problem, target, levels);
    if (other.time < best.time)
      best = other;
  }
  return best;
}

PerfConfig Strassen::defaultConfig(const Problem &problem,
                                   const TargetInfo &target) const {
  Choice best = choose(problem, target);
  return makeConfig(target, getSizes(problem, target, best.levels), best.levels,
                    best.tile);
}

/// The weights are packed alike for all sizes.
PerfConfig Strassen::configLike(const Problem &problem,
                                const TargetInfo &target,
                                const PerfConfig &like) const {
  int64_t levels = like.get("levels");
  Sizes sizes = getSizes(problem, target, levels);
  for (const RankedTile &tile : rankDefaultTiles(target, sizes))
    if (tile.n == like.get("tile_n"))
      return makeConfig(target, sizes, levels, tile);
  return like;
}

std::vector<PerfConfig> Strassen::configs(const Problem &problem,
                                          const TargetInfo &target) const {
  constexpr size_t kTiles = 3;
  std::vector<PerfConfig> configs;
  for (int64_t levels = 1; levels <= kMaxLevels; ++levels) {
    if (!fitsLevels(getGeometry(problem), levels))
      continue;
    Sizes sizes = getSizes(problem, target, levels);
    std::vector<RankedTile> tiles = rankTiles(target, sizes, listTiles());
    for (const RankedTile &tile :
         ArrayRef(tiles).take_front(std::min(kTiles, tiles.size())))
      configs.push_back(makeConfig(target, sizes, levels, tile));
  }
  return configs;
}

bool Strassen::isValidConfig(const Problem &problem, const TargetInfo &target,
                             const PerfConfig &config) const {
  if (config.getFields().size() != 4 || !config.has("levels") ||
      !config.has("tile_m") || !config.has("tile_n") || !config.has("block_m"))
    return false;
  int64_t levels = config.get("levels");
  return levels >= 1 && levels <= kMaxLevels &&
         fitsLevels(getGeometry(problem), levels) &&
         config.get("block_m") >= 1 && config.get("block_m") <= kMaxBlock &&
         igemm::isValidTile(problem, target, config.get("tile_m"),
                            config.get("tile_n"));
}

double Strassen::expectedFraction(const Problem &problem,
                                  const TargetInfo &target) const {
  Geometry g = getGeometry(problem);
  double vectors =
      static_cast<double>(g.width) * static_cast<double>(g.channels) *
      static_cast<double>(g.outChannels) / static_cast<double>(target.lanes());
  // The share of the peak that the engine's products reach at best.
  constexpr double kProductFraction = 0.9;
  return kProductFraction * vectors / target.threads /
         choose(problem, target).time;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// The tiles of columns of a task: every task packs its rows anew, so that the
/// columns are cut only where threads would wait otherwise.
static int64_t chooseBlockN(const TargetInfo &target, const Sizes &sizes,
                            int64_t rowBlocks, int64_t columnTiles) {
  int64_t best = columnTiles;
  double least = std::numeric_limits<double>::infinity();
  int64_t most = std::min(columnTiles, getWantedTasks(target));
  for (int64_t parts = 1; parts <= most; ++parts) {
    int64_t block = divideCeil(columnTiles, parts);
    int64_t tasks = rowBlocks * divideCeil(columnTiles, block);
    // The tiles of the busiest thread, and as much as packing takes of each
    // task.
    double packing = kColumnsPerPanel * static_cast<double>(columnTiles) /
                     static_cast<double>(sizes.blockColumns);
    double time = static_cast<double>(divideCeil(tasks, target.threads)) *
                  (static_cast<double>(block) + packing);
    if (time < least) {
      least = time;
      best = block;
    }
  }
  return best;
}

/// Sets the parameters and divides the work; returns the number of tasks.
static int64_t setParams(std::vector<int64_t> &params, const KernelSpec &spec,
                         const Sizes &sizes, const Geometry &g,
                         const TargetInfo &target, int64_t blockM) {
  int64_t lines = sizes.blockDepth / igemm::kLineUnits;
  int64_t blockLines = chooseBlockLines(sizes);
  int64_t rowTiles = divideCeil(sizes.blockRows, spec.tile.tileM);
  int64_t columnTiles = divideCeil(sizes.blockColumns, spec.tile.tileN);
  blockM = std::min(blockM, rowTiles);
  int64_t rowBlocks = divideCeil(rowTiles, blockM);
  int64_t blockN = chooseBlockN(target, sizes, rowBlocks, columnTiles);
  int64_t columnBlocks = divideCeil(columnTiles, blockN);
  params[igemm::InputPixelBytes] =
      (g.inputPitch ? g.inputPitch : sizes.depth) * igemm::kUnitBytes;
  params[BlockRows] = sizes.blockRows;
  params[BlockColumns] = sizes.blockColumns;
  params[BlockDepthBytes] = sizes.blockDepth * igemm::kUnitBytes;
  // Panels that are powers of two apart would share the sets of a cache.
  params[PointBytes] =
      (blockM * blockLines * spec.tile.tileM + 1) * igemm::kLineBytes;
  params[igemm::Lines] = lines;
  params[igemm::BlockLines] = blockLines;
  params[igemm::KBlocks] = divideCeil(lines, blockLines);
  params[igemm::OutPixels] = sizes.rows;
  params[igemm::OutChannels] = sizes.columns;
  params[igemm::ResultChannels] = g.resultPitch ? g.resultPitch : sizes.columns;
  params[igemm::PixelTiles] = rowTiles;
  params[igemm::ChannelTiles] = columnTiles;
  params[igemm::BlockM] = blockM;
  params[igemm::BlockN] = blockN;
  params[igemm::PixelBlocks] = rowBlocks;
  params[igemm::ChannelBlocks] = columnBlocks;
  return rowBlocks * columnBlocks;
}

static LaunchPlan planLaunch(const Problem &problem, const TargetInfo &target,
                             const PerfConfig &config, const KernelSpec &spec,
                             const Sizes &sizes) {
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { strassen::emitKernel(b, spec); }};
  std::vector<int64_t> &params = launch.params;
  params.assign(igemm::NumParams, 0);
  launch.tasks = setParams(params, spec, sizes, getGeometry(problem), target,
                           config.get("block_m"));
  igemm::setResultParams(params, problem, spec.tile);
  int64_t sums = spec.scheme.blocks() * params[igemm::BlockM] * spec.sumBytes();
  launch.scratchBytes =
      spec.scheme.rank() * params[PointBytes] +
      (params[igemm::KBlocks] > 1 ? params[igemm::BlockN] : 1) * sums;
  return launch;
}

/// Names all that the packed weights depend on beside their bytes.
static std::string describePacking(const KernelSpec &spec, const Sizes &sizes,
                                   const igemm::FilterStrides &strides) {
  std::string text = "strassen";
  for (int64_t number :
       {spec.levels, spec.tile.tileN, sizes.depth, sizes.columns,
        sizes.blockColumns, strides.outChannel, strides.channel})
    text += " " + std::to_string(number);
  return text;
}

SolutionPlan Strassen::plan(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config) const {
  KernelSpec spec(problem, target, config, getGeometry(problem));
  Sizes sizes = getSizes(problem, target, spec.levels);
  igemm::FilterStrides strides = getStrides(problem);
  LaunchPlan launch = planLaunch(problem, target, config, spec, sizes);
  launch.buffers = {{BufferSlot::Operand, 0},
                    {BufferSlot::Constant, 0},
                    {BufferSlot::Constant, 1}};
  for (const igemm::OperandAccess &access : spec.tile.operands)
    launch.buffers.push_back({BufferSlot::Operand, access.operand});
  launch.buffers.push_back({BufferSlot::Result, 0});
  SolutionPlan plan;
  plan.launches.push_back(std::move(launch));
  plan.constants.push_back({[=](const ConstantOperands &operands) {
                              return packWeights(spec, sizes, strides,
                                                 operands[1]);
                            },
                            describePacking(spec, sizes, strides)});
  plan.constants.push_back(igemm::makeConstant(makeResultTable(spec.scheme)));
  return plan;
}

const Solver &tarpon::getStrassen() {
  static const Strassen solver;
  return solver;
}
