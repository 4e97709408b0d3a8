//===- Configs.cpp - Proposes tiles and ranks them ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "TileVariants.h"

#include "GPU/GpuInstructions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

namespace {
struct BlockShape {
  int64_t m, n;
};
} // namespace

/// The blocks of default configs: few, so that a network needs few kernels.
static constexpr BlockShape kDefaultBlocks[] = {
    {128, 128}, {128, 64}, {64, 64}, {32, 32}};

/// Further blocks that are worth measuring.
static constexpr BlockShape kMoreBlocks[] = {{256, 128}, {64, 128}, {256, 64},
                                             {64, 256},  {64, 32},  {32, 64}};

/// The same for mma.sync, with which small blocks are as fast.
static constexpr BlockShape kMmaDefaultBlocks[] = {
    {128, 128}, {128, 192}, {256, 128}, {128, 64},
    {64, 128},  {64, 64},   {32, 64},   {32, 32}};
static constexpr BlockShape kMmaMoreBlocks[] = {
    {128, 256}, {64, 192}, {256, 64}, {64, 256}, {32, 128}, {64, 32}};

static bool hasMmaSync(const GpuTarget &gpu, DType dtype) {
  return gpu.matrixUnit == MatrixUnit::MmaSync &&
         !gpu.getMatrixInstructions(dtype == DType::U8 ? DType::I8 : dtype)
              .empty();
}

static ArrayRef<BlockShape> getDefaultBlocks(const GpuTarget &gpu,
                                             DType dtype) {
  if (hasMmaSync(gpu, dtype))
    return kMmaDefaultBlocks;
  return kDefaultBlocks;
}

static ArrayRef<BlockShape> getMoreBlocks(const GpuTarget &gpu, DType dtype) {
  if (hasMmaSync(gpu, dtype))
    return kMmaMoreBlocks;
  return kMoreBlocks;
}

/// The bytes of a row of a step: eight chunks, which fill all banks of LDS;
/// half of that if a step takes a thousand vector instructions.
static int64_t getRowBytes(const WaveOp &op) {
  return op.kind == WaveOp::Kind::Fma ? 64 : 128;
}

/// The numbers of waves along the sides of a block, such that their tiles are
/// about as square as the block.
static BlockShape chooseWaves(const GpuTarget &gpu, DType dtype,
                              const BlockShape &block, bool copies) {
  // Each of four partitions has a wave, or two, and a tile of 64 x 64 leaves
  // registers for its operands, but not for copies through them.
  if (copies && hasMmaSync(gpu, dtype)) {
    if (block.m < 64 && block.n >= 4 * block.m)
      return {1, 4};
    return {block.m > 128 ? 4 : 2, block.n > 128 ? 4 : 2};
  }
  // Four waves, or eight of half as many lanes for large blocks.
  bool isLarge = block.m * block.n > 64 * 64;
  BlockShape waves{gpu.waveSize == 32 && isLarge ? 4 : 2, 2};
  if (block.m < 64 && waves.m == 4)
    std::swap(waves.m, waves.n);
  return waves;
}

/// As many stages as two workgroups on a compute unit have room for, or one of
/// eight waves, whose registers fill it. AMD's GPUs have two for every tile, so
/// that a network needs few kernels.
static int64_t chooseStages(const GpuTarget &gpu, const Tile &tile) {
  constexpr int64_t kFewest = 2, kUsual = 4, kManyWaves = 8;
  if (gpu.vendor == GpuVendor::AMD)
    return kFewest;
  int64_t groups = tile.waves() < kManyWaves ? 2 : 1;
  int64_t room = gpu.ldsBytesPerUnit / groups - gpu.ldsReservedPerGroup;
  return std::clamp(room / tile.stageBytes(), kFewest, kUsual);
}

