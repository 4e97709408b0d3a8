//===- GpuFusedConv.cpp - 1x1 convolutions with their producers -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A depthwise convolution or an elementwise operation, and the 1x1 convolution
// that reads its result, as one launch of the tiled engine: what the first one
// computes goes to LDS alone (Prologue.h). A problem of few pixels takes hardly
// longer than the 1x1 convolution by itself, since its time is that of a launch
// and of waiting for memory; where several blocks of output channels compute
// the same pixels, or a lane waits for windows in each of many steps, two
// launches are faster.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "FusedEstimate.h"

#include "Common/PartPlans.h"
#include "GPU/GpuSolvers.h"
#include "Host/Conv/ConvGeometry.h"
#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

namespace {

class GpuFusedConv final : public Solver {
public:
  StringRef id() const override { return "gpu-fused-conv-v1"; }
  bool knowsProducers() const override { return true; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override {
    return configs(problem, target).front();
  }
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  std::string explainConfig(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const override;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The problem as one of the engine.
struct Parts {
  explicit Parts(const Problem &problem);

  Problem consumer;
  Product product;
};

} // namespace

Parts::Parts(const Problem &problem) : consumer(getConsumer(problem)) {
  Geometry &g = product.geometry;
  g = getConvGeometry(consumer);
  product.filters = {1, g.outChannels * g.channels, {g.channels, 1, 1}};
  product.readsInput = true;
  product.inputStrides = {g.channels * g.pixels(), g.channels, 1};
  product.packed = g;
  product.images = g.batch;
  product.producer = getProducer(problem);
}

/// Checks the convolution that reads the value.
static Applicability checkConsumer(const Problem &consumer) {
  const TensorDesc &value = consumer.operands[0];
  if (consumer.op != OpKind::Conv || consumer.result.rank() != 4)
    return Applicability::no("needs a convolution of two dimensions behind the "
                             "producer");
  Geometry g = getConvGeometry(consumer);
  if (!g.isPointwise() || g.groups != 1)
    return Applicability::no("needs a 1x1 convolution with a stride of 1");
  if (!consumer.operands[1].constant)
    return Applicability::no("needs a constant filter");
  if (g.channels * runtime::dtypeBytes(value.dtype) % kChunkBytes != 0)
    return Applicability::no("needs channels in whole chunks of 16 bytes");
  // Otherwise results would show how the value was rounded.
  bool isFiner = !consumer.result.quantized &&
                 runtime::dtypeEpsilon(consumer.result.dtype) <
                     runtime::dtypeEpsilon(value.dtype);
  if (isFiner)
    return Applicability::no("has a result of more bits than the value between "
                             "the two");
  return Applicability::yes();
}

Applicability GpuFusedConv::isApplicable(const Problem &problem,
                                         const TargetInfo &target) const {
  if (!target.gpu)
    return Applicability::no("needs a GPU");
  if (!hasProducer(problem))
    return Applicability::no("needs a producer of the convolution's input");
  if (Applicability answer = Prologue::check(getProducer(problem)); !answer)
    return answer;
  if (Applicability answer = checkConsumer(getConsumer(problem)); !answer)
    return answer;
  constexpr int64_t kByteLimit = int64_t(1) << 31;
  if (problem.operands[0].numBytes() >= kByteLimit)
    return Applicability::no("needs tensors below 2 GiB");
  Parts parts(problem);
  if (Applicability answer = isSupported(parts.consumer, target, parts.product);
      !answer)
    return answer;
  if (configs(problem, target).empty())
    return Applicability::no("no tile leaves registers for the windows of a "
                             "lane's pixels");
  return Applicability::yes();
}

int64_t GpuFusedConv::workspaceSize(const Problem &problem,
                                    const TargetInfo &target) const {
  Parts parts(problem);
  return getWorkspaceSize(parts.consumer, target, parts.product);
}

/// Tiles whose workgroups share all steps, so that each has few: a lane waits
/// for its windows in every one of them.
static std::vector<PerfConfig> shareAll(const PerfConfig &config) {
  constexpr int64_t kGroups[] = {1, 2, 4};
  TileFields fields = *TileFields::fromConfig(config);
  std::vector<PerfConfig> shared;
  if (fields.groupsPerUnit != 0)
    return shared;
  fields.splitK = 0;
  for (int64_t groups : kGroups) {
    fields.groupsPerUnit = groups;
    shared.push_back(fields.toConfig());
  }
  return shared;
}

/// The engine's tiles for the consumer, those first that are expected to take
/// the least time with the producer.
std::vector<PerfConfig> GpuFusedConv::configs(const Problem &problem,
                                              const TargetInfo &target) const {
  Parts parts(problem);
  std::vector<std::pair<double, PerfConfig>> ranked;
  auto rank = [&](const PerfConfig &config) {
    std::optional<Tile> tile =
        getTile(parts.consumer, target, parts.product, config);
    if (tile)
      ranked.emplace_back(estimateFused(*target.gpu, parts.product, *tile),
                          config);
  };
  for (const PerfConfig &config :
       getConfigs(parts.consumer, target, parts.product)) {
    rank(config);
    llvm::for_each(shareAll(config), rank);
  }
  llvm::stable_sort(
      ranked, [](const auto &a, const auto &b) { return a.first < b.first; });
  // Each is a kernel to compile.
  constexpr size_t kMost = 40;
  std::vector<PerfConfig> all;
  for (const auto &[clocks, config] : ranked)
    if (all.size() < kMost && !llvm::is_contained(all, config))
      all.push_back(config);
  return all;
}

bool GpuFusedConv::isValidConfig(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  Parts parts(problem);
  return getTile(parts.consumer, target, parts.product, config).has_value();
}

std::string GpuFusedConv::explainConfig(const Problem &problem,
                                        const TargetInfo &target,
                                        const PerfConfig &config) const {
  Parts parts(problem);
  std::string reason;
  getTile(parts.consumer, target, parts.product, config, &reason);
  return reason;
}

/// The two launches have kSeparateFraction.
double GpuFusedConv::expectedFraction(const Problem &problem,
                                      const TargetInfo &target) const {
  Parts parts(problem);
  Tile tile = *getTile(parts.consumer, target, parts.product,
                       defaultConfig(problem, target));
  double apart = estimateSeparate(*target.gpu, parts.product, tile);
  double together = estimateFused(*target.gpu, parts.product, tile);
  return std::min(1.0, kSeparateFraction * apart / together);
}

SolutionPlan GpuFusedConv::plan(const Problem &problem,
                                const TargetInfo &target,
                                const PerfConfig &config) const {
  Parts parts(problem);
  SolutionPlan plan =
      planProduct(parts.consumer, target, parts.product,
                  *getTile(parts.consumer, target, parts.product, config));
  // The producer's operands are numbered behind the consumer's.
  std::vector<int64_t> places = listConsumerOperands(problem, /*first=*/0);
  for (size_t i = 0; i < parts.product.producer->operands.size(); ++i)
    places.push_back(static_cast<int64_t>(i));
  renumberOperands(plan, places);
  return plan;
}

const Solver &tarpon::getGpuFusedConv() {
  static const GpuFusedConv solver;
  return solver;
}
