//===- Plan.cpp - Configs and launches ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AmxProduct.h"
#include "FilterPlan.h"
#include "Host/Tasks.h"
#include "TileTaps.h"

#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The number of taps in a run, and of runs in a window.
static int64_t tapsPerRun(const KernelSpec &spec, const Geometry &g) {
  return spec.mergedRows ? g.kernelW : 1;
}

static int64_t runElements(const KernelSpec &spec, const Geometry &g) {
  return tapsPerRun(spec, g) * g.channels;
}

/// The number of units of one run in the panels.
static int64_t unitsPerRun(const KernelSpec &spec, const Geometry &g) {
  int64_t units = divideCeil(runElements(spec, g), elementsPerUnit(spec.arith));
  if (spec.inputLayout.kind == Layout::Blocked)
    units = llvm::alignTo(units, spec.pieceUnits());
  return units;
}

static int64_t unitsPerPixel(const KernelSpec &spec, const Geometry &g) {
  return g.taps() / tapsPerRun(spec, g) * unitsPerRun(spec, g);
}

static int64_t linesPerPixel(const KernelSpec &spec, const Geometry &g) {
  return divideCeil(unitsPerPixel(spec, g), kLineUnits);
}

PackedShape igemm::getPackedShape(const KernelSpec &spec, const Geometry &g) {
  return {g.taps() / tapsPerRun(spec, g), runElements(spec, g),
          unitsPerRun(spec, g), linesPerPixel(spec, g) * kLineUnits};
}

