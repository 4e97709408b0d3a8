//===- ConvDirectRows.cpp - Direct convolution over padded rows -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the first layer of image networks (few channels, nhwc or nchw), and for
// nchw inputs in general; see DirectRows.h.
//
//===----------------------------------------------------------------------===//

#include "ConvGeometry.h"
#include "DirectRows.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::directrows;
using igemm::Geometry;
using llvm::divideCeil;

/// A kernel is specialised on one pixel step. Longer steps would need a kernel
/// for each number of channels, which is worth it only where the engine is
/// slow.
static constexpr int64_t kShortPixelStep = 16, kMaxPixelStep = 256;

std::string RowsSpec::symbol() const {
  return "rows_s" + std::to_string(pixelStep) + "_" + tile.commonSymbol();
}

int64_t RowsSpec::chunkUnits() const {
  constexpr int64_t kMost = 8;
  int64_t unique = pixelStep / std::gcd(pixelStep, perUnit());
  return std::min(unique, kMost);
}

static bool isPlanar(const Problem &problem) {
  return problem.operands[0].layout.kind == Layout::NCHW;
}

/// The elements of one pixel in a plane, and of one row of the kernel.
static int64_t pixelElements(const Problem &problem, const Geometry &g) {
  return isPlanar(problem) ? 1 : g.channels;
}

static int64_t runElements(const Problem &problem, const Geometry &g) {
  return g.kernelW * pixelElements(problem, g);
}

static RowsSpec makeSpec(const Problem &problem, const TargetInfo &target,
                         const PerfConfig &config, const Geometry &g) {
  igemm::KernelSpec tile(problem, target, config, g,
                         problem.operands[0].layout);
  return {std::move(tile), g.strideW * pixelElements(problem, g)};
}

/// The geometry of a row of output pixels, for the choice of tiles: tiles do
/// not continue in the next row.
static Geometry rowGeometry(Geometry g) {
  g.batch *= g.outHeight;
  g.outHeight = 1;
  return g;
}

static int64_t runUnits(const Problem &problem, const RowsSpec &spec,
                        const Geometry &g) {
  return divideCeil(runElements(problem, g), spec.perUnit());
}

static int64_t planes(const Problem &problem, const Geometry &g) {
  return isPlanar(problem) ? g.channels : 1;
}

/// The bytes of one plane's row in the buffer: the input with its padding, and
/// the elements that the last tile reads behind it.
static int64_t rowBytes(const Problem &problem, const RowsSpec &spec,
                        const Geometry &g) {
  int64_t pixels = divideCeil(g.outWidth, spec.tile.tileM) * spec.tile.tileM;
  int64_t seen = (pixels - 1) * spec.pixelStep +
                 runUnits(problem, spec, g) * spec.perUnit();
  int64_t held = (g.padLeft + g.width) * pixelElements(problem, g);
  return llvm::alignTo(std::max(seen, held) * spec.elementBytes(),
                       igemm::kLineBytes);
}

static int64_t rowsSeen(const Geometry &g, int64_t outRows) {
  return (outRows - 1) * g.strideH + (g.kernelH - 1) * g.dilationH + 1;
}

/// The output rows per task: as many as keep their input in half of the L2, but
/// with enough tasks to keep all threads busy.
static int64_t chooseBlockRows(const Problem &problem, const TargetInfo &target,
                               const RowsSpec &spec, const Geometry &g) {
  int64_t row = planes(problem, g) * rowBytes(problem, spec, g);
  int64_t fitting = 1;
  while (fitting < 16 && rowsSeen(g, fitting + 1) * row <= target.l2Bytes / 2)
    ++fitting;
  int64_t wanted = divideCeil(g.outHeight * g.batch * g.groups,
                              kTasksPerThread * target.threads);
  return std::clamp<int64_t>(std::min(fitting, wanted), 1, g.outHeight);
}

//===----------------------------------------------------------------------===//
// Packing the filter
//===----------------------------------------------------------------------===//