/// The tile of a block that is shared by warpgroups, each with 64 pixels; none
/// if there are no such instructions, or the block is too small.
static std::optional<TileFields>
shareByGroups(const GpuTarget &gpu, DType dtype, const TileFields &usual) {
  constexpr int64_t kPixels = 64, kMostChannels = 256;
  TileFields fields = usual;
  fields.inst = fields.waveM = std::min(fields.blockM, kMostChannels);
  fields.waveN = kPixels;
  std::optional<WaveOp> op = findWaveOp(gpu, dtype, fields.inst);
  if (!op || op->kind != WaveOp::Kind::Wgmma)
    return std::nullopt;
  // Without a limit, ptxas takes more registers for the epilogue of bytes than
  // four workgroups on a compute unit leave to each.
  constexpr int64_t kWaves = 4, kMostSums = 64;
  if (op->isInteger()) {
    // A lane needs as long for what it does once as for a few of its results.
    auto countSums = [&] { return fields.waveM * fields.waveN / op->waveSize; };
    if (2 * countSums() <= kMostSums && fields.blockN % (2 * kPixels) == 0)
      fields.waveN = 2 * kPixels;
    if (countSums() <= kMostSums)
      fields.wavesPerEu = kWaves;
  }
  std::optional<Tile> tile = Tile::make(gpu, dtype, fields);
  if (!tile)
    return std::nullopt;
  // Two workgroups on a compute unit hide each other's barriers; one alone does
  // so with products under way.
  constexpr int64_t kFewest = 3, kUsual = 4, kMost = 5;
  int64_t half = gpu.ldsBytesPerUnit / 2 - gpu.ldsReservedPerGroup;
  fields.stages = half >= kFewest * tile->stageBytes()
                      ? std::min(half / tile->stageBytes(), kUsual)
                      : std::min(gpu.ldsBytes / tile->stageBytes(), kMost);
  return Tile::make(gpu, dtype, fields) ? std::optional(fields) : std::nullopt;
}