static int64_t panelBytes(const KernelSpec &spec, const Geometry &g) {
  return linesPerPixel(spec, g) * spec.tileM * kLineBytes;
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

bool igemm::isValidTile(const Problem &problem, const TargetInfo &target,
                        int64_t m, int64_t n) {
  return m >= 1 && n >= target.lanes() && n % target.lanes() == 0 &&
         fitsRegisters(target, chooseArith(problem.operands[0], target), m, n);
}

/// Returns true if the sums, with a tile of pixels and one of channels each,
/// fit AMX's eight registers.
static bool isValidAmxTile(const Problem &problem, const TargetInfo &target,
                           int64_t m, int64_t n) {
  auto fits = [](int64_t size) {
    return size == kAmxTile || size == 2 * kAmxTile;
  };
  return hasAmx(target, chooseArith(problem.operands[0], target)) && fits(m) &&
         fits(n);
}

bool igemm::isValidConfig(const Problem &problem, const TargetInfo &target,
                          const PerfConfig &config) {
  bool amx = config.has("amx");
  if (config.getFields().size() != (amx ? 4 : 3) || !config.has("tile_m") ||
      !config.has("tile_n") || !config.has("block_m"))
    return false;
  int64_t block = config.get("block_m"), m = config.get("tile_m"),
          n = config.get("tile_n");
  if (block < 1 || block > 64)
    return false;
  return amx ? config.get("amx") == 1 && isValidAmxTile(problem, target, m, n)
             : isValidTile(problem, target, m, n);
}

/// The number of pixels that tiles of m compute for a row of them. A single one
/// counts as a tail: its product waits for the filter, not for arithmetic.
static int64_t computedPixels(int64_t pixels, int64_t m) {
  int64_t rest = pixels % m;
  int64_t last = rest == 0 ? 0 : rest <= tailM(m) ? tailM(m) : m;
  return pixels - rest + last;
}

/// Estimates the fraction of the peak that a tile reaches on this problem: the
/// share of its cells that are output, times the share of its instructions that
/// multiply (the others load the filter and broadcast the input; both load
/// ports support as many as two multiplies need). A few pixels, which a matmul
/// has for each image of the batch, count as one, so that a batch of a few
/// images runs the same kernels.
double igemm::estimateEfficiency(const TargetInfo &target, const Geometry &g,
                                 int64_t m, int64_t n) {
  constexpr int64_t kFewPixels = 8;
  int64_t outPixels = g.outPixels() <= kFewPixels ? 1 : g.outPixels();
  double pixels = static_cast<double>(outPixels) /
                  static_cast<double>(computedPixels(outPixels, m));
  double channels = static_cast<double>(g.outChannels) /
                    static_cast<double>(llvm::alignTo(g.outChannels, n));
  double vectors = static_cast<double>(n) / static_cast<double>(target.lanes());
  double products = static_cast<double>(m) * vectors;
  double loads = static_cast<double>(m) + vectors;
  // Two FMA pipes with a latency of four need eight chains.
  double latency = std::min(1.0, products / 8);
  double ports = std::min(1.0, products / loads);
  return pixels * channels * latency * (0.9 * ports + 0.1 * products / 28);
}

/// Pixel tiles per task: as many as keep half of the L2 free for the filter,
/// but no fewer tasks than keep all threads busy. Each task reads the whole
/// filter, which a few tiles do not amortise: if there are no more, the
/// channels are divided instead.
static int64_t chooseBlockM(const TargetInfo &target, const KernelSpec &spec,
                            const Geometry &g) {
  constexpr int64_t kFewTiles = 4, kManyTiles = 16;
  int64_t tiles = divideCeil(g.outPixels(), spec.tileM);
  // A sum of nothing has no panel.
  int64_t fitting =
      target.l2Bytes / 2 / std::max<int64_t>(panelBytes(spec, g), 1);
  int64_t wanted =
      divideCeil(tiles * g.batch * g.groups, getWantedTasks(target));
  int64_t most = std::clamp(std::min(fitting, wanted), kFewTiles, kManyTiles);
  // The blocks have the same size, or nearly so.
  return divideCeil(tiles, divideCeil(tiles, most));
}

static KernelSpec makeSpec(const Problem &problem, const TargetInfo &target,
                           const Geometry &geometry, int64_t m, int64_t n) {
  PerfConfig config{{"tile_m", m}, {"tile_n", n}, {"block_m", 1}};
  return KernelSpec(problem, target, config, geometry,
                    problem.operands[0].layout);
}

static PerfConfig makeConfig(const Problem &problem, const TargetInfo &target,
                             const Geometry &geometry, int64_t m, int64_t n) {
  PerfConfig config{{"tile_m", m}, {"tile_n", n}, {"block_m", 1}};
  KernelSpec spec = makeSpec(problem, target, geometry, m, n);
  config.set("block_m", chooseBlockM(target, spec, geometry));
  return config;
}

namespace {
struct RankedTile {
  double efficiency;
  int64_t m, n;
};
} // namespace

static void sortTiles(std::vector<RankedTile> &ranked) {
  llvm::stable_sort(ranked, [](const RankedTile &a, const RankedTile &b) {
    return a.efficiency > b.efficiency;
  });
}

std::vector<std::pair<int64_t, int64_t>>
igemm::rankTiles(const Problem &problem, const TargetInfo &target,
                 const Geometry &geometry) {
  std::vector<RankedTile> ranked;
  for (int64_t vectors : {1, 2, 3, 4})
    for (int64_t m : {2, 4, 6, 8, 14, 28})
      if (int64_t n = vectors * target.lanes();
          isValidTile(problem, target, m, n))
        ranked.push_back({estimateEfficiency(target, geometry, m, n), m, n});
  sortTiles(ranked);
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (const RankedTile &tile : ranked)
    tiles.emplace_back(tile.m, tile.n);
  return tiles;
}

/// The share of products that a tile does not skip. An nchw input is read as
/// nhwc.
static double getTileShare(const Problem &problem, const TargetInfo &target,
                           const Geometry &geometry, int64_t m, int64_t n) {
  KernelSpec spec = makeSpec(problem, target, geometry, m, n);
  if (spec.inputLayout.kind == Layout::NCHW)
    spec.inputLayout = {Layout::NHWC, 1};
  return getRemainingShare(spec, geometry);
}

/// The tiles with their estimates, in which skipped products count as done,
/// best first.
static std::vector<RankedTile> rankSkippingTiles(const Problem &problem,
                                                 const TargetInfo &target,
                                                 const Geometry &geometry) {
  std::vector<RankedTile> ranked;
  for (auto [m, n] : rankTiles(problem, target, geometry))
    ranked.push_back({estimateEfficiency(target, geometry, m, n) /
                          getTileShare(problem, target, geometry, m, n),
                      m, n});
  sortTiles(ranked);
  return ranked;
}

double igemm::expectedFraction(const Problem &problem, const TargetInfo &target,
                               const Geometry &g) {
  // Packing costs about as much as one more tile of channels would.
  double packing = static_cast<double>(g.outChannels) /
                   static_cast<double>(g.outChannels + 16);
  return 0.9 * packing *
         rankSkippingTiles(problem, target, g).front().efficiency;
}

PerfConfig igemm::defaultConfig(const Problem &problem,
                                const TargetInfo &target,
                                const Geometry &geometry) {
  auto [efficiency, m, n] =
      rankSkippingTiles(problem, target, geometry).front();
  return makeConfig(problem, target, geometry, m, n);
}

PerfConfig igemm::configLike(const Problem &problem, const TargetInfo &target,
                             const Geometry &geometry, const PerfConfig &like) {
  if (like.has("amx"))
    return like;
  for (auto [efficiency, m, n] : rankSkippingTiles(problem, target, geometry))
    if (n == like.get("tile_n"))
      return makeConfig(problem, target, geometry, m, n);
  return like;
}

/// The tiles (pixels, channels) of AMX that are worth trying. No AMX CPU has
/// run them, so that a measurement chooses them, never an estimate.
static std::vector<std::pair<int64_t, int64_t>>
getAmxTiles(const Problem &problem, const TargetInfo &target,
            const Geometry &geometry) {
  if (!hasAmx(target, chooseArith(problem.operands[0], target)))
    return {};
  constexpr int64_t kTwo = 2 * kAmxTile;
  int64_t m = geometry.outPixels() <= kAmxTile ? kAmxTile : kTwo;
  int64_t rest = geometry.outChannels % kTwo;
  std::vector<std::pair<int64_t, int64_t>> tiles;
  if (geometry.outChannels > kAmxTile)
    tiles.emplace_back(m, kTwo);
  if (rest > 0 && rest <= kAmxTile)
    tiles.emplace_back(m, kAmxTile);
  return tiles;
}

std::vector<PerfConfig> igemm::configs(const Problem &problem,
                                       const TargetInfo &target,
                                       const Geometry &geometry) {
  // Each tile is a kernel to compile, which dominates the time of a tuning run.
  constexpr size_t kTiles = 5;
  auto tiles = rankSkippingTiles(problem, target, geometry);
  tiles.resize(std::min(tiles.size(), kTiles));
  std::vector<PerfConfig> configs;
  auto addWithHalfBlock = [&](PerfConfig config) {
    configs.push_back(config);
    int64_t block = config.get("block_m");
    if (block > 2) {
      config.set("block_m", block / 2);
      configs.push_back(config);
    }
  };
  for (auto [efficiency, m, n] : tiles)
    addWithHalfBlock(makeConfig(problem, target, geometry, m, n));
  for (auto [m, n] : getAmxTiles(problem, target, geometry)) {
    PerfConfig config = makeConfig(problem, target, geometry, m, n);
    config.set("amx", 1);
    addWithHalfBlock(config);
  }
  return configs;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// Contiguous pixels are treated as one row, even across images, so that no
/// tile is cut at the end of an image.
static Geometry flatten(const Problem &problem, Geometry g) {
  if (g.batched || !g.isPointwise() ||
      problem.operands[0].layout.kind != Layout::NHWC ||
      problem.result.layout.kind != Layout::NHWC)
    return g;
  g.width = g.outWidth = g.batch * g.outPixels();
  g.batch = g.height = g.outHeight = g.depth = g.outDepth = 1;
  return g;
}

PackMode igemm::choosePackMode(const KernelSpec &spec, const Geometry &g) {
  if (spec.mergedRows || spec.pieceUnits() != kLineUnits)
    return PackPieces;
  if (spec.inputLayout.kind == Layout::NHWC && g.isPointwise())
    return PackPixels;
  return g.channels % spec.pieceElements() == 0 ? PackLines : PackPieces;
}

/// Sets the parameters of the input's layout in memory.
static void setInputParams(std::vector<int64_t> &params, const KernelSpec &spec,
                           const Geometry &g) {
  int64_t element = runtime::dtypeBytes(spec.inputDtype);
  int64_t channels = g.groups * g.channels, pixels = g.pixels();
  bool blocked = spec.inputLayout.kind == Layout::Blocked;
  int64_t block = spec.inputLayout.block;
  int64_t pitch = g.inputPitch ? g.inputPitch : channels;
  params[InputPixelBytes] = (blocked ? block : pitch) * element;
  params[InputImageBytes] =
      pixels * (blocked ? llvm::alignTo(channels, block) : pitch) * element;
  params[InputGroupBytes] = g.channels * element * (blocked ? pixels : 1);
  int64_t piece = spec.pieceElements();
  params[InputPieceBytes] = piece * element * (blocked ? pixels : 1);
  params[InputHeight] = g.height;
  params[InputWidth] = g.width;
  params[PixelElements] = channels;
  params[RunElements] = runElements(spec, g);
  params[Pieces] = divideCeil(runElements(spec, g), piece);
  params[UnitsPerRun] = unitsPerRun(spec, g);
  params[Units] = llvm::alignTo(unitsPerPixel(spec, g), kUnroll);
  params[Lines] = linesPerPixel(spec, g);
}

static void setWindowParams(std::vector<int64_t> &params,
                            const KernelSpec &spec, const Geometry &g) {
  params[KernelH] = g.kernelH;
  params[KernelW] = g.kernelW / tapsPerRun(spec, g);
  params[StrideH] = g.strideH;
  params[StrideW] = g.strideW;
  params[DilationH] = g.dilationH;
  params[DilationW] = g.dilationW;
  params[PadTop] = g.padTop;
  params[PadLeft] = g.padLeft;
  params[InputDepth] = g.depth;
  params[KernelD] = g.kernelD;
  params[StrideD] = g.strideD;
  params[DilationD] = g.dilationD;
  params[PadFront] = g.padFront;
  params[OutHeight] = g.outHeight;
  params[Mode] = choosePackMode(spec, g);
  // In nhwc the taps of a row of the kernel are consecutive.
  bool oneRun = spec.inputLayout.kind == Layout::NHWC && g.groups == 1 &&
                (g.dilationW == 1 || g.kernelW == 1);
  params[RowLines] = oneRun ? g.kernelW * params[Pieces] : 0;
}

std::pair<int64_t, int64_t> igemm::splitChannels(const TargetInfo &target,
                                                 int64_t channelTiles,
                                                 int64_t otherTasks) {
  int64_t wanted = getWantedTasks(target);
  int64_t blocks =
      std::clamp<int64_t>(divideCeil(wanted, otherTasks), 1, channelTiles);
  int64_t blockN = divideCeil(channelTiles, blocks);
  return {blockN, divideCeil(channelTiles, blockN)};
}

/// Divides K such that the panels of a block, and a tile of the filter and the
/// next one, stay in the L2.
static void setKBlocks(std::vector<int64_t> &params, const KernelSpec &spec,
                       const TargetInfo &target) {
  int64_t lines = params[Lines], tiles = params[BlockM];
  int64_t lineBytes = tiles * spec.tileM * kLineBytes +
                      2 * kLineUnits * spec.tileN * spec.filterUnitBytes();
  int64_t fitting = std::max(kLineUnits, target.l2Bytes * 3 / 4 / lineBytes);
  // A lone tile reads everything once.
  int64_t blocks = tiles == 1 ? 1 : divideCeil(lines, fitting);
  params[BlockLines] = divideCeil(lines, blocks);
  params[KBlocks] = divideCeil(lines, params[BlockLines]);
}

/// Sets the parameters of the output and divides the work; returns the number
/// of tasks.
static int64_t setTaskParams(std::vector<int64_t> &params,
                             const KernelSpec &spec, const TargetInfo &target,
                             const Geometry &g, int64_t blockM) {
  int64_t pixelTiles = divideCeil(g.outPixels(), spec.tileM);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tileN);
  blockM = std::min(blockM, pixelTiles);
  int64_t pixelBlocks = divideCeil(pixelTiles, blockM);
  auto [blockN, channelBlocks] =
      splitChannels(target, channelTiles, pixelBlocks * g.batch * g.groups);
  params[OutWidth] = g.outWidth;
  params[OutPixels] = g.outPixels();
  params[OutChannels] = g.outChannels;
  params[ResultChannels] =
      g.resultPitch ? g.resultPitch : g.groups * g.outChannels;
  params[Groups] = g.groups;
  params[PixelTiles] = pixelTiles;
  params[ChannelTiles] = channelTiles;
  params[BlockM] = blockM;
  params[BlockN] = blockN;
  params[PixelBlocks] = pixelBlocks;
  params[ChannelBlocks] = channelBlocks;
  return g.batch * g.groups * pixelBlocks * channelBlocks;
}

void igemm::setResultParams(std::vector<int64_t> &params,
                            const Problem &problem, const KernelSpec &spec) {
  params[FillByte] =
      problem.operands[0].quantized ? problem.operands[0].zeroPoint & 0xff : 0;
  float scale = problem.result.quantized ? problem.result.scales[0] : 1.0f;
  params[ResultInverseScale] = runtime::floatParam(1.0f / scale);
  params[ResultZeroPoint] =
      runtime::floatParam(static_cast<float>(problem.result.zeroPoint));
  for (const OperandAccess &access : spec.operands) {
    const TensorDesc &desc = problem.operands[access.operand];
    params.push_back(
        runtime::floatParam(desc.quantized ? desc.scales[0] : 1.0f));
    params.push_back(runtime::floatParam(static_cast<float>(desc.zeroPoint)));
  }
  EpilogueEmitter::appendParams(problem, params);
}

static LaunchPlan planLaunch(const Problem &problem, const TargetInfo &target,
                             const PerfConfig &config, const Geometry &g,
                             const KernelSpec &spec) {
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { emitKernel(b, spec); }};
  std::vector<int64_t> &params = launch.params;
  params.assign(NumParams, 0);
  setInputParams(params, spec, g);
  setWindowParams(params, spec, g);
  launch.tasks = setTaskParams(params, spec, target, g, config.get("block_m"));
  setResultParams(params, problem, spec);
  setKBlocks(params, spec, target);
  int64_t filterBytes = params[ChannelTiles] * params[Lines] * kLineUnits *
                        spec.tileN * spec.filterUnitBytes();
  params[AsksForInput] =
      params[Mode] == PackPixels && filterBytes <= target.l2Bytes / 4;
  // One line of padding value precedes the panels, and the sums follow them.
  launch.scratchBytes = params[BlockM] * panelBytes(spec, g) + kLineBytes;
  int64_t sumBytes = spec.tileM * spec.tileN * kUnitBytes;
  if (params[KBlocks] > 1)
    launch.scratchBytes += params[BlockM] * params[BlockN] * sumBytes;
  else if (spec.amx)
    launch.scratchBytes += sumBytes;
  return launch;
}

