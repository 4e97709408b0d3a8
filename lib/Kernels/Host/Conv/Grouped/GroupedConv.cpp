//===- GroupedConv.cpp - Direct convolution of small groups ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Grouped.h.
//
//===----------------------------------------------------------------------===//

#include "Grouped.h"
#include "Host/Conv/ConvGeometry.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::grouped;
using igemm::Geometry;
using llvm::divideCeil;

/// With more channels in a group, packing pays.
static constexpr int64_t kMaxChannels = 64;
/// Tiles that groups share differently have code of their own.
static constexpr int64_t kMaxBlockTiles = 3;
static constexpr int64_t kMaxKernelWidth = 7;
static constexpr int64_t kMaxTileVectors = 3;
/// The extents of networks' images are often multiples of 7.
static constexpr int64_t kTilePixels[] = {4, 7, 8, 10, 14, 16, 20, 28};

static GroupedSpec makeSpec(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config, const Geometry &g) {
  return {.tile = igemm::KernelSpec(problem, target, config, g,
                                    problem.operands[0].layout),
          .lanes = target.lanes(),
          .inChannels = g.channels,
          .outChannels = g.outChannels,
          .kernelW = g.kernelW,
          .strideW = g.strideW,
          .dilationW = g.dilationW};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static bool isPossible(const GroupedSpec &spec, const TargetInfo &target) {
  if (spec.countRegisters() > target.vectorRegisters ||
      (!spec.hasEqualTiles() && spec.blockTiles() > kMaxBlockTiles))
    return false;
  // Squares of whole vectors are transposed.
  if (spec.tile.inputLayout.kind == Layout::NCHW &&
      spec.blockInputs() % spec.lanes != 0)
    return false;
  for (int64_t channel = 0; channel < spec.blockOutputs();
       channel += spec.lanes)
    if (spec.getVector(channel).spread == Spread::None)
      return false;
  return true;
}

/// Estimates the cycles of a block's inner loops, for one row of the kernel,
/// one input channel and one tile of pixels: multiply-adds, blends and
/// permutations take one of two ports, loads one of two others.
static double estimateCycles(const GroupedSpec &spec) {
  int64_t vectors = spec.vectors();
  int64_t columns =
      static_cast<int64_t>(spec.getColumns(spec.tile.tileM).size());
  double cycles = 0;
  for (int64_t tile = 0; tile < spec.blockTiles(); ++tile) {
    int64_t chains = spec.tile.tileM * vectors;
    int64_t products = chains * spec.kernelW;
    int64_t loads = vectors * spec.kernelW, moves = 0, lastGroup = -1;
    for (int64_t v = 0; v < vectors; ++v) {
      VectorGroups groups =
          spec.getVector(tile * spec.tile.tileN + v * spec.lanes);
      bool isShared =
          groups.spread == Spread::Broadcast && groups.first == lastGroup;
      lastGroup = groups.spread == Spread::Broadcast ? groups.first : -1;
      if (isShared)
        continue;
      bool isBlend = groups.spread == Spread::Blend;
      loads += columns * (isBlend ? groups.count : 1);
      moves += columns * (groups.spread == Spread::Broadcast ? 0 : 1);
    }
    // Two pipes with a latency of four need eight chains. The loop's counters
    // and addresses take a cycle or two.
    constexpr double kChains = 8, kLoop = 2;
    double multiplies = static_cast<double>(products) / 2 *
                        std::max(1.0, kChains / static_cast<double>(chains));
    double arithmetic = static_cast<double>(products + moves) / 2;
    cycles += kLoop + std::max({multiplies, arithmetic,
                                static_cast<double>(loads) / 2});
  }
  return cycles;
}

/// The pixels that are computed for a row of the result.
static int64_t computedPixels(const GroupedSpec &spec, const Geometry &g) {
  int64_t rest = g.outWidth % spec.tile.tileM;
  int64_t tail = igemm::tailM(spec.tile.tileM);
  int64_t last = rest == 0 ? 0 : rest <= tail ? tail : spec.tile.tileM;
  return g.outWidth - rest + last;
}

/// Estimates the fraction of the peak: the share of the cells that are output,
/// and of the time that is spent on products. A vector of the result takes a
/// few cycles, one of the input, which is copied, fewer.
static double estimateEfficiency(const GroupedSpec &spec, const Geometry &g) {
  constexpr double kResultCycles = 5, kInputCycles = 2;
  auto real = [](int64_t number) { return static_cast<double>(number); };
  double pixels = real(g.outWidth) / real(computedPixels(spec, g));
  int64_t channels = g.groups * g.outChannels;
  double lanes =
      real(channels) / real(llvm::alignTo(channels, spec.tile.tileN));
  double results = real(spec.tile.tileM * spec.blockOutputs() / spec.lanes);
  double steps = real(g.kernelH * g.channels);
  double products = results * steps * real(g.kernelW) / 2;
  double inputs = real(g.strideH * g.strideW * spec.tile.tileM *
                       spec.blockInputs() / spec.lanes);
  double cycles = steps * estimateCycles(spec) + kResultCycles * results +
                  kInputCycles * inputs;
  return pixels * lanes * products / cycles;
}

static GroupedSpec makeTileSpec(const Problem &problem,
                                const TargetInfo &target, const Geometry &g,
                                int64_t m, int64_t n) {
  return makeSpec(problem, target, PerfConfig{{"tile_m", m}, {"tile_n", n}}, g);
}

/// Returns true if a row is long enough for a tile of `m` pixels: one that fits
/// into a tail runs no whole tile.
static bool isRun(const Geometry &g, int64_t m) {
  return m == kTilePixels[0] || igemm::tailM(m) < g.outWidth;
}

static bool isValidTile(const Problem &problem, const TargetInfo &target,
                        const Geometry &g, int64_t m, int64_t n) {
  return llvm::is_contained(kTilePixels, m) && isRun(g, m) &&
         n % target.lanes() == 0 && n >= target.lanes() &&
         n <= kMaxTileVectors * target.lanes() &&
         isPossible(makeTileSpec(problem, target, g, m, n), target);
}

/// The tiles (pixels, channels), best estimate first.
static std::vector<std::pair<int64_t, int64_t>>
rankGroupedTiles(const Problem &problem, const TargetInfo &target,
                 const Geometry &g) {
  struct Ranked {
    double efficiency;
    int64_t m, n;
  };
  std::vector<Ranked> ranked;
  for (int64_t vectors = 1; vectors <= kMaxTileVectors; ++vectors)
    for (int64_t m : kTilePixels) {
      int64_t n = vectors * target.lanes();
      GroupedSpec spec = makeTileSpec(problem, target, g, m, n);
      if (isRun(g, m) && isPossible(spec, target))
        ranked.push_back({estimateEfficiency(spec, g), m, n});
    }
  llvm::stable_sort(ranked, [](const Ranked &a, const Ranked &b) {
    return a.efficiency > b.efficiency;
  });
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (const Ranked &tile : ranked)
    tiles.emplace_back(tile.m, tile.n);
  return tiles;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The bytes of a row in the buffer: the input with its padding, and the pixels
/// that the last tile reads behind it.
static int64_t rowBytes(const GroupedSpec &spec, const Geometry &g) {
  int64_t pixels = divideCeil(g.outWidth, spec.tile.tileM) * spec.tile.tileM;
  int64_t seen = (pixels - 1) * g.strideW + (g.kernelW - 1) * g.dilationW + 1;
  return llvm::alignTo(std::max(seen, g.padLeft + g.width) * spec.lineBytes(),
                       igemm::kLineBytes);
}

static int64_t rowsSeen(const Geometry &g, int64_t outRows) {
  return (outRows - 1) * g.strideH + (g.kernelH - 1) * g.dilationH + 1;
}

/// The output rows per task: as many as keep a block's input in a quarter of
/// the L2, but with enough tasks to keep all threads busy.
static int64_t chooseBlockRows(const TargetInfo &target,
                               const GroupedSpec &spec, const Geometry &g) {
  int64_t row = rowBytes(spec, g), fitting = 1;
  while (fitting < g.outHeight &&
         rowsSeen(g, fitting + 1) * row <= target.l2Bytes / 4)
    ++fitting;
  int64_t blocks = divideCeil(g.groups, spec.blockGroups());
  int64_t wanted =
      divideCeil(g.outHeight * g.batch * blocks, getWantedTasks(target));
  int64_t most = std::clamp<int64_t>(std::min(fitting, wanted), 1, g.outHeight);
  return divideCeil(g.outHeight, divideCeil(g.outHeight, most));
}

static PerfConfig makeConfig(const Problem &problem, const TargetInfo &target,
                             const Geometry &g, int64_t m, int64_t n) {
  PerfConfig config{{"tile_m", m}, {"tile_n", n}, {"block_rows", 1}};
  GroupedSpec spec = makeSpec(problem, target, config, g);
  config.set("block_rows", chooseBlockRows(target, spec, g));
  return config;
}

//===----------------------------------------------------------------------===//
// Packing the filter
//===----------------------------------------------------------------------===//

/// The order is [block][tile][kernel row][input channel][column][tileN].
static std::vector<char> packFilter(const GroupedSpec &spec, const Geometry &g,
                                    ArrayRef<char> filter) {
  int64_t blocks = divideCeil(g.groups, spec.blockGroups());
  int64_t tileN = spec.tile.tileN;
  std::vector<float> packed(blocks * spec.blockOutputs() * g.kernelH *
                            g.channels * g.kernelW);
  int64_t bytes = runtime::dtypeBytes(spec.tile.filterDtype);
  const char *from = filter.data();
  for (int64_t k = 0; k < g.groups * g.outChannels; ++k)
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t kh = 0; kh < g.kernelH; ++kh)
        for (int64_t kw = 0; kw < g.kernelW; ++kw, from += bytes) {
          int64_t row = (k / tileN * g.kernelH + kh) * g.channels + c;
          packed[(row * g.kernelW + kw) * tileN + k % tileN] =
              static_cast<float>(
                  runtime::loadAsDouble(spec.tile.filterDtype, from));
        }
  std::vector<char> result(packed.size() * sizeof(float));
  std::memcpy(result.data(), packed.data(), result.size());
  return result;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

namespace {
class GroupedConv final : public Solver {
public:
  StringRef id() const override { return "conv-grouped-v1"; }
  bool knowsSlices() const override { return true; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override;
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

Applicability GroupedConv::isApplicable(const Problem &problem,
                                        const TargetInfo &target) const {
  if (problem.op != OpKind::Conv)
    return Applicability::no("needs a convolution");
  if (problem.result.rank() > 4)
    return Applicability::no("needs one or two spatial dimensions");
  Geometry g = getConvGeometry(problem);
  if (g.groups == 1 || g.channels == 1)
    return Applicability::no("needs several groups of several channels");
  if (std::max(g.channels, g.outChannels) > kMaxChannels)
    return Applicability::no("needs groups of at most 64 channels");
  if (Applicability engine = igemm::isSupported(problem, target, g); !engine)
    return engine;
  if (problem.operands[0].quantized)
    return Applicability::no("multiplies floats only");
  if (problem.operands[0].layout.kind == Layout::Blocked)
    return Applicability::no("needs an nchw or nhwc input");
  if (problem.result.layout.kind == Layout::Blocked)
    return Applicability::no("needs an nchw or nhwc result");
  if (g.kernelW > kMaxKernelWidth)
    return Applicability::no("needs a filter of at most seven columns");
  if (rankGroupedTiles(problem, target, g).empty())
    return Applicability::no("has groups of a size that no tile of vectors "
                             "holds");
  return Applicability::yes();
}

PerfConfig GroupedConv::defaultConfig(const Problem &problem,
                                      const TargetInfo &target) const {
  Geometry g = getConvGeometry(problem);
  auto [m, n] = rankGroupedTiles(problem, target, g).front();
  return makeConfig(problem, target, g, m, n);
}

std::vector<PerfConfig> GroupedConv::configs(const Problem &problem,
                                             const TargetInfo &target) const {
  constexpr size_t kTiles = 5;
  Geometry g = getConvGeometry(problem);
  auto tiles = rankGroupedTiles(problem, target, g);
  tiles.resize(std::min(tiles.size(), kTiles));
  std::vector<PerfConfig> configs;
  for (auto [m, n] : tiles)
    configs.push_back(makeConfig(problem, target, g, m, n));
  return configs;
}

bool GroupedConv::isValidConfig(const Problem &problem,
                                const TargetInfo &target,
                                const PerfConfig &config) const {
  if (config.getFields().size() != 3 || !config.has("tile_m") ||
      !config.has("tile_n") || !config.has("block_rows"))
    return false;
  return config.get("block_rows") >= 1 &&
         isValidTile(problem, target, getConvGeometry(problem),
                     config.get("tile_m"), config.get("tile_n"));
}

double GroupedConv::expectedFraction(const Problem &problem,
                                     const TargetInfo &target) const {
  Geometry g = getConvGeometry(problem);
  auto [m, n] = rankGroupedTiles(problem, target, g).front();
  GroupedSpec spec =
      makeSpec(problem, target, PerfConfig{{"tile_m", m}, {"tile_n", n}}, g);
  return 0.95 * estimateEfficiency(spec, g);
}

static void setInputParams(std::vector<int64_t> &params,
                           const GroupedSpec &spec, const Geometry &g) {
  int64_t element = runtime::dtypeBytes(spec.tile.inputDtype);
  int64_t channels = g.groups * g.channels, pixels = g.pixels();
  bool isPlanar = spec.tile.inputLayout.kind == Layout::NCHW;
  int64_t pitch = g.inputPitch ? g.inputPitch : channels;
  params[InputChannels] = channels;
  params[igemm::InputPixelBytes] = (isPlanar ? pixels : pitch) * element;
  params[igemm::InputImageBytes] =
      pixels * (isPlanar ? channels : pitch) * element;
  params[InputRowBytes] = g.width * (isPlanar ? 1 : pitch) * element;
  params[RowBytes] = rowBytes(spec, g);
  params[igemm::InputHeight] = g.height;
  params[igemm::InputWidth] = g.width;
  params[igemm::KernelH] = g.kernelH;
  params[igemm::StrideH] = g.strideH;
  params[igemm::DilationH] = g.dilationH;
  params[igemm::PadTop] = g.padTop;
  params[igemm::PadLeft] = g.padLeft;
}

/// Sets the parameters of the output and divides the work; returns the number
/// of tasks.
static int64_t setTaskParams(std::vector<int64_t> &params,
                             const GroupedSpec &spec, const TargetInfo &target,
                             const Geometry &g, int64_t blockRows) {
  blockRows = std::min(blockRows, g.outHeight);
  int64_t rowBlocks = divideCeil(g.outHeight, blockRows);
  int64_t blocks = divideCeil(g.groups, spec.blockGroups());
  int64_t others = rowBlocks * g.batch;
  auto [taskBlocks, parts] = igemm::splitChannels(target, blocks, others);
  params[igemm::OutWidth] = g.outWidth;
  params[igemm::OutHeight] = g.outHeight;
  params[igemm::OutPixels] = g.outPixels();
  params[igemm::OutChannels] = g.groups * g.outChannels;
  params[igemm::ResultChannels] =
      g.resultPitch ? g.resultPitch : g.groups * g.outChannels;
  params[RowTiles] = divideCeil(g.outWidth, spec.tile.tileM);
  params[BlockRows] = blockRows;
  params[RowBlocks] = rowBlocks;
  params[Blocks] = blocks;
  params[TaskBlocks] = taskBlocks;
  params[BlockParts] = parts;
  return others * parts;
}

SolutionPlan GroupedConv::plan(const Problem &problem, const TargetInfo &target,
                               const PerfConfig &config) const {
  Geometry g = getConvGeometry(problem);
  GroupedSpec spec = makeSpec(problem, target, config, g);
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { emitKernel(b, spec); }};
  std::vector<int64_t> &params = launch.params;
  params.assign(igemm::NumParams, 0);
  setInputParams(params, spec, g);
  launch.tasks =
      setTaskParams(params, spec, target, g, config.get("block_rows"));
  igemm::setResultParams(params, problem, spec.tile);
  // A square may be written behind the last row.
  launch.scratchBytes = rowsSeen(g, params[BlockRows]) * params[RowBytes] +
                        spec.lanes * spec.lineBytes() + igemm::kLineBytes;
  int64_t taps = g.taps();
  return igemm::bindLaunch(problem, spec.tile, g, {g.channels * taps, taps, 1},
                           std::move(launch),
                           {[=](const ConstantOperands &operands) {
                             return packFilter(spec, g, operands[1]);
                           }});
}

const Solver &tarpon::getGroupedConv() {
  static const GroupedConv solver;
  return solver;
}
