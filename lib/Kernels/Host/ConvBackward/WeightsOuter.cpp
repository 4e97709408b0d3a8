//===- WeightsOuter.cpp - Weight gradients as sums of outer products ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of the weights of 1-D to 3-D convolutions with any stride,
// dilation, padding and groups. Operands that are not f32 with channels last
// are first rewritten into the workspace; sums are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "WeightsOuter.h"

#include "Host/Solvers.h"
#include "Host/Tasks.h"
#include "Rewrite.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::outer;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Geometry and spec
//===----------------------------------------------------------------------===//

/// The numbers of a problem's spatial dimensions, with ones in front for the
/// missing dimensions.
static Geometry::Dims widen(ArrayRef<int64_t> numbers, int64_t missing) {
  Geometry::Dims dims;
  dims.fill(missing);
  std::copy(numbers.begin(), numbers.end(), dims.end() - numbers.size());
  return dims;
}

Geometry::Geometry(const Problem &problem) {
  const TensorDesc &x = problem.operands[0], &dy = problem.operands[1];
  batch = x.shape[0];
  groups = problem.integer("group");
  channels = x.shape[1] / groups;
  outChannels = dy.shape[1] / groups;
  gradientChannels = dy.shape[1];
  isDepthwise = groups > 1 && channels == 1 && outChannels == 1;
  if (isDepthwise)
    std::swap(groups, channels);
  in = widen(x.spatial(), 1);
  out = widen(dy.spatial(), 1);
  kernel = widen(problem.result.spatial(), 1);
  stride = widen(problem.ints("strides"), 1);
  dilation = widen(problem.ints("dilations"), 1);
  pad = widen(ArrayRef(problem.ints("pads")).take_front(x.rank() - 2), 0);
  joinRows();
}

/// Joins rows if a row of dy reads one whole row of x: the shorter the rows,
/// the more their loops cost.
void Geometry::joinRows() {
  bool isPlain = in == out && kernel == widen({}, 1) && stride == kernel &&
                 pad == widen({}, 0);
  if (!isPlain)
    return;
  constexpr int64_t kEnough = 128;
  int64_t most = 1;
  for (int64_t rows = 2; rows * out[2] <= kEnough; ++rows)
    if (out[1] % rows == 0)
      most = rows;
  in[1] = out[1] = out[1] / most;
  in[2] = out[2] = out[2] * most;
}

KernelSpec::KernelSpec(const Problem &problem, const Geometry &g,
                       const PerfConfig &config)
    : tileK(config.get("tile_k")), tileC(config.get("tile_c")),
      resultDtype(problem.result.dtype) {
  constexpr int64_t kFewChannels = 8;
  depthwise = g.isDepthwise;
  mergedRows = !depthwise && g.groups == 1 && g.channels <= kFewChannels &&
               g.kernel[2] > 1 && g.dilation[2] == 1;
  masked = runChannels(g) % tileC != 0;
}

std::string KernelSpec::symbol() const {
  std::string text = "bwd_weights_outer_to_";
  text += runtime::dtypeName(resultDtype);
  text += "_k" + std::to_string(tileK) + "c" + std::to_string(tileC);
  text += depthwise ? "_depthwise" : mergedRows ? "_rows" : "";
  text += masked ? "_masked" : "";
  return text;
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

/// dy is read beyond its end by the tails of tiles, but no farther than buffers
/// may be read.
static constexpr int64_t kMostTileK = runtime::kBufferTailPadding / 4;

/// Accumulators, one row of x and one broadcast must fit into the registers.
static bool fitsRegisters(const TargetInfo &target, int64_t k, int64_t c,
                          int64_t others = 0) {
  int64_t vectors = c / target.lanes();
  return k * vectors + vectors + 1 + others <= target.vectorRegisters;
}

/// The fraction of the peak that a tile reaches: by the share of its cells that
/// are results, and by the share of multiplying instructions (as for the
/// implicit GEMM).
static double estimateEfficiency(const TargetInfo &target, const Geometry &g,
                                 int64_t k, int64_t c, int64_t runChannels) {
  double rows = static_cast<double>(g.outChannels) /
                static_cast<double>(llvm::alignTo(g.outChannels, k));
  double columns = static_cast<double>(runChannels) /
                   static_cast<double>(llvm::alignTo(runChannels, c));
  auto vectors = static_cast<double>(c) / static_cast<double>(target.lanes());
  double products = static_cast<double>(k) * vectors;
  // Each product takes two loads.
  if (g.isDepthwise)
    return k == 1 ? columns * 0.5 * std::min(1.0, products / 4) : 0;
  double latency = std::min(1.0, products / 8);
  double ports = std::min(1.0, products / (static_cast<double>(k) + vectors));
  return rows * columns * latency * (0.9 * ports + 0.1 * products / 28);
}

/// The tiles worth trying, best estimate first.
static std::vector<std::pair<int64_t, int64_t>>
rankTiles(const Problem &problem, const TargetInfo &target) {
  Geometry g(problem);
  int64_t lanes = target.lanes();
  KernelSpec spec(problem, g, {{"tile_k", 1}, {"tile_c", lanes}});
  int64_t run = spec.runChannels(g);
  struct Ranked {
    double efficiency;
    int64_t k, c;
  };
  std::vector<Ranked> ranked;
  for (int64_t vectors : {1, 2, 3, 4})
    for (int64_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16}) {
      int64_t c = vectors * lanes;
      // AVX2 has no separate registers for masks.
      bool hasMasks = run % c != 0 && target.vectorRegisters < 32;
      bool isPossible = k == 1 || !g.isDepthwise;
      if (isPossible && fitsRegisters(target, k, c, hasMasks ? vectors : 0))
        ranked.push_back({estimateEfficiency(target, g, k, c, run), k, c});
    }
  llvm::stable_sort(ranked, [](const Ranked &a, const Ranked &b) {
    return a.efficiency > b.efficiency;
  });
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (const Ranked &tile : ranked)
    tiles.emplace_back(tile.k, tile.c);
  return tiles;
}