/// Appends the main launch. Its buffers: input, packed filter, for I8Dot the
/// factors and starts per channel, the table of a batch or of taps, the
/// epilogue's operands, result.
static void appendLaunch(SolutionPlan &plan, const Problem &problem,
                         const KernelSpec &spec, const Geometry &geometry,
                         const PackedFilter &filter, LaunchPlan launch,
                         const Batch *batch) {
  std::vector<BufferSlot> &buffers = launch.buffers;
  buffers = {{BufferSlot::Operand, 0}, filter.panels};
  auto addConstant = [&](ConstantPlan constant) {
    buffers.push_back(
        {BufferSlot::Constant, static_cast<int64_t>(plan.constants.size())});
    plan.constants.push_back(std::move(constant));
  };
  if (spec.arith == Arith::I8Dot) {
    TensorDesc input = problem.operands[0], weights = problem.operands[1];
    addConstant({[=](const ConstantOperands &) {
      return makeScales(spec, geometry, input, weights);
    }});
    buffers.push_back(filter.starts);
  }
  if (batch)
    addConstant(makeTable(problem, spec, geometry, *batch));
  if (spec.skipsTaps)
    addConstant(makeConstant(TileTaps(geometry, spec.tileM).makeTable()));
  for (const OperandAccess &access : spec.operands)
    buffers.push_back({BufferSlot::Operand, access.operand});
  buffers.push_back({BufferSlot::Result, 0});
  plan.launches.push_back(std::move(launch));
}

SolutionPlan igemm::bindLaunch(const Problem &problem, const KernelSpec &spec,
                               const Geometry &geometry,
                               const FilterStrides &strides, LaunchPlan launch,
                               ConstantPlan filter) {
  SolutionPlan plan;
  PackedFilter packed = addConstantFilter(plan, problem, spec, geometry,
                                          strides, 1, std::move(filter));
  appendLaunch(plan, problem, spec, geometry, packed, std::move(launch),
               /*batch=*/nullptr);
  return plan;
}

SolutionPlan igemm::plan(const Problem &problem, const TargetInfo &target,
                         const PerfConfig &config, const Geometry &images,
                         const FilterStrides &strides, Layout inputLayout,
                         const Batch *batch) {
  Geometry geometry = flatten(problem, images);
  KernelSpec spec(problem, target, config, geometry, inputLayout);
  spec.skipsTaps = getRemainingShare(spec, geometry) < 1;
  SolutionPlan plan;
  PackedFilter filter = planFilter(plan, problem, target, spec, geometry,
                                   strides, batch ? batch->filterCount : 1);
  appendLaunch(plan, problem, spec, geometry, filter,
               planLaunch(problem, target, config, geometry, spec), batch);
  return plan;
}
