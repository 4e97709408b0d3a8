//===- TilePlan.cpp - Configs and launches -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEngine.h"

#include "Host/Tasks.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;
using llvm::divideCeil;

bool winograd::hasWholeVectors(const Layout &layout, const TargetInfo &target) {
  return layout.kind != Layout::Blocked || layout.block % target.lanes() == 0;
}

igemm::KernelSpec winograd::makeOutputSpec(const Problem &problem,
                                           const TargetInfo &target,
                                           const igemm::Geometry &geometry,
                                           int64_t pixels) {
  PerfConfig config{{"tile_m", pixels}, {"tile_n", target.lanes()}};
  igemm::KernelSpec spec(problem, target, config, geometry,
                         problem.operands[0].layout);
  // This kernel does not depend on how implicit GEMM would pack the input.
  spec.mergedRows = false;
  return spec;
}

int64_t winograd::getFirstParam(const igemm::KernelSpec &output) {
  return igemm::NumParams + 2 * static_cast<int64_t>(output.operands.size()) +
         output.epilogue.numParams();
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxBlock = 64;

bool winograd::isValidBlock(const TargetInfo &target, const PerfConfig &config,
                            igemm::Arith arith) {
  if (!config.has("tile_m") || !config.has("tile_n") || !config.has("block_m"))
    return false;
  int64_t m = config.get("tile_m"), n = config.get("tile_n"),
          block = config.get("block_m");
  return m >= 1 && n >= target.lanes() && n % target.lanes() == 0 &&
         block >= 1 && block <= kMaxBlock &&
         igemm::fitsRegisters(target, arith, m, n);
}

/// The size of equal blocks, the largest of which fill about this share of the
/// L2 cache.
static int64_t chooseBlock(const TargetInfo &target, int64_t panels,
                           int64_t panelBytes, double share) {
  auto room = static_cast<int64_t>(share * static_cast<double>(target.l2Bytes));
  int64_t largest = std::clamp<int64_t>(room / panelBytes, 1, kMaxBlock);
  int64_t blocks = divideCeil(panels, largest);
  // Threads with one block more delay the others.
  if (blocks > 1 && target.threads > 1)
    blocks = llvm::alignTo(blocks, target.threads);
  return std::max<int64_t>(1, divideCeil(panels, blocks));
}

/// The number of panels of the busiest thread.
static int64_t countMost(const TargetInfo &target, int64_t panels,
                         int64_t block) {
  int64_t blocks = divideCeil(panels, block);
  int64_t most = divideCeil(blocks, target.threads);
  return std::min(panels, most * block);
}

/// The largest block, from `block` down to half of it, that distributes the
/// work most evenly among threads.
static int64_t shareEvenly(const TargetInfo &target, int64_t panels,
                           int64_t block) {
  int64_t best = block;
  for (int64_t smaller = block - 1; 2 * smaller >= block; --smaller)
    if (countMost(target, panels, smaller) < countMost(target, panels, best))
      best = smaller;
  return best;
}

/// The sizes of blocks worth trying, in panels, including about one block per
/// thread: threads that share a block transform its input several times.
static SmallVector<int64_t> listBlocks(const TargetInfo &target,
                                       const TileWork &work,
                                       const igemm::Geometry &g, int64_t m,
                                       int64_t n) {
  int64_t panels = divideCeil(work.tiles(g), m);
  int64_t bytes = work.points * 4 * (work.units(g) + n) * m;
  llvm::SmallSetVector<int64_t, 8> blocks;
  for (double share : {0.4, 1.0, 4.0}) {
    int64_t block = chooseBlock(target, panels, bytes, share);
    blocks.insert(block);
    if (panels > block)
      blocks.insert(shareEvenly(target, panels, block));
  }
  blocks.insert(std::min<int64_t>(divideCeil(panels, target.threads),
                                  *llvm::max_element(blocks)));
  return blocks.takeVector();
}

/// Appends all blocks of one tile with their estimated cycles.
static void appendBlocks(const TargetInfo &target, const igemm::Geometry &g,
                         const TileWork &work, const PerfConfig &fields,
                         int64_t m, int64_t n, RankedConfigs &list) {
  for (int64_t block : listBlocks(target, work, g, m, n)) {
    PerfConfig config = fields;
    config.set("tile_m", m);
    config.set("tile_n", n);
    config.set("block_m", block);
    double cycles = estimateCycles(target, work, g, config);
    list.emplace_back(cycles, std::move(config));
  }
}

void winograd::appendTiles(const TargetInfo &target, const igemm::Geometry &g,
                           const TileWork &work, const PerfConfig &fields,
                           RankedConfigs &list) {
  for (int64_t vectors : {1, 2, 3, 4})
    for (int64_t m : {2, 4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28})
      if (int64_t n = vectors * target.lanes();
          igemm::fitsRegisters(target, work.arith, m, n))
        appendBlocks(target, g, work, fields, m, n, list);
}

/// The most rows that the registers hold beside `n` channels.
static int64_t countMostRows(const TargetInfo &target, igemm::Arith arith,
                             int64_t n) {
  int64_t most = 1;
  while (igemm::fitsRegisters(target, arith, most + 1, n))
    ++most;
  return most;
}

void winograd::appendDefaultTiles(const TargetInfo &target,
                                  const igemm::Geometry &g,
                                  const TileWork &work,
                                  const PerfConfig &fields,
                                  RankedConfigs &list) {
  int64_t n = 2 * target.lanes(), most = countMostRows(target, work.arith, n);
  for (int64_t m : {most, most / 2})
    appendBlocks(target, g, work, fields, m, n, list);
  // 14 x 14 and 7 x 7 pixels are 16 and 4 tiles of 4 x 4.
  constexpr int64_t kTiles = 4;
  if (most > 2 * kTiles)
    appendBlocks(target, g, work, fields, 2 * kTiles, n, list);
  if (igemm::fitsRegisters(target, work.arith, kTiles, 2 * n))
    appendBlocks(target, g, work, fields, kTiles, 2 * n, list);
}

void winograd::sortByCycles(RankedConfigs &list) {
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first < b.first; });
}

