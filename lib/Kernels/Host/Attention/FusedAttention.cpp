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
#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>
#include <numeric>

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

std::optional<MaskMatrices> MaskMatrices::get(ArrayRef<int64_t> mask,
                                              ArrayRef<int64_t> scores) {
  MaskMatrices matrices = {1, 1};
  size_t missing = scores.size() - mask.size();
  bool hasEnded = false;
  for (size_t dim = scores.size() - 2; dim-- > 0;) {
    int64_t size = dim < missing ? 1 : mask[dim - missing];
    if (size == scores[dim]) {
      if (hasEnded && size != 1)
        return std::nullopt;
      matrices.count *= size;
    } else if (matrices.count == 1) {
      matrices.inner *= scores[dim];
    } else {
      hasEnded = true;
    }
  }
  return matrices;
}

namespace {

/// The sizes of a problem.
struct Sizes {
  int64_t matrices, queries, keys, channels, resultChannels;

  explicit Sizes(const Problem &problem)
      : queries(fromBack(problem.operands[0], 2)),
        keys(fromBack(problem.operands[1], 2)),
        channels(fromBack(problem.operands[0], 1)),
        resultChannels(fromBack(problem.result, 1)) {
    ArrayRef<int64_t> batch = ArrayRef(problem.result.shape).drop_back(2);
    matrices = std::accumulate(batch.begin(), batch.end(), int64_t(1),
                               std::multiplies<>());
  }

private:
  static int64_t fromBack(const TensorDesc &desc, int64_t index) {
    return desc.shape[desc.rank() - index];
  }
};

class FusedAttention final : public Solver {
public:
  StringRef id() const override { return "attention-fused-v1"; }
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

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static Applicability checkMask(const Problem &problem) {
  if (problem.rootOperands < 4)
    return Applicability::yes();
  ArrayRef<int64_t> mask = problem.operands[3].shape;
  Shape scores =
      getScoresShape(problem.operands[0].shape, problem.operands[1].shape);
  if (mask.size() < 1 || mask.back() != scores.back())
    return Applicability::no("the mask has no element for each key");
  if (!MaskMatrices::get(mask, scores))
    return Applicability::no("the mask is broadcast in dimensions between "
                             "others in which it is not");
  return Applicability::yes();
}

Applicability
FusedAttention::isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Attention)
    return Applicability::no("is not an attention");
  for (const TensorDesc &operand :
       ArrayRef(problem.operands).take_front(problem.rootOperands))
    if (!isVectorizable(operand) || operand.layout.kind != Layout::NCHW)
      return notVectorizable("an operand is not row-major, or");
  if (problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("the result is not row-major");
  Sizes sizes(problem);
  if (problem.result.numElements() == 0 || sizes.keys == 0 ||
      sizes.channels == 0)
    return Applicability::no("there is nothing to compute");
  if (VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels");
  if (Applicability answer = checkMask(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

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
  MaskMatrices matrices = {1, 1};
  bool hasRows = false;
  if (problem.rootOperands > 3) {
    mask = bind(3);
    ArrayRef<int64_t> shape = problem.operands[3].shape;
    matrices =
        *MaskMatrices::get(shape, getScoresShape(problem.operands[0].shape,
                                                 problem.operands[1].shape));
    hasRows = shape.size() > 1 && shape[shape.size() - 2] == sizes.queries;
  }
  int64_t queryBlock = config.get("query_block");
  int64_t keyBlock = std::min(config.get("key_block"), sizes.keys);
  int64_t blocks = divideCeil(sizes.queries, queryBlock);
  TileShape tile = TileShape::choose(target);
  int64_t channelRows = padRows(sizes.channels, target),
          resultRows = padRows(sizes.resultChannels, target),
          keyRows = padRows(keyBlock, target);
  AttentionKernel kernel{
      .causal = problem.integer("causal") != 0,
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
      .resultChannels = launch.addParam(sizes.resultChannels),
      .queryBlock = launch.addParam(queryBlock),
      .keyBlock = launch.addParam(keyBlock),
      .blocks = launch.addParam(blocks),
      .ahead = launch.addParam(sizes.keys - sizes.queries),
      .scale = launch.addFloatParam(problem.number("scale")),
      .maskInner = launch.addParam(matrices.inner),
      .maskCount = launch.addParam(matrices.count),
      .maskRows = launch.addParam(hasRows ? sizes.queries : 1),
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
