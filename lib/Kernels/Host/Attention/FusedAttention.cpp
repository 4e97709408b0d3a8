//===- FusedAttention.cpp - Attention in one launch -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Host/ImplicitGemm/ImplicitGemm.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::attention;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Three vectors of queries, and as many rows as the registers hold then: 4 of
/// AVX2's, 8 of AVX-512's. Without fused multiply-add, products take one.
TileShape TileShape::choose(const TargetInfo &target) {
  TileShape tile = {2, 3};
  int64_t spare = target.hasFma ? 0 : 1;
  while (igemm::fitsRegisters(target, igemm::Arith::F32, 2 * tile.rows + spare,
                              tile.queries(target)))
    tile.rows *= 2;
  return tile;
}

namespace {

class FusedAttention final : public Solver {
public:
  StringRef id() const override { return "attention-fused-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    return checkProblem(problem);
  }
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

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

static constexpr int64_t kMostQueryTiles = 64, kMostKeys = 4096;

static int64_t divideCeil(int64_t numerator, int64_t denominator) {
  return llvm::divideCeilSigned(numerator, denominator);
}

/// Blocks of queries of about this many tiles, and of about this many keys.
static PerfConfig makeConfig(const Problem &problem, const TargetInfo &target,
                             int64_t tiles, int64_t keys) {
  Sizes sizes(problem);
  TileShape tile = TileShape::choose(target);
  int64_t width = tile.queries(target);
  int64_t all = divideCeil(sizes.queries, width);
  // Blocks are equally long, and there are enough for all threads.
  int64_t wanted = divideCeil(getWantedTasks(target), sizes.matrices);
  int64_t parts = std::min(std::max(divideCeil(all, tiles), wanted), all);
  int64_t keyBlocks = divideCeil(sizes.keys, keys);
  int64_t queryBlock = divideCeil(all, parts) * width;
  int64_t keyTiles = divideCeil(divideCeil(sizes.keys, keyBlocks), tile.rows);
  return {{"query_block", queryBlock}, {"key_block", keyTiles * tile.rows}};
}

/// The keys of a block fill the first level, as its values do, and the queries
/// and sums of a block take a share of the second.
PerfConfig FusedAttention::defaultConfig(const Problem &problem,
                                         const TargetInfo &target) const {
  Sizes sizes(problem);
  constexpr int64_t kBytes = 4;
  int64_t key = std::max(sizes.channels, sizes.resultChannels) * kBytes;
  int64_t keys = std::clamp<int64_t>(target.l1Bytes / key, 16, 256);
  int64_t tile = TileShape::choose(target).queries(target) *
                 (sizes.channels + sizes.resultChannels) * kBytes;
  int64_t tiles = std::clamp<int64_t>(target.l2Bytes / 4 / tile, 1, 16);
  return makeConfig(problem, target, tiles, keys);
}

std::vector<PerfConfig>
FusedAttention::configs(const Problem &problem,
                        const TargetInfo &target) const {
  std::vector<PerfConfig> configs = {defaultConfig(problem, target)};
  for (int64_t tiles : {1, 2, 4, 8, 16})
    for (int64_t keys : {32, 64, 128, 256, 512}) {
      PerfConfig config = makeConfig(problem, target, tiles, keys);
      if (!llvm::is_contained(configs, config))
        configs.push_back(config);
    }
  return configs;
}

bool FusedAttention::isValidConfig(const Problem & /*problem*/,
                                   const TargetInfo &target,
                                   const PerfConfig &config) const {
  if (config.getFields().size() != 2 || !config.has("query_block") ||
      !config.has("key_block"))
    return false;
  int64_t width = TileShape::choose(target).queries(target);
  int64_t queries = config.get("query_block"), keys = config.get("key_block");
  return queries > 0 && queries % width == 0 &&
         queries <= kMostQueryTiles * width && keys > 0 && keys <= kMostKeys;
}

/// Lanes without a query take as long as others. Without fused multiply-add,
/// tiles are small, and were never timed.
double FusedAttention::expectedFraction(const Problem &problem,
                                        const TargetInfo &target) const {
  double most = target.hasFma ? 0.7 : 0.4;
  int64_t queries = Sizes(problem).queries;
  return most * static_cast<double>(queries) /
         static_cast<double>(llvm::alignTo(queries, target.lanes()));
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static bool isInPlace(const TensorDesc &desc) {
  return desc.dtype == DType::F32 && !desc.quantized;
}

std::string AttentionKernel::symbol() const {
  return joinSymbol({"attention", causal ? "causal" : "", query.symbolPart(),
                     key.symbolPart(), value.symbolPart(),
                     mask ? mask->symbolPart() : "none", output.symbolPart()});
}

SolutionPlan FusedAttention::plan(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  Sizes sizes(problem);
  auto bind = [&](int64_t index) {
    return FlatTensor(launch, {BufferSlot::Operand, index},
                      problem.operands[index]);
  };
  FlatTensor query = bind(0), key = bind(1), value = bind(2);
  std::optional<FlatTensor> mask;
  if (hasMask(problem))
    mask = bind(3);
  Mask maskShape(problem);
  int64_t queryBlock = config.get("query_block");
  int64_t keyBlock = std::min(config.get("key_block"), sizes.keys);
  int64_t blocks = divideCeil(sizes.queries, queryBlock);
  TileShape tile = TileShape::choose(target);
  int64_t channelRows = padRows(sizes.channels, target),
          resultRows = padRows(sizes.resultChannels, target),
          keyRows = padRows(keyBlock, target);
  AttentionKernel kernel{.causal = problem.integer("causal") != 0,
                         .tile = tile,
                         .query = query,
                         .key = key,
                         .value = value,
                         .mask = mask,
                         .output = VectorOutput(launch, problem),
                         .keysInPlace = isInPlace(problem.operands[1]),
                         .valuesInPlace = isInPlace(problem.operands[2]),
                         .queries = launch.addParam(sizes.queries),
                         .keys = launch.addParam(sizes.keys),
                         .channels = launch.addParam(sizes.channels),
                         .resultChannels =
                             launch.addParam(sizes.resultChannels),
                         .queryBlock = launch.addParam(queryBlock),
                         .keyBlock = launch.addParam(keyBlock),
                         .blocks = launch.addParam(blocks),
                         .ahead = launch.addParam(sizes.keys - sizes.queries),
                         .scale = launch.addFloatParam(problem.number("scale")),
                         .maskInner = launch.addParam(maskShape.matrices.inner),
                         .maskCount = launch.addParam(maskShape.matrices.count),
                         .maskRows = launch.addParam(maskShape.rows),
                         .channelRows = launch.addParam(channelRows),
                         .resultRows = launch.addParam(resultRows),
                         .keyRows = launch.addParam(keyRows)};
  int64_t width = tile.queries(target);
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      sizes.matrices * blocks,
      getScratchBytes(target, tile, queryBlock / width, channelRows, resultRows,
                      keyRows));
  return plan;
}

const Solver &tarpon::getAttention() {
  static const FusedAttention solver;
  return solver;
}
