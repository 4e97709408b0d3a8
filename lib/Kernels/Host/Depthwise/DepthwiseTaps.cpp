//===- DepthwiseTaps.cpp - Depthwise convolution, taps unrolled -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For nhwc and blocked tensors of any dtype, and filters of two to seven
// columns with a stride of one or two along a row: there is a kernel for each
// of these, see TapsKernel.h. DepthwiseNhwc.cpp computes all others.
//
//===----------------------------------------------------------------------===//

#include "Common/ChannelsLast.h"
#include "Depthwise.h"
#include "Host/Solvers.h"
#include "Host/Tasks.h"
#include "TapsKernel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

static constexpr int64_t kMaxKernelWidth = 7, kMaxStride = 2;
/// The extents of networks' images are often multiples of 7.
static constexpr int64_t kTiles[] = {7, 8, 4, 2};

namespace {
class DepthwiseTaps final : public Solver {
public:
  StringRef id() const override { return "depthwise-conv-taps-v1"; }
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

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The registers must hold sums, the taps of a row of the filter, a vector of
/// the input, and a constant or two.
static bool fitsRegisters(const TargetInfo &target, const TapsShape &shape,
                          bool quantized) {
  int64_t used = shape.vectors * (shape.tile + shape.kernelWidth + 1) + 1;
  used += (quantized ? 1 : 0) + (target.hasFma ? 0 : 1);
  return used <= target.vectorRegisters;
}

/// A shape of 0 vectors does not fit into the registers.
static TapsShape makeShape(const Problem &problem, const TargetInfo &target,
                           int64_t tile) {
  const TensorDesc &input = problem.operands[0];
  bool isBlocked = input.layout.kind == Layout::Blocked;
  TapsShape shape{.tile = tile,
                  .vectors = 2,
                  .lanes = target.lanes(),
                  .kernelWidth = problem.operands[1].shape.back(),
                  .stride = problem.ints("strides").back(),
                  .numDims = static_cast<int64_t>(input.spatial().size()),
                  .block = isBlocked ? input.layout.block : 0};
  if (isBlocked)
    shape.lanes = std::min(shape.lanes, shape.block);
  auto isPossible = [&] {
    return fitsRegisters(target, shape, input.quantized) &&
           (!isBlocked || shape.block % (shape.vectors * shape.lanes) == 0);
  };
  while (shape.vectors > 0 && !isPossible())
    --shape.vectors;
  return shape;
}

/// The fraction of the tiles' pixels that exist, reduced for narrow tiles,
/// which load the taps and columns at their ends several times.
static double efficiency(const Problem &problem, int64_t tile) {
  int64_t width = problem.result.shape.back();
  auto wide = static_cast<double>(std::min(tile, kTiles[0]));
  return static_cast<double>(width) /
         static_cast<double>(llvm::alignTo(width, tile)) * wide / (wide + 1);
}

/// The tiles that fit into the registers, the best first.
static std::vector<int64_t> rankTiles(const Problem &problem,
                                      const TargetInfo &target) {
  std::vector<int64_t> tiles;
  for (int64_t tile : kTiles)
    if (makeShape(problem, target, tile).vectors > 0)
      tiles.push_back(tile);
  auto rank = [&](int64_t tile) { return efficiency(problem, tile); };
  llvm::stable_sort(tiles,
                    [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
  return tiles;
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

Applicability DepthwiseTaps::isApplicable(const Problem &problem,
                                          const TargetInfo &target) const {
  if (Applicability answer = checkDepthwise(problem); !answer)
    return answer;
  if (Applicability answer = ChannelsLastLoop::check(problem); !answer)
    return answer;
  int64_t width = problem.operands[1].shape.back();
  if (width < 2 || width > kMaxKernelWidth)
    return Applicability::no("needs a filter of two to seven columns");
  if (problem.ints("strides").back() > kMaxStride)
    return Applicability::no("needs a stride of one or two along a row");
  if (problem.ints("dilations").back() != 1)
    return Applicability::no("needs a dilation of one along a row");
  if (rankTiles(problem, target).empty())
    return Applicability::no("no tile of this layout fits into the registers");
  return Applicability::yes();
}

PerfConfig DepthwiseTaps::defaultConfig(const Problem &problem,
                                        const TargetInfo &target) const {
  return {{"tile_w", rankTiles(problem, target).front()}};
}

std::vector<PerfConfig> DepthwiseTaps::configs(const Problem &problem,
                                               const TargetInfo &target) const {
  std::vector<PerfConfig> all;
  for (int64_t tile : rankTiles(problem, target))
    all.push_back({{"tile_w", tile}});
  return all;
}

bool DepthwiseTaps::isValidConfig(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config) const {
  return config.getFields().size() == 1 && config.has("tile_w") &&
         llvm::is_contained(rankTiles(problem, target), config.get("tile_w"));
}

double DepthwiseTaps::expectedFraction(const Problem &problem,
                                       const TargetInfo &target) const {
  return 0.8 * efficiency(problem, rankTiles(problem, target).front());
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// The order is [vector of channels][cell][lane].
static ConstantPlan packTaps(const Problem &problem, int64_t padded,
                             int64_t lanes) {
  ConstantPlan rows = packDepthwiseFilter(problem, padded);
  int64_t cells = getFilterCells(problem);
  auto make = [=](const ConstantOperands &operands) {
    std::vector<char> from = rows.make(operands), to(from.size());
    int64_t bytes = lanes * static_cast<int64_t>(sizeof(float));
    for (int64_t c = 0; c < padded / lanes; ++c)
      for (int64_t cell = 0; cell < cells; ++cell)
        std::copy_n(from.begin() + (cell * (padded / lanes) + c) * bytes, bytes,
                    to.begin() + (c * cells + cell) * bytes);
    return to;
  };
  return {make};
}

namespace {
/// The division of the result, and the distance, in elements, of the prefetches
/// from the loads.
struct TapsBlocking {
  int64_t blockRows, stripTiles, chunk, ahead;
};
} // namespace

/// For a stride of one, where each line is read for several rows: the size of
/// chunks of channels whose rows under a window fit, with the filter, into the
/// L1 cache.
static int64_t chooseChunk(const Problem &problem, const TargetInfo &target,
                           const TapsShape &shape, int64_t pixel) {
  constexpr int64_t kLeastChunk = 64;
  const TensorDesc &input = problem.operands[0];
  int64_t cellCount = getFilterCells(problem);
  int64_t seen = cellCount / shape.kernelWidth * input.shape.back() *
                 runtime::dtypeBytes(input.dtype);
  int64_t perChannel = seen + cellCount * static_cast<int64_t>(sizeof(float));
  // The result passes through the cache too.
  int64_t fitting = std::max(target.l1Bytes * 7 / 8 / perChannel, kLeastChunk);
  int64_t even = llvm::divideCeil(pixel, llvm::divideCeil(pixel, fitting));
  return std::min<int64_t>(llvm::alignTo(even, shape.lanes * shape.vectors),
                           pixel);
}

/// With a stride of two most lines are read for one row only, and long runs of
/// channels are faster to read from memory. With any stride, the rows of a
/// block are read again from the L2 cache at worst.
static TapsBlocking chooseBlocking(const Problem &problem,
                                   const TargetInfo &target,
                                   const TapsShape &shape, int64_t pixel,
                                   int64_t images) {
  const TensorDesc &input = problem.operands[0];
  int64_t width = input.shape.back(), outWidth = problem.result.shape.back();
  int64_t rows = problem.result.spatialSize() / outWidth;
  int64_t pitch = shape.block ? shape.block : input.pixelPitch();
  TapsBlocking blocking{.blockRows = rows,
                        .stripTiles = 1,
                        .chunk = pixel,
                        .ahead = shape.stride * width * pitch};
  if (shape.stride == 1) {
    blocking.chunk = chooseChunk(problem, target, shape, pixel);
    blocking.stripTiles = llvm::divideCeil(outWidth, shape.tile);
    // A row with many products takes longer than fetching the next one.
    if (shape.kernelWidth > 3 && blocking.chunk < pixel)
      blocking.ahead = blocking.chunk;
  }
  int64_t rowBytes =
      shape.stride * width * pixel * runtime::dtypeBytes(input.dtype);
  int64_t fittingRows = std::max<int64_t>(1, target.l2Bytes / 2 / rowBytes);
  int64_t others = images * llvm::divideCeil(pixel, blocking.chunk);
  int64_t blocks =
      std::max<int64_t>(llvm::divideCeil(rows, fittingRows),
                        llvm::divideCeil(getWantedTasks(target), others));
  blocking.blockRows = llvm::divideCeil(rows, std::min(blocks, rows));
  return blocking;
}

SolutionPlan DepthwiseTaps::plan(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  const TensorDesc &result = problem.result;
  ArrayRef<int64_t> inShape = input.spatial(), outShape = result.spatial();
  TapsShape shape = makeShape(problem, target, config.get("tile_w"));
  int64_t last = shape.numDims - 1;

  int64_t numChannels = result.shape[1];
  int64_t pixel = shape.block ? shape.block : numChannels;
  int64_t numBlocks = llvm::divideCeil(numChannels, pixel);
  std::vector<int64_t> strides(shape.numDims,
                               shape.block ? shape.block : input.pixelPitch());
  for (int64_t dim = last; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * inShape[dim];
  int64_t rows = 1;
  for (int64_t size : outShape.drop_back())
    rows *= size;
  int64_t images = result.shape[0] * numBlocks;
  TapsBlocking blocking = chooseBlocking(problem, target, shape, pixel, images);
  int64_t rowBlocks = llvm::divideCeil(rows, blocking.blockRows);
  int64_t chunks = llvm::divideCeil(pixel, blocking.chunk);
  int64_t tiles = llvm::divideCeil(outShape.back(), shape.tile);
  InsideRange inside = getInsideRange(problem, shape.kernelWidth);
  int64_t insideBegin = llvm::divideCeil(inside.begin, shape.tile);
  int64_t insideEnd = std::max(insideBegin, inside.end / shape.tile);

  // Whole groups of channels are read.
  int64_t padded =
      llvm::alignTo(numBlocks * pixel, shape.lanes * shape.vectors);
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  TapsKernel kernel{
      .shape = shape,
      .quantized = input.quantized,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .window = Window(launch, problem, filter.spatial(), inShape),
      .filterBuffer =
          launch.addConstant(packTaps(problem, padded, shape.lanes)),
      .scaleBuffer = input.quantized
                         ? launch.addFloats(getDepthwiseScales(problem, padded))
                         : 0,
      .inStrides = launch.addParams(strides),
      .inImage = launch.addParam(strides[0] * inShape[0]),
      .outDims = launch.addParams(outShape),
      .pixel = launch.addParam(pixel),
      .blocks = launch.addParam(numBlocks),
      .channels = launch.addParam(numChannels),
      .cells = launch.addParam(getFilterCells(problem)),
      .rows = launch.addParam(rows),
      .blockRows = launch.addParam(blocking.blockRows),
      .rowBlocks = launch.addParam(rowBlocks),
      .tiles = launch.addParam(tiles),
      .stripTiles = launch.addParam(blocking.stripTiles),
      .insideBegin = launch.addParam(insideBegin),
      .insideCount = launch.addParam(insideEnd - insideBegin),
      .chunk = launch.addParam(blocking.chunk),
      .chunks = launch.addParam(chunks),
      .ahead = launch.addParam(blocking.ahead)};
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      images * rowBlocks * chunks);
  return plan;
}

const Solver &tarpon::getDepthwiseTaps() {
  static const DepthwiseTaps solver;
  return solver;
}