std::vector<PerfConfig> winograd::chooseConfigs(const RankedConfigs &sorted,
                                                const PerfConfig &standard) {
  // Each tile is a kernel to compile, each block only a parameter.
  constexpr size_t kKernels = 4;
  std::vector<PerfConfig> kernels, chosen;
  for (const auto &[cycles, config] : sorted) {
    PerfConfig kernel = config;
    kernel.set("block_m", 0);
    if (!llvm::is_contained(kernels, kernel)) {
      if (kernels.size() == kKernels)
        continue;
      kernels.push_back(kernel);
    }
    chosen.push_back(config);
  }
  if (!llvm::is_contained(chosen, standard))
    chosen.push_back(standard);
  return chosen;
}

int64_t winograd::chooseChannelBlock(const TargetInfo &target,
                                     int64_t tileBlocks, int64_t channelTiles) {
  // A thread that gets several parts of a block transforms its input once.
  int64_t wanted = getWantedTasks(target);
  int64_t parts =
      std::clamp<int64_t>(divideCeil(wanted, tileBlocks), 1, channelTiles);
  return divideCeil(channelTiles, parts);
}

double winograd::getFraction(const Problem &problem, const TargetInfo &target,
                             double cycles) {
  // The peak is two multiply-adds of a vector per cycle and core, each of as
  // many products as the arithmetic has.
  auto perCycle = static_cast<double>(4 * target.lanes() * target.threads);
  const TargetTraits &traits = *target.traits;
  double speedup =
      traits.getSpeedup(traits.getArithmetic(problem, target), target);
  return problem.flops() / perCycle / speedup / std::max(cycles, 1.0);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// Sets the parameters of the input's layout in memory.
static void setInputParams(std::vector<int64_t> &params,
                           const TensorDesc &input, const TileWork &work,
                           const igemm::Geometry &g) {
  const Layout &layout = input.layout;
  int64_t element = runtime::dtypeBytes(input.dtype);
  int64_t channels = g.groups * g.channels, pixels = g.height * g.width;
  bool isNhwc = layout.kind == Layout::NHWC;
  int64_t block = layout.block; // 1 in nchw.
  int64_t pitch = g.inputPitch ? g.inputPitch : channels;
  params[InputPixelBytes] = (isNhwc ? pitch : block) * element;
  params[InputBlockBytes] = isNhwc ? 0 : pixels * block * element;
  params[InputGroupBytes] = g.channels * (isNhwc ? 1 : pixels) * element;
  params[InputImageBytes] =
      (isNhwc ? pitch : llvm::alignTo(channels, block)) * pixels * element;
  params[InputHeight] = g.height;
  params[InputWidth] = g.width;
  params[Channels] = g.channels;
  params[Lines] = work.units(g) / igemm::kLineUnits;
  params[PadTop] = g.padTop;
  params[PadLeft] = g.padLeft;
}

std::vector<int64_t> winograd::makeTileParams(const TensorDesc &input,
                                              const igemm::Geometry &g,
                                              const TileWork &work) {
  std::vector<int64_t> params(NumParams, 0);
  setInputParams(params, input, work, g);
  params[OutHeight] = g.outHeight;
  params[OutWidth] = g.outWidth;
  params[OutChannels] = g.outChannels;
  params[TilesX] = work.tilesX;
  params[TilesY] = work.tilesY;
  params[Tiles] = work.tiles(g);
  return params;
}

int64_t winograd::setTaskParams(std::vector<int64_t> &params,
                                const ProductSpec &spec,
                                const TargetInfo &target,
                                const igemm::Geometry &g, int64_t block) {
  int64_t panels = divideCeil(params[Tiles], spec.tileM);
  block = std::min(block, panels);
  int64_t tileBlocks = divideCeil(panels, block);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tileN);
  int64_t blockN =
      chooseChannelBlock(target, tileBlocks * g.groups, channelTiles);
  int64_t channelBlocks = divideCeil(channelTiles, blockN);
  params[BlockTiles] = block * spec.tileM;
  params[TileBlocks] = tileBlocks;
  params[ChannelTiles] = channelTiles;
  params[BlockN] = blockN;
  params[ChannelBlocks] = channelBlocks;
  return g.groups * tileBlocks * channelBlocks;
}