/// The order is [group][channel tile][kernel row][plane][run][tileN][unit].
static std::vector<char> packFilter(const RowsSpec &spec, const Geometry &g,
                                    int64_t planes, int64_t runUnits,
                                    ArrayRef<char> filter) {
  int64_t tileN = spec.tile.tileN, perUnit = spec.perUnit();
  int64_t bytes = runtime::dtypeBytes(spec.tile.filterDtype);
  int64_t tiles = divideCeil(g.outChannels, tileN);
  std::vector<char> packed(g.groups * tiles * g.kernelH * planes * runUnits *
                               tileN * spec.tile.filterUnitBytes(),
                           0);
  int64_t from = 0;
  bool planar = planes == g.channels;
  auto place = [&](int64_t outChannel, int64_t c, int64_t kh, int64_t kw) {
    int64_t group = outChannel / g.outChannels;
    int64_t inGroup = outChannel % g.outChannels;
    int64_t tile = group * tiles + inGroup / tileN;
    int64_t run = (tile * g.kernelH + kh) * planes + (planar ? c : 0);
    int64_t inRun = planar ? kw : kw * g.channels + c;
    int64_t unit = run * runUnits + inRun / perUnit;
    return (unit * tileN + inGroup % tileN) * perUnit + inRun % perUnit;
  };
  for (int64_t k = 0; k < g.groups * g.outChannels; ++k)
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t kh = 0; kh < g.kernelH; ++kh)
        for (int64_t kw = 0; kw < g.kernelW; ++kw, from += bytes)
          std::memcpy(packed.data() + place(k, c, kh, kw) * bytes,
                      filter.data() + from, bytes);
  return packed;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

