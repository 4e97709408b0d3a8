//===- PointwiseConv.cpp - The solver of pointwise convolutions -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Pointwise.h.
//
//===----------------------------------------------------------------------===//

#include "Host/Conv/ConvGeometry.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"
#include "Pointwise.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::pointwise;
using igemm::Geometry;
using llvm::divideCeil;

/// The pixels of all images are one row.
static Geometry getGeometry(const Problem &problem) {
  Geometry g = getConvGeometry(problem);
  g.width = g.outWidth = g.batch * g.outPixels();
  g.batch = g.height = g.outHeight = g.depth = g.outDepth = 1;
  return g;
}

static igemm::KernelSpec makeSpec(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config, const Geometry &g) {
  return igemm::KernelSpec(problem, target, config, g,
                           problem.operands[0].layout);
}

static int64_t chooseBlockM(const TargetInfo &target, const Geometry &g,
                            int64_t tileM) {
  int64_t tiles = divideCeil(g.outPixels(), tileM);
  int64_t bytes = tileM * g.channels * igemm::kUnitBytes;
  int64_t most = std::clamp<int64_t>(target.l2Bytes / 2 / bytes, 1, 16);
  return divideCeil(tiles, divideCeil(tiles, most));
}

static PerfConfig makeConfig(const TargetInfo &target, const Geometry &g,
                             int64_t m, int64_t n) {
  return {
      {"tile_m", m}, {"tile_n", n}, {"block_m", chooseBlockM(target, g, m)}};
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

namespace {
class PointwiseConv final : public Solver {
public:
  StringRef id() const override { return "conv-pointwise-v1"; }
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

Applicability PointwiseConv::isApplicable(const Problem &problem,
                                          const TargetInfo &target) const {
  if (problem.op != OpKind::Conv)
    return Applicability::no("needs a convolution");
  if (problem.result.rank() > 5)
    return Applicability::no("needs one to three spatial dimensions");
  Geometry g = getConvGeometry(problem);
  if (!g.isPointwise())
    return Applicability::no("needs windows of one pixel, a stride of 1 and no "
                             "padding");
  if (problem.operands[0].layout.kind != Layout::NHWC ||
      problem.result.layout.kind != Layout::NHWC)
    return Applicability::no("needs an nhwc input and result");
  if (problem.operands[0].dtype != runtime::DType::F32)
    return Applicability::no("multiplies f32 only");
  return igemm::isSupported(problem, target, g);
}

PerfConfig PointwiseConv::defaultConfig(const Problem &problem,
                                        const TargetInfo &target) const {
  Geometry g = getGeometry(problem);
  auto [m, n] = igemm::rankTiles(problem, target, g).front();
  return makeConfig(target, g, m, n);
}

std::vector<PerfConfig> PointwiseConv::configs(const Problem &problem,
                                               const TargetInfo &target) const {
  constexpr size_t kTiles = 5;
  Geometry g = getGeometry(problem);
  auto tiles = igemm::rankTiles(problem, target, g);
  tiles.resize(std::min(tiles.size(), kTiles));
  std::vector<PerfConfig> configs;
  for (auto [m, n] : tiles)
    configs.push_back(makeConfig(target, g, m, n));
  return configs;
}

bool PointwiseConv::isValidConfig(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config) const {
  return igemm::isValidConfig(problem, target, config);
}

double PointwiseConv::expectedFraction(const Problem &problem,
                                       const TargetInfo &target) const {
  Geometry g = getGeometry(problem);
  auto [m, n] = igemm::rankTiles(problem, target, g).front();
  // As much as the engine expects, packing included, of 192 output channels:
  // with more, packing takes no longer than what it saves (measured on a Zen
  // 5).
  constexpr double kFraction = 0.83;
  // The lines of pixels that lie whole pages apart compete for one set of the
  // L1, so that fewer output channels pay for packing.
  constexpr double kConflictingFraction = 0.72;
  constexpr int64_t kPageBytes = 4096;
  int64_t pitch = g.inputPitch ? g.inputPitch : g.groups * g.channels;
  bool conflicts = pitch * igemm::kUnitBytes % kPageBytes == 0;
  return (conflicts ? kConflictingFraction : kFraction) *
         igemm::estimateEfficiency(target, g, m, n);
}

/// Sets the parameters and divides the work; returns the number of tasks.
static int64_t setParams(std::vector<int64_t> &params,
                         const igemm::KernelSpec &spec,
                         const TargetInfo &target, const Geometry &g,
                         int64_t blockM) {
  int64_t element = runtime::dtypeBytes(spec.inputDtype);
  int64_t pitch = g.inputPitch ? g.inputPitch : g.groups * g.channels;
  params[igemm::InputPixelBytes] = pitch * element;
  params[igemm::InputGroupBytes] = g.channels * element;
  params[igemm::Units] = g.channels;
  params[FilterTileBytes] = igemm::getPackedShape(spec, g).units * spec.tileN *
                            spec.filterUnitBytes();
  int64_t rest = g.outPixels() % spec.tileM;
  params[CopiedPixels] = rest == igemm::tailM(spec.tileM) ? 0 : rest;
  params[CopiedPixelBytes] =
      llvm::alignTo(g.channels * element, igemm::kLineBytes);

  int64_t pixelTiles = divideCeil(g.outPixels(), spec.tileM);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tileN);
  blockM = std::min(blockM, pixelTiles);
  int64_t blocks = divideCeil(pixelTiles, blockM);
  int64_t wanted = getWantedTasks(target);
  int64_t taskTiles =
      divideCeil(blocks,
                 std::min<int64_t>(blocks, divideCeil(wanted, g.groups))) *
      blockM;
  int64_t parts = divideCeil(pixelTiles, taskTiles);
  auto [blockN, channelBlocks] =
      igemm::splitChannels(target, channelTiles, parts * g.groups);
  params[igemm::OutPixels] = g.outPixels();
  params[igemm::OutChannels] = g.outChannels;
  params[igemm::ResultChannels] =
      g.resultPitch ? g.resultPitch : g.groups * g.outChannels;
  params[igemm::PixelTiles] = pixelTiles;
  params[igemm::ChannelTiles] = channelTiles;
  params[igemm::BlockM] = blockM;
  params[igemm::BlockN] = blockN;
  params[TaskTiles] = taskTiles;
  params[TaskParts] = parts;
  params[igemm::ChannelBlocks] = channelBlocks;
  return g.groups * parts * channelBlocks;
}

SolutionPlan PointwiseConv::plan(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  Geometry g = getGeometry(problem);
  igemm::KernelSpec spec = makeSpec(problem, target, config, g);
  LaunchPlan launch;
  launch.kernel = {
      "pointwise_" + spec.commonSymbol(),
      [spec](KernelBuilder &b) { pointwise::emitKernel(b, spec); }};
  std::vector<int64_t> &params = launch.params;
  params.assign(igemm::NumParams, 0);
  launch.tasks = setParams(params, spec, target, g, config.get("block_m"));
  igemm::setResultParams(params, problem, spec);
  launch.scratchBytes = spec.tileM * params[CopiedPixelBytes];
  igemm::FilterStrides strides = {g.channels, 1, 0};
  return igemm::bindLaunch(problem, spec, g, strides, std::move(launch),
                           {[=](const ConstantOperands &operands) {
                             return igemm::packFilter(spec, g, strides,
                                                      operands[1]);
                           }});
}

const Solver &tarpon::getPointwiseConv() {
  static const PointwiseConv solver;
  return solver;
}
