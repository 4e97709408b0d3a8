//===- Plan.cpp - Configs, packing of filters and launches ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Winograd.h"

#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

igemm::Geometry winograd::makeGeometry(const Problem &problem) {
  const std::vector<int64_t> &input = problem.operands[0].shape;
  const std::vector<int64_t> &filter = problem.operands[1].shape;
  std::vector<int64_t> pads = problem.ints("pads");
  igemm::Geometry g;
  g.batch = input[0];
  g.inputPitch = problem.operands[0].pitch;
  g.resultPitch = problem.result.pitch;
  g.groups = problem.integer("group");
  g.channels = filter[1];
  g.height = input[2];
  g.width = input[3];
  g.outChannels = filter[0] / g.groups;
  g.outHeight = problem.result.shape[2];
  g.outWidth = problem.result.shape[3];
  g.kernelH = filter[2];
  g.kernelW = filter[3];
  g.padTop = pads[0];
  g.padLeft = pads[1];
  return g;
}

int64_t winograd::countTiles(const Transform &transform, int64_t pixels) {
  return divideCeil(pixels, transform.outTile());
}

int64_t winograd::countTiles(const Transform &transform,
                             const igemm::Geometry &g) {
  return g.batch * countTiles(transform, g.outHeight) *
         countTiles(transform, g.outWidth);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The part of a row of pixels that is stored at a time.
static igemm::KernelSpec makeOutputSpec(const Problem &problem,
                                        const TargetInfo &target,
                                        const Transform &transform) {
  bool isNchw = problem.result.layout.kind == Layout::NCHW;
  PerfConfig config{{"tile_m", isNchw ? kRowPixels : transform.outTile()},
                    {"tile_n", target.lanes()}};
  igemm::KernelSpec spec(problem, target, config, makeGeometry(problem),
                         problem.operands[0].layout);
  // How implicit GEMM would pack the input is nothing to this kernel.
  spec.mergedRows = false;
  return spec;
}

KernelSpec::KernelSpec(const Problem &problem, const TargetInfo &target,
                       const PerfConfig &config, const Transform &transform)
    : transform(transform), inputLayout(problem.operands[0].layout),
      tileM(config.get("tile_m")), tileN(config.get("tile_n")),
      output(makeOutputSpec(problem, target, transform)) {
  alignedChannels = problem.operands[1].shape[1] % kLineChannels == 0;
}

int64_t KernelSpec::firstParam() const {
  return igemm::NumParams + 2 * static_cast<int64_t>(output.operands.size()) +
         output.epilogue.numParams();
}

std::string KernelSpec::symbol() const {
  std::string text = "winograd_f" + std::to_string(transform.outTile()) + "_m" +
                     std::to_string(tileM) + "n" + std::to_string(tileN) +
                     (alignedChannels ? "_lines" : "_pieces");
  // The row that is stored names dtypes, layouts and the epilogue.
  return text + "_" + output.symbol();
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static bool areAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

/// A vector of channels must lie within one block.
static bool hasWholeVectors(const Layout &layout, const TargetInfo &target) {
  return layout.kind != Layout::Blocked || layout.block % target.lanes() == 0;
}

Applicability WinogradSolver::isApplicable(const Problem &problem,
                                           const TargetInfo &target) const {
  if (problem.op != "conv")
    return Applicability::no("needs a convolution");
  if (problem.result.rank() != 4)
    return Applicability::no("needs two spatial dimensions");
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  if (filter.shape[2] != 3 || filter.shape[3] != 3)
    return Applicability::no("needs a 3x3 filter");
  if (!areAll(problem.ints("strides"), 1) ||
      !areAll(problem.ints("dilations"), 1))
    return Applicability::no("needs strides and dilations of 1");
  if (input.dtype != DType::F32 || input.quantized)
    return Applicability::no("needs an f32 input: the transforms amplify "
                             "rounding errors");
  if (filter.shape[1] > maxChannels)
    return Applicability::no("has too many channels for its error bound");
  if (!hasWholeVectors(input.layout, target))
    return Applicability::no("needs channel blocks of whole vectors");
  return igemm::isSupported(problem, target, makeGeometry(problem));
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

static bool fitsRegisters(const TargetInfo &target, int64_t m, int64_t n) {
  return igemm::fitsRegisters(target, igemm::Arith::F32, m, n);
}

static constexpr int64_t kMaxBlock = 64;

bool WinogradSolver::isValidConfig(const Problem &, const TargetInfo &target,
                                   const PerfConfig &config) const {
  if (config.getFields().size() != 3 || !config.has("tile_m") ||
      !config.has("tile_n") || !config.has("block_m"))
    return false;
  int64_t m = config.get("tile_m"), n = config.get("tile_n"),
          block = config.get("block_m");
  return m >= 1 && n >= target.lanes() && n % target.lanes() == 0 &&
         block >= 1 && block <= kMaxBlock && fitsRegisters(target, m, n);
}

/// Blocks of tiles of the same size, the largest of which fill about a share of
/// the L2 cache.
static int64_t chooseBlock(const TargetInfo &target, const Transform &transform,
                           const igemm::Geometry &g, int64_t m, int64_t n,
                           double share) {
  int64_t bytes = transform.points() * 4 * (llvm::alignTo(g.channels, 16) + n);
  auto room = static_cast<int64_t>(share * static_cast<double>(target.l2Bytes));
  int64_t largest = std::clamp<int64_t>(room / (bytes * m), 1, kMaxBlock);
  int64_t panels = divideCeil(countTiles(transform, g), m);
  int64_t blocks = divideCeil(panels, largest);
  // Threads that have one block more than others are waited for.
  if (blocks > 1 && target.threads > 1)
    blocks = llvm::alignTo(blocks, target.threads);
  return std::max<int64_t>(1, divideCeil(panels, blocks));
}

/// All blocks of one tile with their estimated cycles.
static void appendBlocks(const Problem &problem, const TargetInfo &target,
                         const Transform &transform, int64_t m, int64_t n,
                         std::vector<std::pair<double, PerfConfig>> &list) {
  igemm::Geometry g = makeGeometry(problem);
  SmallVector<int64_t> blocks;
  for (double share : {0.4, 1.0, 4.0}) {
    int64_t block = chooseBlock(target, transform, g, m, n, share);
    if (llvm::is_contained(blocks, block))
      continue;
    blocks.push_back(block);
    PerfConfig config{{"tile_m", m}, {"tile_n", n}, {"block_m", block}};
    list.emplace_back(estimateCycles(target, transform, problem, config),
                      config);
  }
}

static void sortByCycles(std::vector<std::pair<double, PerfConfig>> &list) {
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first < b.first; });
}

/// Each tile is a kernel to compile: without tuning, models make do with two,
/// as many rows as the registers hold of two vectors, and half of that for
/// images of few tiles.
PerfConfig WinogradSolver::defaultConfig(const Problem &problem,
                                         const TargetInfo &target) const {
  constexpr int64_t kVectors = 2;
  int64_t most = (target.vectorRegisters - kVectors - 1) / kVectors;
  std::vector<std::pair<double, PerfConfig>> ranked;
  for (int64_t m : {most, most / 2})
    appendBlocks(problem, target, transform, m, kVectors * target.lanes(),
                 ranked);
  sortByCycles(ranked);
  return ranked.front().second;
}

std::vector<PerfConfig>
WinogradSolver::configs(const Problem &problem,
                        const TargetInfo &target) const {
  std::vector<std::pair<double, PerfConfig>> ranked;
  for (int64_t vectors : {1, 2, 3, 4})
    for (int64_t m : {2, 4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28})
      if (int64_t n = vectors * target.lanes(); fitsRegisters(target, m, n))
        appendBlocks(problem, target, transform, m, n, ranked);
  sortByCycles(ranked);
  // Each tile is a kernel to compile, each block only a parameter.
  constexpr size_t kTiles = 4;
  std::vector<std::pair<int64_t, int64_t>> tiles;
  std::vector<PerfConfig> chosen;
  for (const auto &[cycles, config] : ranked) {
    std::pair tile(config.get("tile_m"), config.get("tile_n"));
    if (!llvm::is_contained(tiles, tile)) {
      if (tiles.size() == kTiles)
        continue;
      tiles.push_back(tile);
    }
    chosen.push_back(config);
  }
  if (PerfConfig standard = defaultConfig(problem, target);
      !llvm::is_contained(chosen, standard))
    chosen.push_back(standard);
  return chosen;
}

double WinogradSolver::expectedFraction(const Problem &problem,
                                        const TargetInfo &target) const {
  double cycles = estimateCycles(target, transform, problem,
                                 defaultConfig(problem, target));
  // Two multiply-adds of a vector per cycle.
  auto perCycle = static_cast<double>(4 * target.lanes());
  return problem.flops() / perCycle / std::max(cycles, 1.0);
}

//===----------------------------------------------------------------------===//
// Packing the filter
//===----------------------------------------------------------------------===//

std::vector<char> winograd::packFilter(const KernelSpec &spec,
                                       const igemm::Geometry &g,
                                       ArrayRef<char> filter) {
  int64_t points = spec.transform.points();
  int64_t depth = llvm::alignTo(g.channels, kLineChannels);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tileN);
  std::vector<char> bytes(
      g.groups * channelTiles * points * depth * spec.tileN * 4, 0);
  auto *packed = reinterpret_cast<float *>(bytes.data());
  const auto *weights = reinterpret_cast<const float *>(filter.data());
  int64_t taps = g.taps();
  for (int64_t k = 0; k < g.groups * g.outChannels; ++k) {
    int64_t inGroup = k % g.outChannels;
    int64_t tile = k / g.outChannels * channelTiles + inGroup / spec.tileN;
    int64_t column = inGroup % spec.tileN;
    for (int64_t c = 0; c < g.channels; ++c) {
      std::vector<double> values = spec.transform.transformFilter(
          ArrayRef(weights + (k * g.channels + c) * taps, taps));
      for (int64_t e = 0; e < points; ++e)
        packed[((tile * points + e) * depth + c) * spec.tileN + column] =
            static_cast<float>(values[e]);
    }
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// Sets the parameters that say how the input lies in memory.
static void setInputParams(std::vector<int64_t> &params, const Layout &layout,
                           const igemm::Geometry &g) {
  constexpr int64_t kElement = 4;
  int64_t channels = g.groups * g.channels, pixels = g.height * g.width;
  bool isNhwc = layout.kind == Layout::NHWC;
  int64_t block = layout.block; // 1 in nchw.
  int64_t pitch = g.inputPitch ? g.inputPitch : channels;
  params[InputPixelBytes] = (isNhwc ? pitch : block) * kElement;
  params[InputBlockBytes] = isNhwc ? 0 : pixels * block * kElement;
  params[InputGroupBytes] = g.channels * (isNhwc ? 1 : pixels) * kElement;
  params[InputImageBytes] =
      (isNhwc ? pitch : llvm::alignTo(channels, block)) * pixels * kElement;
  params[InputHeight] = g.height;
  params[InputWidth] = g.width;
  params[Channels] = g.channels;
  params[Lines] = divideCeil(g.channels, kLineChannels);
  params[PadTop] = g.padTop;
  params[PadLeft] = g.padLeft;
}

/// Sets the parameters of the output and cuts the work; returns the tasks.
static int64_t setTaskParams(std::vector<int64_t> &params,
                             const KernelSpec &spec, const TargetInfo &target,
                             const igemm::Geometry &g, int64_t block) {
  int64_t tiles = countTiles(spec.transform, g);
  int64_t panels = divideCeil(tiles, spec.tileM);
  block = std::min(block, panels);
  int64_t tileBlocks = divideCeil(panels, block);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tileN);
  // Channels are cut where there are too few tiles to keep the threads busy; a
  // thread that gets both halves of a block transforms its input once.
  int64_t wanted = target.threads == 1 ? 1 : 4 * target.threads;
  int64_t channelBlocks = std::clamp<int64_t>(
      divideCeil(wanted, tileBlocks * g.groups), 1, channelTiles);
  int64_t blockN = divideCeil(channelTiles, channelBlocks);
  channelBlocks = divideCeil(channelTiles, blockN);
  params[OutHeight] = g.outHeight;
  params[OutWidth] = g.outWidth;
  params[OutChannels] = g.outChannels;
  params[TilesX] = countTiles(spec.transform, g.outWidth);
  params[TilesY] = countTiles(spec.transform, g.outHeight);
  params[Tiles] = tiles;
  params[BlockTiles] = block * spec.tileM;
  params[TileBlocks] = tileBlocks;
  params[ChannelTiles] = channelTiles;
  params[BlockN] = blockN;
  params[ChannelBlocks] = channelBlocks;
  return g.groups * tileBlocks * channelBlocks;
}

/// What storing the result takes, in the order of igemm::Param, and behind it
/// what dequantises the epilogue's operands: scale and zero point.
static std::vector<int64_t> makeResultParams(const Problem &problem,
                                             const KernelSpec &spec,
                                             const igemm::Geometry &g) {
  std::vector<int64_t> params(igemm::NumParams, 0);
  float scale = problem.result.quantized ? problem.result.scales[0] : 1.0f;
  params[igemm::ResultInverseScale] = runtime::floatParam(1.0f / scale);
  params[igemm::ResultZeroPoint] =
      runtime::floatParam(static_cast<float>(problem.result.zeroPoint));
  params[igemm::ResultChannels] =
      g.resultPitch ? g.resultPitch : g.groups * g.outChannels;
  params[igemm::OutPixels] = g.outPixels();
  for (const igemm::OperandAccess &access : spec.output.operands) {
    const TensorDesc &desc = problem.operands[access.operand];
    params.push_back(
        runtime::floatParam(desc.quantized ? desc.scales[0] : 1.0f));
    params.push_back(runtime::floatParam(static_cast<float>(desc.zeroPoint)));
  }
  EpilogueEmitter::appendParams(problem, params);
  return params;
}

SolutionPlan WinogradSolver::plan(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config) const {
  KernelSpec spec(problem, target, config, transform);
  igemm::Geometry g = makeGeometry(problem);
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { emitKernel(b, spec); }};
  std::vector<int64_t> params(NumParams, 0);
  setInputParams(params, spec.inputLayout, g);
  launch.tasks = setTaskParams(params, spec, target, g, config.get("block_m"));
  launch.params = makeResultParams(problem, spec, g);
  assert(static_cast<int64_t>(launch.params.size()) == spec.firstParam() &&
         "the kernel counts its parameters otherwise");
  llvm::append_range(launch.params, params);
  int64_t blockTiles = params[BlockTiles];
  ScratchLayout layout(transform);
  launch.scratchBytes =
      kLineBytes + layout.betweenBytes + layout.stagingBytes +
      ScratchLayout::panelBytes(spec, blockTiles, params[Lines]) +
      ScratchLayout::productBytes(spec, blockTiles);

  launch.buffers = {{BufferSlot::Operand, 0}, {BufferSlot::Constant, 0}};
  for (const igemm::OperandAccess &access : spec.output.operands)
    launch.buffers.push_back({BufferSlot::Operand, access.operand});
  launch.buffers.push_back({BufferSlot::Result, 0});
  SolutionPlan plan;
  plan.launches.push_back(std::move(launch));
  plan.constants.push_back({[spec, g](const ConstantOperands &operands) {
    return packFilter(spec, g, operands[1]);
  }});
  return plan;
}