namespace {
class ConvDirectRows final : public Solver {
public:
  StringRef id() const override { return "conv-direct-rows-v1"; }
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

Applicability ConvDirectRows::isApplicable(const Problem &problem,
                                           const TargetInfo &target) const {
  if (problem.op != OpKind::Conv)
    return Applicability::no("needs a convolution");
  if (problem.result.rank() > 4)
    return Applicability::no("needs one or two spatial dimensions");
  Geometry g = getConvGeometry(problem);
  if (Applicability engine = igemm::isSupported(problem, target, g); !engine)
    return engine;
  if (problem.operands[0].layout.kind == Layout::Blocked)
    return Applicability::no("needs an nchw or nhwc input");
  if (g.inputPitch)
    return Applicability::no("reads no slices");
  if (!isPlanar(problem) && g.groups > 1)
    return Applicability::no("needs one group where channels are innermost");
  if (g.kernelW > 1 && g.dilationW > 1)
    return Applicability::no("needs a horizontal dilation of 1");
  if (g.strideW * pixelElements(problem, g) > kMaxPixelStep)
    return Applicability::no("needs pixels of few elements in a row");
  return Applicability::yes();
}

static PerfConfig makeConfig(const Problem &problem, const TargetInfo &target,
                             const Geometry &g, int64_t m, int64_t n) {
  PerfConfig config{{"tile_m", m}, {"tile_n", n}, {"block_rows", 1}};
  RowsSpec spec = makeSpec(problem, target, config, g);
  config.set("block_rows", chooseBlockRows(problem, target, spec, g));
  return config;
}

PerfConfig ConvDirectRows::defaultConfig(const Problem &problem,
                                         const TargetInfo &target) const {
  Geometry g = getConvGeometry(problem);
  auto [m, n] = igemm::rankTiles(problem, target, rowGeometry(g)).front();
  return makeConfig(problem, target, g, m, n);
}

std::vector<PerfConfig>
ConvDirectRows::configs(const Problem &problem,
                        const TargetInfo &target) const {
  constexpr size_t kTiles = 3;
  Geometry g = getConvGeometry(problem);
  auto tiles = igemm::rankTiles(problem, target, rowGeometry(g));
  tiles.resize(std::min(tiles.size(), kTiles));
  std::vector<PerfConfig> configs;
  for (auto [m, n] : tiles)
    configs.push_back(makeConfig(problem, target, g, m, n));
  return configs;
}

bool ConvDirectRows::isValidConfig(const Problem &problem,
                                   const TargetInfo &target,
                                   const PerfConfig &config) const {
  if (config.getFields().size() != 3 || !config.has("tile_m") ||
      !config.has("tile_n") || !config.has("block_rows"))
    return false;
  return igemm::isValidTile(problem, target, config.get("tile_m"),
                            config.get("tile_n")) &&
         config.get("block_rows") >= 1;
}

double ConvDirectRows::expectedFraction(const Problem &problem,
                                        const TargetInfo &target) const {
  Geometry g = getConvGeometry(problem), row = rowGeometry(g);
  auto [m, n] = igemm::rankTiles(problem, target, row).front();
  RowsSpec spec =
      makeSpec(problem, target, PerfConfig{{"tile_m", m}, {"tile_n", n}}, g);
  // This counts incomplete units, and the cost of each run beside its products.
  double run = static_cast<double>(runElements(problem, g));
  double units = static_cast<double>(runUnits(problem, spec, g));
  double full = units * static_cast<double>(spec.perUnit());
  double efficiency = run / full * units / (units + 0.5) *
                      igemm::estimateEfficiency(target, row, m, n);
  if (spec.pixelStep <= kShortPixelStep)
    return 0.95 * efficiency;
  // The engine packs each element once for every tap.
  return (g.taps() == 1 ? 0.45 : 0.68) * efficiency;
}

/// Sets the parameters of the input, its rows and the window.
static void setInputParams(std::vector<int64_t> &params, const Problem &problem,
                           const RowsSpec &spec, const Geometry &g) {
  int64_t element = runtime::dtypeBytes(spec.tile.inputDtype);
  int64_t pixel = pixelElements(problem, g), pixels = g.pixels();
  params[igemm::InputImageBytes] = g.groups * g.channels * pixels * element;
  params[igemm::InputGroupBytes] = g.channels * pixels * element;
  params[PlaneBytes] = pixels * element;
  params[InputRowBytes] = g.width * pixel * element;
  params[Planes] = planes(problem, g);
  params[RunElements] = runElements(problem, g);
  params[RowElements] = g.width * pixel;
  params[RowPadding] = g.padLeft * pixel;
  params[RowBytes] = rowBytes(problem, spec, g);
  params[igemm::InputHeight] = g.height;
  params[igemm::KernelH] = g.kernelH;
  params[igemm::StrideH] = g.strideH;
  params[igemm::DilationH] = g.dilationH;
  params[igemm::PadTop] = g.padTop;
}

/// Sets the parameters of the output and divides the work; returns the number
/// of tasks.
static int64_t setTaskParams(std::vector<int64_t> &params, const RowsSpec &spec,
                             const TargetInfo &target, const Geometry &g,
                             int64_t blockRows) {
  blockRows = std::min(blockRows, g.outHeight);
  int64_t rowBlocks = divideCeil(g.outHeight, blockRows);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tile.tileN);
  int64_t others = rowBlocks * g.batch * g.groups;
  auto [blockN, channelBlocks] =
      igemm::splitChannels(target, channelTiles, others);
  params[igemm::OutWidth] = g.outWidth;
  params[igemm::OutHeight] = g.outHeight;
  params[igemm::OutPixels] = g.outPixels();
  params[igemm::OutChannels] = g.outChannels;
  params[igemm::ResultChannels] =
      g.resultPitch ? g.resultPitch : g.groups * g.outChannels;
  params[igemm::Groups] = g.groups;
  params[RowTiles] = divideCeil(g.outWidth, spec.tile.tileM);
  params[igemm::ChannelTiles] = channelTiles;
  params[BlockRows] = blockRows;
  params[RowBlocks] = rowBlocks;
  params[igemm::BlockN] = blockN;
  params[igemm::ChannelBlocks] = channelBlocks;
  return others * channelBlocks;
}

SolutionPlan ConvDirectRows::plan(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config) const {
  Geometry g = getConvGeometry(problem);
  RowsSpec spec = makeSpec(problem, target, config, g);
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { emitKernel(b, spec); }};
  std::vector<int64_t> &params = launch.params;
  params.assign(igemm::NumParams, 0);
  setInputParams(params, problem, spec, g);
  launch.tasks =
      setTaskParams(params, spec, target, g, config.get("block_rows"));
  igemm::setResultParams(params, problem, spec.tile);
  // A vector may be written behind the last row.
  launch.scratchBytes =
      rowsSeen(g, params[BlockRows]) * params[Planes] * params[RowBytes] +
      igemm::kLineBytes;

  int64_t taps = g.taps(), count = params[Planes];
  int64_t units = runUnits(problem, spec, g);
  return igemm::bindLaunch(
      problem, spec.tile, g, {g.channels * taps, taps, 1}, std::move(launch),
      {[=](const ConstantOperands &operands) {
        return packFilter(spec, g, count, units, operands[1]);
      }});
}

const Solver &tarpon::getConvDirectRows() {
  static const ConvDirectRows solver;
  return solver;
}