/// The default tile of a block; `copies` tells if the input can be copied to
/// LDS.
static std::optional<TileFields> makeFields(const GpuTarget &gpu, DType dtype,
                                            const BlockShape &block,
                                            bool copies) {
  BlockShape waves = chooseWaves(gpu, dtype, block, copies);
  TileFields fields{block.m,
                    block.n,
                    /*blockK=*/0,
                    block.m / waves.m,
                    block.n / waves.n,
                    /*inst=*/0,
                    /*stages=*/copies ? 2 : 1,
                    /*splitK=*/1,
                    /*swizzle=*/1,
                    /*wavesPerEu=*/2,
                    /*groupsPerUnit=*/0};
  // ptxas needs no limit to balance registers.
  if (gpu.vendor == GpuVendor::NVIDIA)
    fields.wavesPerEu = 0;
  for (int64_t inst : getWaveOpSizes(gpu, dtype)) {
    WaveOp op = *findWaveOp(gpu, dtype, inst);
    // Warpgroups divide blocks in another way; see getGroupTiles.
    if (op.kind == WaveOp::Kind::Wgmma)
      continue;
    fields.inst = inst;
    fields.blockK = getRowBytes(op) / op.elementBytes();
    std::optional<Tile> tile = Tile::make(gpu, dtype, fields);
    if (!tile)
      continue;
    if (copies)
      fields.stages = chooseStages(gpu, *tile);
    return fields;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// The operations per clock of an instruction.
static double getRate(const WaveOp &op) {
  return static_cast<double>(op.m * op.n * op.k) /
         static_cast<double>(op.cycles);
}

/// The fraction of the rate of the target's fastest instructions that a tile's
/// have.
static double getRelativeRate(const GpuTarget &gpu, DType dtype,
                              const WaveOp &op) {
  double best = getRate(op);
  for (int64_t inst : getWaveOpSizes(gpu, dtype))
    best = std::max(best, getRate(*findWaveOp(gpu, dtype, inst)));
  return getRate(op) / best;
}

/// The number of workgroups that a compute unit holds.
static int64_t countResident(const GpuTarget &gpu, const Tile &tile) {
  int64_t waves = gpu.getOccupancy(tile.estimateRegisters(), tile.ldsBytes(),
                                   tile.threads());
  return std::max<int64_t>(1, waves * gpu.simdsPerUnit * gpu.waveSize /
                                  tile.threads());
}

/// The clocks of a step for barriers and addresses, of which `groups`
/// workgroups on a compute unit hide each other's.
static double estimateOverhead(const Tile &tile, int64_t groups) {
  if (tile.getOp().kind != WaveOp::Kind::Wgmma)
    return 64;
  // An H200 takes 1000, 760, 390 and 250 clocks for a step of tiles of 128 x
  // 128, 128 x 128, 128 x 64 and 64 x 64, with 1, 2, 2 and 3 of them on a unit.
  double alone = tile.stepsUnderWay() > 0 ? 120 : 440;
  auto count = static_cast<double>(groups);
  return alone / (count * std::sqrt(count));
}

/// The fraction of a step's clocks in which one compute unit multiplies: LDS
/// serves the reads of its waves, and the writes for the next step.
static double estimateIssue(const GpuTarget &gpu, const Tile &tile,
                            int64_t groups) {
  const TileFields &f = tile.getFields();
  int64_t ops = tile.tilesM() * tile.tilesN() * tile.rowBytes() /
                tile.getOp().depthBytes() * tile.getOp().opsPerUnit();
  double product =
      static_cast<double>(ops) * static_cast<double>(tile.getOp().cycles) *
      static_cast<double>(tile.waves()) / static_cast<double>(gpu.simdsPerUnit);
  auto read =
      static_cast<double>(tile.waves() * (f.waveM + f.waveN) * tile.rowBytes());
  auto written = static_cast<double>((f.blockM + f.blockN) * tile.rowBytes());
  double lds = read / static_cast<double>(gpu.ldsReadBytesPerClock) +
               written / static_cast<double>(gpu.ldsWriteBytesPerClock);
  // The same measurements: wgmma reads some rows once for all.
  if (tile.getOp().kind == WaveOp::Kind::Wgmma)
    lds *= 0.85;
  // The same measurements: what the second-level cache sends to a unit.
  double cache = 0;
  if (gpu.vendor == GpuVendor::NVIDIA)
    cache = static_cast<double>(tile.stageBytes()) / 64;
  return product /
         (std::max({product, lds, cache}) + estimateOverhead(tile, groups));
}

/// The fraction of a workgroup's time that is steps: filling the first stages
/// and storing results take about as long as four, which further workgroups on
/// its compute unit hide.
static double estimateSteps(const GpuTarget &gpu, const Tile &tile,
                            int64_t steps) {
  auto count = static_cast<double>(steps);
  return count / (count + 4.0 / static_cast<double>(countResident(gpu, tile)));
}

/// The number of workgroups of the product.
static int64_t countBlocks(const Product &product, const BlockShape &block) {
  const Geometry &g = product.geometry;
  int64_t pixels = g.batched ? g.outPixels() : product.pixels();
  return divideCeil(g.outChannels, block.m) * divideCeil(pixels, block.n) *
         (g.batched ? g.batch : g.groups);
}

/// The fraction of the peak, from the useful results and the number of compute
/// units with work.
static double estimate(const GpuTarget &gpu, const Product &product,
                       const Tile &tile) {
  const Geometry &g = product.geometry;
  const TileFields &f = tile.getFields();
  int64_t splits = f.wholeSplits();
  int64_t blocks = countBlocks(product, {f.blockM, f.blockN}) * splits;
  double computed = static_cast<double>(blocks * f.blockM * f.blockN) /
                    static_cast<double>(splits);
  double wanted =
      static_cast<double>(product.pixels() * g.groups * g.outChannels);
  // The compute units are done when the one with the most blocks is.
  bool isNvidia = gpu.vendor == GpuVendor::NVIDIA;
  int64_t rounds = isNvidia ? divideCeil(blocks, gpu.computeUnits) : 1;
  int64_t groups = isNvidia ? std::min(rounds, countResident(gpu, tile)) : 1;
  double busy =
      std::min(1.0, static_cast<double>(blocks) /
                        static_cast<double>(rounds * gpu.computeUnits));
  if (f.sharesSteps())
    std::tie(busy, groups) = std::pair(1.0, f.groupsPerUnit);
  Depth depth(tile, g);
  double padding = static_cast<double>(g.taps() * g.channels) /
                   static_cast<double>(depth.steps * f.blockK);
  return estimateIssue(gpu, tile, groups) * wanted / computed * busy * padding;
}

/// The number of splits that keeps all compute units busy, with four steps or
/// more each.
static int64_t chooseSplits(const GpuTarget &gpu, const Product &product,
                            const Tile &tile) {
  const TileFields &f = tile.getFields();
  int64_t blocks = countBlocks(product, {f.blockM, f.blockN});
  int64_t wanted = gpu.computeUnits / blocks;
  int64_t most = Depth(tile, product.geometry).steps / 4;
  return std::clamp<int64_t>(std::min(wanted, most), 1, getMaxSplits(product));
}

namespace {
struct Ranked {
  double fraction;
  TileFields fields;
};
} // namespace

/// Returns true if the input can be copied with whole chunks, as it is loaded
/// to registers. Narrower copies take several times as many instructions, so
/// that only the tuner tries them.
static bool copiesChunks(const Problem &problem, const GpuTarget &gpu,
                         const Product &product) {
  return canBeCopied(gpu, problem.operands[0], product) &&
         getGpuInstructions(gpu.vendor).getCopyForm(gpu).bytes == kChunkBytes;
}

/// Tiles of those blocks, best estimate first. If even those leave compute
/// units without work, k is split.
static std::vector<Ranked> rankTiles(const Problem &problem,
                                     const TargetInfo &target,
                                     const Product &product,
                                     ArrayRef<BlockShape> blocks) {
  const GpuTarget &gpu = *target.gpu;
  DType dtype = problem.operands[0].dtype;
  bool copies = copiesChunks(problem, gpu, product);
  std::vector<Ranked> ranked;
  auto rank = [&](TileFields fields) {
    fields.splitK = chooseSplits(gpu, product, *Tile::make(gpu, dtype, fields));
    std::optional<Tile> tile = Tile::make(gpu, dtype, fields);
    // LDS is better for more workgroups, if there are, than for all of few
    // steps.
    int64_t steps =
        divideCeil(Depth(*tile, product.geometry).steps, fields.splitK);
    const TileFields &f = fields;
    bool isFull = countBlocks(product, {f.blockM, f.blockN}) * f.splitK >
                  gpu.computeUnits;
    int64_t most = isFull ? std::max<int64_t>(2, steps / 2 + 1) : steps + 1;
    if (copies)
      fields.stages = std::min(fields.stages, most);
    tile = Tile::make(gpu, dtype, fields);
    double fraction = estimate(gpu, product, *tile) *
                      getRelativeRate(gpu, dtype, tile->getOp());
    if (copies)
      fraction *= estimateSteps(gpu, *tile, steps);
    // The sums are stored, read and added once more. Nothing hides the barriers
    // of a warpgroup that is alone on its compute unit.
    if (fields.splitK > 1)
      fraction *= tile->getOp().kind == WaveOp::Kind::Wgmma ? 0.35 : 0.7;
    ranked.push_back({fraction, fields});
  };
  for (const BlockShape &block : blocks) {
    std::optional<TileFields> fields = makeFields(gpu, dtype, block, copies);
    if (!fields)
      continue;
    std::optional<TileFields> groups;
    if (copies)
      groups = shareByGroups(gpu, dtype, *fields);
    if (groups)
      rank(*groups);
    // Where few steps or workgroups matter more than the rate.
    if (!groups || block.m * block.n <= 128 * 128)
      rank(*fields);
  }
  llvm::stable_sort(ranked, [](const Ranked &a, const Ranked &b) {
    return a.fraction > b.fraction;
  });
  return ranked;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

PerfConfig gpuigemm::getDefaultConfig(const Problem &problem,
                                      const TargetInfo &target,
                                      const Product &product) {
  DType dtype = problem.operands[0].dtype;
  return rankTiles(problem, target, product,
                   getDefaultBlocks(*target.gpu, dtype))
      .front()
      .fields.toConfig();
}

/// The time of the slower one of compute units and memory, divided by their
/// time with the best tile.
double gpuigemm::estimateFraction(const Problem &problem,
                                  const TargetInfo &target,
                                  const Product &product) {
  const GpuTarget &gpu = *target.gpu;
  DType dtype = problem.operands[0].dtype;
  double fraction =
      rankTiles(problem, target, product, getDefaultBlocks(gpu, dtype))
          .front()
          .fraction;
  double compute = problem.flops() / gpu.peakGflops(dtype);
  double memory = problem.bytes() / gpu.memoryGbps;
  // This covers launches, and effects that the estimate does not model. A
  // problem that is too small for the GPU is so for every solver; solvers
  // without tiles are no better.
  constexpr double kLeast = 0.02;
  return std::max(kLeast, 0.8 * std::max(compute, memory) /
                              std::max(compute / fraction, memory));
}

/// The tile with as many workgroups as run at a time, which take the blocks in
/// turn; none if there are no more blocks.
static std::optional<TileFields> takeTurns(const GpuTarget &gpu, DType dtype,
                                           const Product &product,
                                           TileFields fields) {
  Tile tile = *Tile::make(gpu, dtype, fields);
  fields.groupsPerUnit = countResident(gpu, tile);
  int64_t blocks =
      countBlocks(product, {fields.blockM, fields.blockN}) * fields.splitK;
  return blocks > fields.groupsPerUnit * gpu.computeUnits
             ? std::optional(fields)
             : std::nullopt;
}

/// The tile with as many workgroups as run at a time, which share all steps;
/// none if its blocks leave few of them without work in the end.
static std::optional<TileFields> shareSteps(const GpuTarget &gpu, DType dtype,
                                            const Product &product,
                                            TileFields fields) {
  constexpr double kBusy = 0.95;
  fields.splitK = 1;
  std::optional<Tile> tile = Tile::make(gpu, dtype, fields);
  if (!tile)
    return std::nullopt;
  int64_t resident = countResident(gpu, *tile);
  int64_t blocks = countBlocks(product, {fields.blockM, fields.blockN});
  int64_t places =
      llvm::alignTo(blocks, static_cast<uint64_t>(resident * gpu.computeUnits));
  if (static_cast<double>(blocks) > kBusy * static_cast<double>(places))
    return std::nullopt;
  fields.splitK = 0;
  fields.groupsPerUnit = resident;
  // A workgroup that waits for a place has its share when others are done.
  if (gpu.vendor == GpuVendor::NVIDIA && resident > 1)
    fields.wavesPerEu = llvm::divideCeil(resident * tile->threads(),
                                         gpu.waveSize * gpu.simdsPerUnit);
  return Tile::make(gpu, dtype, fields) ? std::optional(fields) : std::nullopt;
}

/// The number of stages that the steps of a workgroup fill.
static int64_t getUsefulStages(const GpuTarget &gpu, DType dtype,
                               const Product &product,
                               const TileFields &fields) {
  std::optional<Tile> tile = Tile::make(gpu, dtype, fields);
  if (!tile)
    return fields.stages;
  int64_t steps =
      divideCeil(Depth(*tile, product.geometry).steps, fields.wholeSplits());
  return std::max<int64_t>(2, steps + 1);
}

/// The tiles of both lists with shared steps, best estimate first.
static std::vector<TileFields> rankSharing(const GpuTarget &gpu, DType dtype,
                                           const Product &product,
                                           ArrayRef<Ranked> usual,
                                           ArrayRef<TileFields> groupTiles) {
  std::vector<TileFields> all(groupTiles);
  for (const Ranked &tile : usual)
    all.push_back(tile.fields);
  std::vector<Ranked> ranked;
  for (const TileFields &fields : all)
    if (auto shared = shareSteps(gpu, dtype, product, fields)) {
      Tile tile = *Tile::make(gpu, dtype, *shared);
      double rate = getRelativeRate(gpu, dtype, tile.getOp());
      ranked.push_back({estimate(gpu, product, tile) * rate, *shared});
    }
  llvm::stable_sort(ranked, [](const Ranked &a, const Ranked &b) {
    return a.fraction > b.fraction;
  });
  std::vector<TileFields> tiles;
  for (const Ranked &tile : ranked)
    if (tiles.empty() || tiles.back().toConfig() != tile.fields.toConfig())
      tiles.push_back(tile.fields);
  return tiles;
}

std::vector<TileFields> gpuigemm::proposeTiles(const Problem &problem,
                                               const TargetInfo &target,
                                               const Product &product) {
  constexpr size_t kVaried = 4;
  const GpuTarget &gpu = *target.gpu;
  DType dtype = problem.operands[0].dtype;
  std::vector<Ranked> ranked =
      rankTiles(problem, target, product, getDefaultBlocks(gpu, dtype));
  std::vector<TileFields> tiles;
  for (const Ranked &tile : ranked)
    tiles.push_back(tile.fields);
  constexpr size_t kInTurn = 4;
  if (canBeCopied(gpu, problem.operands[0], product))
    for (const Ranked &ranking : ArrayRef(ranked).take_front(kInTurn))
      for (const TileFields &tile : getTurnTiles(gpu, dtype, ranking.fields))
        if (std::optional<TileFields> fields =
                takeTurns(gpu, dtype, product, tile))
          tiles.push_back(*fields);
  std::vector<TileFields> groupTiles =
      getGroupTiles(gpu, dtype, ranked.front().fields);
  // The first of those are to be tried early.
  constexpr size_t kSharing = 8, kFirst = 3;
  std::vector<TileFields> sharing =
      rankSharing(gpu, dtype, product, ranked, groupTiles);
  sharing.resize(std::min(sharing.size(), kSharing));
  size_t early = std::min(sharing.size(), kFirst);
  tiles.insert(tiles.begin() + 1, sharing.begin(), sharing.begin() + early);
  tiles.insert(tiles.end(), sharing.begin() + early, sharing.end());
  for (const Ranked &tile :
       rankTiles(problem, target, product, getMoreBlocks(gpu, dtype)))
    tiles.push_back(tile.fields);
  llvm::append_range(tiles, groupTiles);
  for (const Ranked &tile : ArrayRef(ranked).take_front(kVaried))
    llvm::append_range(tiles, getVariants(gpu, dtype, tile.fields));
  llvm::append_range(tiles, getWaveVariants(gpu, ranked.front().fields));
  for (TileFields &fields : tiles)
    fields.stages =
        std::min(fields.stages, getUsefulStages(gpu, dtype, product, fields));
  return tiles;
}

std::vector<PerfConfig> gpuigemm::getConfigs(const Problem &problem,
                                             const TargetInfo &target,
                                             const Product &product) {
  // Each is a kernel to compile.
  constexpr size_t kMost = 40;
  std::vector<PerfConfig> configs;
  for (const TileFields &fields : proposeTiles(problem, target, product)) {
    PerfConfig config = fields.toConfig();
    if (configs.size() < kMost && !llvm::is_contained(configs, config) &&
        getTile(problem, target, product, config))
      configs.push_back(config);
  }
  return configs;
}
