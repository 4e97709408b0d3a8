//===- GpuAttention.cpp - Attention in one launch -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "Common/AttentionShapes.h"
#include "GPU/ElementWork.h"
#include "GPU/GpuInstructions.h"
#include "GPU/GpuSolvers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuattention;
using attention::Sizes;
using runtime::DType;

namespace {

class GpuAttention final : public Solver {
public:
  StringRef id() const override { return "gpu-attention-v1"; }
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
// Configs
//===----------------------------------------------------------------------===//

/// Two stages where data comes to LDS while products run; else one.
static int64_t countStages(const GpuTarget &gpu) {
  CopyForm form = getGpuInstructions(gpu.vendor).getCopyForm(gpu);
  return form.bytes == kChunkBytes && !form.inRow ? 2 : 1;
}

static AttentionTile makeTile(const Problem &problem, const GpuTarget &gpu,
                              const TileFields &fields) {
  Sizes sizes(problem);
  return AttentionTile(*AttentionTile::findOp(gpu, problem.operands[0].dtype),
                       fields, sizes.channels, sizes.resultChannels,
                       countStages(gpu), AttentionForm::get(problem));
}

/// Waves and tiles of queries, the default first, then with ever fewer queries
/// for problems that are small, then others that are worth measuring.
static constexpr std::pair<int64_t, int64_t> kShapes[] = {
    {4, 2}, {4, 1}, {2, 1}, {1, 1}, {8, 2}, {8, 1}, {2, 2}, {1, 2}};

/// Those that fit, the default first: the most queries that leave work for most
/// compute units, or else the fewest.
static std::vector<TileFields> listFields(const Problem &problem,
                                          const GpuTarget &gpu) {
  constexpr double kBusyShare = 0.75;
  Sizes sizes(problem);
  std::vector<TileFields> all;
  for (int64_t keyBlock : {64, 32, 128})
    for (auto [waves, queryTiles] : kShapes)
      if (TileFields fields = {waves, queryTiles, keyBlock};
          makeTile(problem, gpu, fields).fits(gpu))
        all.push_back(fields);
  auto countQueries = [&](const TileFields &fields) {
    return makeTile(problem, gpu, fields).queries();
  };
  auto best = llvm::find_if(all, [&](const TileFields &fields) {
    int64_t blocks =
        llvm::divideCeilSigned(sizes.queries, countQueries(fields));
    return static_cast<double>(sizes.matrices * blocks) >=
           kBusyShare * static_cast<double>(gpu.computeUnits);
  });
  if (best == all.end())
    best = llvm::min_element(all, [&](const auto &a, const auto &b) {
      return countQueries(a) < countQueries(b);
    });
  if (best != all.end())
    std::rotate(all.begin(), best, best + 1);
  return all;
}

PerfConfig GpuAttention::defaultConfig(const Problem &problem,
                                       const TargetInfo &target) const {
  return listFields(problem, *target.gpu).front().write();
}

std::vector<PerfConfig> GpuAttention::configs(const Problem &problem,
                                              const TargetInfo &target) const {
  std::vector<PerfConfig> configs;
  for (const TileFields &fields : listFields(problem, *target.gpu))
    configs.push_back(fields.write());
  return configs;
}

bool GpuAttention::isValidConfig(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  return llvm::is_contained(configs(problem, target), config);
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

/// Rows are copied in whole chunks.
static Applicability checkRows(const Problem &problem) {
  const DType dtype = problem.operands[0].dtype;
  Sizes sizes(problem);
  for (int64_t i = 0; i < 3; ++i)
    if (problem.operands[i].dtype != dtype || problem.operands[i].quantized)
      return Applicability::no("queries, keys and values differ in dtype");
  int64_t chunk = kChunkBytes / runtime::dtypeBytes(dtype);
  if (sizes.channels % chunk != 0 || sizes.resultChannels % chunk != 0)
    return Applicability::no("needs channels in multiples of " +
                             std::to_string(chunk));
  return Applicability::yes();
}

Applicability GpuAttention::isApplicable(const Problem &problem,
                                         const TargetInfo &target) const {
  if (Applicability answer = attention::checkProblem(problem); !answer)
    return answer;
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  if (!AttentionTile::findOp(*target.gpu, problem.operands[0].dtype))
    return Applicability::no("needs a matrix instruction for f16 or bf16");
  if (Applicability answer = checkRows(problem); !answer)
    return answer;
  Sizes sizes(problem);
  int64_t row = std::max(sizes.channels, sizes.resultChannels) *
                runtime::dtypeBytes(problem.operands[0].dtype);
  if (std::max(sizes.queries, sizes.keys) >
      std::numeric_limits<int32_t>::max() / 2 / row)
    return Applicability::no("needs offsets of more than 31 bits");
  if (listFields(problem, *target.gpu).empty())
    return Applicability::no("needs more registers for its channels than "
                             "there are");
  return Applicability::yes();
}

/// Lanes without a query take as long as others.
double GpuAttention::expectedFraction(const Problem &problem,
                                      const TargetInfo &target) const {
  constexpr double kMost = 0.6;
  int64_t width =
      AttentionTile::findOp(*target.gpu, problem.operands[0].dtype)->n;
  int64_t queries = Sizes(problem).queries;
  return kMost * static_cast<double>(queries) /
         static_cast<double>(
             llvm::alignTo(queries, static_cast<uint64_t>(width)));
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

double gpuattention::getScoreFactor(double scale, bool hasMask) {
  return hasMask ? scale : scale * std::numbers::log2e;
}

std::string AttentionKernel::symbol() const {
  return joinSymbol({"attention",
                     std::string(runtime::dtypeName(tile.getOp().dtype)),
                     tile.name(), causal ? "causal" : "",
                     mask ? mask->symbolPart() : "none", output.symbolPart()});
}

SolutionPlan GpuAttention::plan(const Problem &problem,
                                const TargetInfo &target,
                                const PerfConfig &config) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  Sizes sizes(problem);
  AttentionTile tile = makeTile(problem, *target.gpu, TileFields::read(config));
  attention::Mask maskShape(problem);
  std::optional<FlatTensor> mask;
  if (attention::hasMask(problem))
    mask = FlatTensor(launch, {BufferSlot::Operand, 3}, problem.operands[3]);
  int64_t blocks = llvm::divideCeilSigned(sizes.queries, tile.queries());
  AttentionKernel kernel{.tile = tile,
                         .causal = problem.integer("causal") != 0,
                         .query = launch.addBuffer({BufferSlot::Operand, 0}),
                         .key = launch.addBuffer({BufferSlot::Operand, 1}),
                         .value = launch.addBuffer({BufferSlot::Operand, 2}),
                         .mask = mask,
                         .output = VectorOutput(launch, problem),
                         .queries = launch.addParam(sizes.queries),
                         .keys = launch.addParam(sizes.keys),
                         .blocks = launch.addParam(blocks),
                         .ahead = launch.addParam(sizes.keys - sizes.queries),
                         .factor = launch.addFloatParam(getScoreFactor(
                             problem.number("scale"), mask.has_value())),
                         .maskInner = launch.addParam(maskShape.matrices.inner),
                         .maskCount = launch.addParam(maskShape.matrices.count),
                         .maskRows = launch.addParam(maskShape.rows)};
  finishGpuLaunch(
      plan, launch, kernel.symbol(),
      [kernel](KernelBuilder &b) { kernel.emit(b); }, sizes.matrices * blocks,
      tile.threads(), tile.ldsBytes());
  return plan;
}

const Solver &tarpon::getGpuAttention() {
  static const GpuAttention solver;
  return solver;
}
