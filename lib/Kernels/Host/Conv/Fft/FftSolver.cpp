//===- FftSolver.cpp - Convolution in the frequency domain ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fft.h"
#include "Host/Conv/ConvGeometry.h"
#include "Host/Solvers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;
using llvm::divideCeil;

namespace {
class ConvFft final : public Solver {
public:
  StringRef id() const override { return "conv-fft-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
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
// The kernel
//===----------------------------------------------------------------------===//

bool fft::isDepthwise(const Problem &problem) {
  const TensorDesc &filter = problem.operands[1];
  return filter.shape[1] == 1 && filter.shape[0] == problem.integer("group");
}

igemm::Geometry fft::makeGeometry(const Problem &problem) {
  igemm::Geometry g = getConvGeometry(problem);
  if (isDepthwise(problem)) {
    g.channels = g.outChannels = g.groups;
    g.groups = 1;
  }
  return g;
}

static TileShape getTile(const PerfConfig &config) {
  return {config.get("tile_h"), config.get("tile_w")};
}

/// The product of a problem that is not depthwise.
static winograd::ProductSpec getProduct(const PerfConfig &config) {
  return {getTile(config).points(), config.get("tile_m"), config.get("tile_n")};
}

/// The number of pixels that are stored together.
static int64_t getStoredPixels(const Problem &problem) {
  constexpr int64_t kPixels = 4;
  bool isNchw = problem.result.layout.kind == Layout::NCHW;
  return isNchw ? winograd::kRowPixels : kPixels;
}

KernelSpec::KernelSpec(const Problem &problem, const TargetInfo &target,
                       const PerfConfig &config)
    : tile(getTile(config)), depthwise(isDepthwise(problem)),
      product(depthwise ? winograd::ProductSpec{0, 0, 0} : getProduct(config)),
      input{problem.operands[0].dtype, problem.operands[0].layout,
            makeGeometry(problem).channels % winograd::kLineChannels == 0},
      output(winograd::makeOutputSpec(problem, target, makeGeometry(problem),
                                      getStoredPixels(problem))) {}

std::string KernelSpec::symbol() const {
  std::string text =
      "fft_h" + std::to_string(tile.height) + "w" + std::to_string(tile.width);
  text += depthwise ? "_depthwise"
                    : "_m" + std::to_string(product.tileM) + "n" +
                          std::to_string(product.tileN);
  text += input.alignedChannels ? "_lines_" : "_pieces_";
  // The spec of the stored pixels names dtypes, layouts and the epilogue.
  return text + output.symbol();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static constexpr int64_t kPoints[] = {8, 16, 32, 64};
/// The limits of the transformed filter and of a thread's scratch.
static constexpr int64_t kMaxFilterBytes = 256 << 20;
static constexpr int64_t kMaxScratchBytes = 64 << 20;

using AppendTiles = decltype(&winograd::appendTiles);

namespace {
/// Determines the tiles that fit a problem. The geometry is computed once,
/// since there are hundreds of configs.
class TileChooser {
public:
  TileChooser(const Problem &problem, const TargetInfo &target)
      : problem(problem), target(target), depthwise(isDepthwise(problem)),
        g(makeGeometry(problem)) {}

  bool isFeasible(const TileShape &tile) const;
  std::vector<TileShape> getTiles() const;
  int64_t getScratch(const PerfConfig &config) const;
  winograd::RankedConfigs rankConfigs(AppendTiles append) const;

private:
  int64_t getFilterBytes(const TileShape &tile) const;
  int64_t getScratch(const PerfConfig &config, int64_t tiles) const;
  void rankTile(const TileShape &tile, AppendTiles append,
                winograd::RankedConfigs &ranked) const;

  const Problem &problem;
  const TargetInfo &target;
  bool depthwise;
  igemm::Geometry g;
};
} // namespace

int64_t TileChooser::getFilterBytes(const TileShape &tile) const {
  int64_t channels = llvm::alignTo(g.channels, winograd::kLineChannels);
  if (depthwise)
    return tile.pairs() * 8 * channels;
  return tile.points() * 4 * channels * g.groups * g.outChannels;
}

/// Returns true if the filter fits into a tile, and its transform into memory.
bool TileChooser::isFeasible(const TileShape &tile) const {
  return tile.height >= g.kernelH && tile.width >= g.kernelW &&
         (tile.height == 1) == (g.kernelH == 1) &&
         getFilterBytes(tile) <= kMaxFilterBytes;
}

/// The tiles that are worth trying: they yield at least two pixels.
std::vector<TileShape> TileChooser::getTiles() const {
  std::vector<TileShape> tiles;
  SmallVector<int64_t> heights(std::begin(kPoints), std::end(kPoints));
  if (g.kernelH == 1)
    heights = {1};
  for (int64_t height : heights)
    for (int64_t width : kPoints)
      if (TileShape tile = {height, width};
          (height == 1 || height > g.kernelH) && width > g.kernelW &&
          isFeasible(tile))
        tiles.push_back(tile);
  return tiles;
}

/// The bytes of scratch if the images are divided into this many tiles.
int64_t TileChooser::getScratch(const PerfConfig &config, int64_t tiles) const {
  int64_t bytes = getScratchBytes(getTile(config));
  if (depthwise)
    return bytes;
  winograd::ProductSpec product = getProduct(config);
  int64_t block = std::min<int64_t>(config.get("block_m"),
                                    divideCeil(tiles, product.tileM)) *
                  product.tileM;
  int64_t lines = divideCeil(g.channels, winograd::kLineChannels);
  return winograd::kNoteBytes + bytes + product.panelBytes(block, lines) +
         product.productBytes(block);
}

int64_t TileChooser::getScratch(const PerfConfig &config) const {
  winograd::TileWork work = getTileWork(getTile(config), problem, g, target);
  return getScratch(config, work.tiles(g));
}

void TileChooser::rankTile(const TileShape &tile, AppendTiles append,
                           winograd::RankedConfigs &ranked) const {
  PerfConfig fields{{"tile_h", tile.height}, {"tile_w", tile.width}};
  winograd::TileWork work = getTileWork(tile, problem, g, target);
  size_t first = ranked.size();
  if (depthwise)
    ranked.emplace_back(estimateDepthwiseCycles(tile, problem, g, target),
                        fields);
  else
    append(target, g, work, fields, ranked);
  int64_t tiles = work.tiles(g);
  auto isTooLarge = [&](const auto &entry) {
    return getScratch(entry.second, tiles) > kMaxScratchBytes;
  };
  ranked.erase(std::remove_if(ranked.begin() + first, ranked.end(), isTooLarge),
               ranked.end());
}

/// Ranks configs of all shapes of tiles, with the register tiles that `append`
/// adds.
winograd::RankedConfigs TileChooser::rankConfigs(AppendTiles append) const {
  winograd::RankedConfigs ranked;
  for (const TileShape &tile : getTiles())
    rankTile(tile, append, ranked);
  winograd::sortByCycles(ranked);
  return ranked;
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static bool areAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

static Applicability checkFilter(const Problem &problem,
                                 const TileChooser &chooser) {
  constexpr int64_t kMinTaps = 5;
  const TensorDesc &filter = problem.operands[1];
  ArrayRef<int64_t> taps = filter.spatial();
  if (*llvm::max_element(taps) < kMinTaps)
    return Applicability::no("needs a filter of 5 taps in a row or column");
  if (*llvm::max_element(taps) >= kPoints[std::size(kPoints) - 1])
    return Applicability::no("needs a filter of less than 64 rows and columns");
  if (chooser.getTiles().empty())
    return Applicability::no("the transformed filter would take more than 256 "
                             "MiB");
  return Applicability::yes();
}

Applicability ConvFft::isApplicable(const Problem &problem,
                                    const TargetInfo &target) const {
  if (problem.op != OpKind::Conv)
    return Applicability::no("needs a convolution");
  if (problem.result.rank() != 3 && problem.result.rank() != 4)
    return Applicability::no("needs one or two spatial dimensions");
  if (!areAll(problem.ints("strides"), 1) ||
      !areAll(problem.ints("dilations"), 1))
    return Applicability::no("needs strides and dilations of 1");
  const TensorDesc &input = problem.operands[0];
  if (input.dtype != DType::F32 || input.quantized)
    return Applicability::no("needs an f32 input");
  if (!winograd::hasWholeVectors(input.layout, target))
    return Applicability::no("needs channel blocks of whole vectors");
  TileChooser chooser(problem, target);
  if (Applicability filter = checkFilter(problem, chooser); !filter)
    return filter;
  if (Applicability known =
          igemm::isSupported(problem, target, makeGeometry(problem));
      !known)
    return known;
  if (chooser.rankConfigs(winograd::appendDefaultTiles).empty())
    return Applicability::no("a tile's products would take more than 64 MiB of "
                             "scratch");
  return Applicability::yes();
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

bool ConvFft::isValidConfig(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config) const {
  bool depthwise = isDepthwise(problem);
  if (config.getFields().size() != size_t(depthwise ? 2 : 5) ||
      !config.has("tile_h") || !config.has("tile_w") ||
      (!depthwise && !winograd::isValidBlock(target, config)))
    return false;
  TileShape tile = getTile(config);
  TileChooser chooser(problem, target);
  auto isSize = [](int64_t points) {
    return llvm::is_contained(kPoints, points);
  };
  return (tile.height == 1 || isSize(tile.height)) && isSize(tile.width) &&
         chooser.isFeasible(tile) &&
         chooser.getScratch(config) <= kMaxScratchBytes;
}

PerfConfig ConvFft::defaultConfig(const Problem &problem,
                                  const TargetInfo &target) const {
  return TileChooser(problem, target)
      .rankConfigs(winograd::appendDefaultTiles)
      .front()
      .second;
}

std::vector<PerfConfig> ConvFft::configs(const Problem &problem,
                                         const TargetInfo &target) const {
  return winograd::chooseConfigs(
      TileChooser(problem, target).rankConfigs(winograd::appendTiles),
      defaultConfig(problem, target));
}

double ConvFft::expectedFraction(const Problem &problem,
                                 const TargetInfo &target) const {
  double cycles = TileChooser(problem, target)
                      .rankConfigs(winograd::appendDefaultTiles)
                      .front()
                      .first;
  return winograd::getFraction(problem, target, cycles);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

static ConstantPlan planFilter(const KernelSpec &spec, const igemm::Geometry &g,
                               int64_t lanes) {
  if (spec.depthwise)
    return {[spec, g, lanes](const ConstantOperands &operands) {
      return packDepthwiseFilter(spec.tile, g, lanes, operands[1]);
    }};
  return {[spec, g](const ConstantOperands &operands) {
    FilterSpectrum spectrum(spec.tile, g.kernelH, g.kernelW);
    return winograd::packFilter(
        spec.product, g, operands[1],
        [&](ArrayRef<float> taps, MutableArrayRef<double> values) {
          spectrum.transformToPoints(taps, values);
        });
  }};
}

SolutionPlan ConvFft::plan(const Problem &problem, const TargetInfo &target,
                           const PerfConfig &config) const {
  KernelSpec spec(problem, target, config);
  igemm::Geometry g = makeGeometry(problem);
  LaunchPlan launch;
  launch.kernel = {spec.symbol(), [spec](KernelBuilder &b) {
                     if (spec.depthwise)
                       emitDepthwise(b, spec);
                     else
                       emitKernel(b, spec);
                   }};
  winograd::TileWork work = getTileWork(spec.tile, problem, g, target);
  std::vector<int64_t> params =
      winograd::makeTileParams(problem.operands[0], g, work);
  if (spec.depthwise)
    launch.tasks = work.tiles(g) * divideCeil(g.channels, target.lanes());
  else
    launch.tasks = winograd::setTaskParams(params, spec.product, target, g,
                                           config.get("block_m"));
  params.push_back(spec.tile.height - g.kernelH + 1);
  params.push_back(spec.tile.width - g.kernelW + 1);
  launch.params = winograd::makeResultParams(problem, spec.output, g);
  llvm::append_range(launch.params, params);
  launch.scratchBytes = TileChooser(problem, target).getScratch(config);
  winograd::bindBuffers(launch, spec.output);
  SolutionPlan plan;
  plan.launches.push_back(std::move(launch));
  plan.constants.push_back(planFilter(spec, g, target.lanes()));
  return plan;
}

const Solver &tarpon::getConvFft() {
  static const ConvFft solver;
  return solver;
}