/// The number of rows whose data for one tile takes half of the L1 cache.
static int64_t chooseRows(const Geometry &g, const TargetInfo &target,
                          int64_t k, int64_t c) {
  int64_t rowBytes = 4 * (k + c) * g.out[2];
  return std::clamp<int64_t>(target.l1Bytes / 2 / rowBytes, 1, g.rows());
}

static PerfConfig makeConfig(const Geometry &g, const TargetInfo &target,
                             int64_t k, int64_t c) {
  return {{"tile_k", k}, {"tile_c", c}, {"rows", chooseRows(g, target, k, c)}};
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

namespace {
/// The tiles of one task.
struct Blocks {
  int64_t k, c;
};
} // namespace

/// Chooses the tiles of a task. They share the data that they read, so that
/// several are good if a filter has few taps; but their sums must fit into the
/// L2 cache, and all threads must have tasks.
static Blocks chooseBlocks(const TargetInfo &target, int64_t kTiles,
                           int64_t cTiles, int64_t groups, int64_t tileBytes) {
  int64_t wanted = getWantedTasks(target);
  int64_t most = std::max<int64_t>(1, target.l2Bytes / 8 / tileBytes);
  Blocks blocks = {1, 1};
  auto tasks = [&](const Blocks &some) {
    return groups * divideCeil(kTiles, some.k) * divideCeil(cTiles, some.c);
  };
  while (true) {
    Blocks next = blocks;
    bool growK =
        blocks.k < kTiles && (blocks.k <= blocks.c || blocks.c >= cTiles);
    if (growK)
      ++next.k;
    else if (blocks.c < cTiles)
      ++next.c;
    else
      return blocks;
    if (next.k * next.c > most || static_cast<int64_t>(tasks(next)) < wanted)
      return blocks;
    blocks = next;
  }
}

static void setDims(std::vector<int64_t> &params, Param first,
                    const Geometry::Dims &dims) {
  std::copy(dims.begin(), dims.end(), params.begin() + first);
}

static void setGeometry(std::vector<int64_t> &params, const KernelSpec &spec,
                        const Geometry &g) {
  setDims(params, InDepth, g.in);
  setDims(params, OutDepth, g.out);
  setDims(params, KernelD, g.kernel);
  setDims(params, StrideD, g.stride);
  setDims(params, DilationD, g.dilation);
  setDims(params, PadD, g.pad);
  params[RowTaps] = spec.mergedRows ? g.kernel[2] : 1;
  params[KernelW] = g.kernel[2] / params[RowTaps];
  params[XChannels] = g.groups * g.channels;
  params[XPixelBytes] = 4 * params[XChannels];
  params[XRowBytes] = params[XPixelBytes] * g.in[2];
  params[XImageBytes] = params[XRowBytes] * g.in[1] * g.in[0];
  params[YPixelBytes] = 4 * g.gradientChannels;
  params[YRowBytes] = params[YPixelBytes] * g.out[2];
  params[RunChannels] = spec.runChannels(g);
  params[OutChannels] = g.outChannels;
  params[Taps] = spec.runTaps(g);
  params[Rows] = g.rows();
  int64_t begin = divideCeil(g.pad[2], g.stride[2]);
  int64_t room = g.in[2] + g.pad[2] - g.kernel[2];
  int64_t end = room < 0 ? 0 : room / g.stride[2] + 1;
  params[InsideBegin] = std::min(begin, g.out[2]);
  params[InsideEnd] = std::clamp(end, params[InsideBegin], g.out[2]);
}

/// Divides the work; returns the number of tasks.
static int64_t setTasks(std::vector<int64_t> &params, const KernelSpec &spec,
                        const Geometry &g, const TargetInfo &target) {
  int64_t kTiles = divideCeil(g.outChannels, spec.tileK);
  int64_t cTiles = divideCeil(spec.runChannels(g), spec.tileC);
  int64_t tileBytes = params[Taps] * spec.tileK * spec.tileC * 4;
  Blocks blocks = chooseBlocks(target, kTiles, cTiles, g.groups, tileBytes);
  params[KTiles] = kTiles;
  params[CTiles] = cTiles;
  params[BlockK] = blocks.k;
  params[BlockC] = blocks.c;
  params[KBlocks] = divideCeil(kTiles, blocks.k);
  params[CBlocks] = divideCeil(cTiles, blocks.c);
  return g.groups * params[KBlocks] * params[CBlocks];
}

static LaunchPlan planLaunch(const Problem &problem, const TargetInfo &target,
                             const PerfConfig &config) {
  Geometry g(problem);
  KernelSpec spec(problem, g, config);
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { emitKernel(b, spec); }};
  launch.params.assign(NumParams, 0);
  setGeometry(launch.params, spec, g);
  launch.params[ChunkRows] = config.get("rows");
  launch.tasks = setTasks(launch.params, spec, g, target);
  // Squares of taps and channels are read behind the last tap.
  int64_t tiles = launch.params[BlockK] * launch.params[BlockC];
  launch.scratchBytes = (tiles * launch.params[Taps] + target.lanes()) *
                        spec.tileK * spec.tileC * 4;
  return launch;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

namespace {
class WeightsOuter final : public Solver {
public:
  StringRef id() const override { return "conv-bwd-weights-outer-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &) const override {
    if (problem.op != OpKind::ConvBackwardWeights)
      return Applicability::no("needs the gradient of a convolution's weights");
    for (const TensorDesc *desc :
         {&problem.operands[0], &problem.operands[1], &problem.result})
      if (desc->dtype == DType::F64)
        return Applicability::no("computes in f32");
    return Applicability::yes();
  }

  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override {
    Workspace workspace;
    rewriteOperands(nullptr, workspace, problem, target);
    return workspace.size();
  }

  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override {
    auto [k, c] = rankTiles(problem, target).front();
    return makeConfig(Geometry(problem), target, k, c);
  }

  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const override;

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    SolutionPlan plan;
    Workspace workspace;
    auto [x, dy] = rewriteOperands(&plan, workspace, problem, target);
    plan.workspaceBytes = workspace.size();
    plan.launches.push_back(planLaunch(problem, target, config));
    plan.launches.back().buffers = {x, dy, {BufferSlot::Result, 0}};
    return plan;
  }

private:
  static std::pair<BufferSlot, BufferSlot>
  rewriteOperands(SolutionPlan *plan, Workspace &workspace,
                  const Problem &problem, const TargetInfo &target) {
    auto asFloats = [&](int64_t index) {
      const TensorDesc &desc = problem.operands[index];
      return rewrite(plan, workspace, target, desc,
                     {BufferSlot::Operand, index},
                     asChannelsLast(desc, DType::F32));
    };
    BufferSlot x = asFloats(0);
    return {x, asFloats(1)};
  }
};
} // namespace