std::vector<int64_t> winograd::makeResultParams(const Problem &problem,
                                                const igemm::KernelSpec &output,
                                                const igemm::Geometry &g) {
  std::vector<int64_t> params(igemm::NumParams, 0);
  float scale = problem.result.quantized ? problem.result.scales[0] : 1.0f;
  params[igemm::ResultInverseScale] = runtime::floatParam(1.0f / scale);
  params[igemm::ResultZeroPoint] =
      runtime::floatParam(static_cast<float>(problem.result.zeroPoint));
  params[igemm::FillByte] = problem.operands[0].zeroPoint;
  params[igemm::ResultChannels] =
      g.resultPitch ? g.resultPitch : g.groups * g.outChannels;
  params[igemm::OutPixels] = g.outPixels();
  for (const igemm::OperandAccess &access : output.operands) {
    const TensorDesc &desc = problem.operands[access.operand];
    params.push_back(
        runtime::floatParam(desc.quantized ? desc.scales[0] : 1.0f));
    params.push_back(runtime::floatParam(static_cast<float>(desc.zeroPoint)));
  }
  EpilogueEmitter::appendParams(problem, params);
  assert(static_cast<int64_t>(params.size()) == getFirstParam(output) &&
         "the kernel counts its parameters otherwise");
  return params;
}

void winograd::bindBuffers(LaunchPlan &launch,
                           const igemm::KernelSpec &output) {
  launch.buffers = {{BufferSlot::Operand, 0}, {BufferSlot::Constant, 0}};
  for (const igemm::OperandAccess &access : output.operands)
    launch.buffers.push_back({BufferSlot::Operand, access.operand});
  launch.buffers.push_back({BufferSlot::Result, 0});
}