std::vector<PerfConfig> WeightsOuter::configs(const Problem &problem,
                                              const TargetInfo &target) const {
  constexpr size_t kTiles = 5;
  auto tiles = rankTiles(problem, target);
  tiles.resize(std::min(tiles.size(), kTiles));
  Geometry g(problem);
  std::vector<PerfConfig> configs;
  for (auto [k, c] : tiles) {
    PerfConfig config = makeConfig(g, target, k, c);
    configs.push_back(config);
    int64_t rows = config.get("rows");
    config.set("rows", std::min(4 * rows, g.rows()));
    if (config.get("rows") != rows)
      configs.push_back(config);
  }
  return configs;
}

bool WeightsOuter::isValidConfig(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  if (config.getFields().size() != 3 || !config.has("tile_k") ||
      !config.has("tile_c") || !config.has("rows"))
    return false;
  int64_t k = config.get("tile_k"), c = config.get("tile_c"),
          rows = config.get("rows");
  return k >= 1 && k <= kMostTileK && c >= target.lanes() &&
         c % target.lanes() == 0 &&
         c <= target.lanes() * target.vectorRegisters && rows >= 1 &&
         rows <= Geometry(problem).rows() && fitsRegisters(target, k, c) &&
         (k == 1 || !Geometry(problem).isDepthwise);
}

double WeightsOuter::expectedFraction(const Problem &problem,
                                      const TargetInfo &target) const {
  Geometry g(problem);
  auto [k, c] = rankTiles(problem, target).front();
  KernelSpec spec(problem, g, {{"tile_k", k}, {"tile_c", c}});
  return 0.8 * estimateEfficiency(target, g, k, c, spec.runChannels(g));
}

const Solver &tarpon::getConvWeightsOuter() {
  static const WeightsOuter solver;
  return solver;
}
