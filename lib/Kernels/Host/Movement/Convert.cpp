//===- Convert.cpp - Vectorised conversion of dtype and layout ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In one layout, a conversion is a loop over all elements. Between nchw and
// nhwc or blocked layouts it transposes, for every image (and block), a matrix
// of channels and pixels. Between nhwc and blocked layouts rows of channels are
// split or joined, and so are blocks between two blocked layouts. A few
// channels are interleaved directly.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "Interleave.h"
#include "TransposeTiles.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

enum class Route { Flat, Interleave, Transpose, Blocks, Reblock };

class Convert final : public Solver {
public:
  StringRef id() const override { return "convert-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

} // namespace

/// The most channels that are interleaved instead of transposed.
static constexpr int64_t kMaxInterleaved = 4;

static Route chooseRoute(const Problem &problem) {
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  // A single element has the same place in all layouts.
  if (from.layout == to.layout ||
      classifyOperand(from, to) == Follows::Elements)
    return Route::Flat;
  bool fromNchw = from.layout.kind == Layout::NCHW,
       toNchw = to.layout.kind == Layout::NCHW;
  if (fromNchw && to.layout.kind == Layout::NHWC &&
      to.shape[1] <= kMaxInterleaved)
    return Route::Interleave;
  if (from.layout.kind == Layout::Blocked && to.layout.kind == Layout::Blocked)
    return Route::Reblock;
  return fromNchw || toNchw ? Route::Transpose : Route::Blocks;
}

Applicability Convert::isApplicable(const Problem &problem,
                                    const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Convert)
    return Applicability::no("is not a conversion");
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  if (from.shape != to.shape)
    return Applicability::no("operand and result differ in shape");
  bool isFlat = from.layout == to.layout ||
                (!problem.hasSlices() && chooseRoute(problem) == Route::Flat);
  if (isFlat) {
    if (!isVectorizable(from, computeKindOf(problem)))
      return Applicability::no("the operand is quantised per channel, or in a "
                               "problem that is not computed in f32");
    return VectorOutput::checkAnyKind(problem);
  }
  if (!isVectorizable(from))
    return notVectorizable("the operand");
  if (Applicability answer = VectorOutput::check(problem); !answer)
    return answer;
  if (problem.hasSlices())
    return Applicability::no("a slice needs operand and result of one layout");
  if (to.rank() < 2)
    return Applicability::no("another layout needs channels");
  if (!problem.epilogue.empty())
    return Applicability::no("an epilogue needs operand and result of one "
                             "layout");
  return Applicability::yes();
}

//===----------------------------------------------------------------------===//
// One layout
//===----------------------------------------------------------------------===//

static void planFlat(const Problem &problem, LaunchBuilder &launch) {
  PlacedOperand input(launch, {BufferSlot::Operand, 0}, problem.operands[0],
                      Follows::Elements, computeKindOf(problem));
  VectorOutput output(launch, problem);
  VectorLoop loop(launch, problem.result,
                  VectorOutput::followsChannels(problem) ||
                      problem.hasSlices());
  auto emit = [=](KernelBuilder &b) {
    BoundFlatTensor in = input.bind(b);
    VectorOutput::Bound out = output.bind(b);
    loop.emit(b, [&](const VectorPlace &place, Value) {
      out.store(b, place, input.load(b, in, place));
    });
  };
  launch.finish(joinSymbol({"convert", input.symbolPart(), output.symbolPart(),
                            loop.symbolPart()}),
                emit, loop.tasks());
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

namespace {
/// Matrices of channels and pixels, one for each image and block of channels.
/// All integers are indices of parameters.
struct TransposeKernel {
  bool toNchw;
  FlatTensor source, target;
  int64_t pixels, channels; ///< of an image
  int64_t blocks, block;    ///< of channels; the second is their size
  int64_t chunk, chunks;    ///< pixels of a task, and tasks per matrix
  int64_t sourceStride, targetStride;

  void emit(KernelBuilder &b) const;
};
} // namespace

void TransposeKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor from = source.bind(b), to = target.bind(b);
  Value numPixels = b.getParam(pixels), numChannels = b.getParam(channels);
  Value numBlocks = b.getParam(blocks), blockSize = b.getParam(block);
  Value chunkSize = b.getParam(chunk), numChunks = b.getParam(chunks);
  // The consecutive elements of the tensor with blocks, and of the other one.
  Value blockedMatrix = b.mul(numPixels, blockSize);
  b.forTasks([&](Value task) {
    Value first = b.mul(b.rem(task, numChunks), chunkSize);
    Value last = b.minS(b.add(first, chunkSize), numPixels);
    Value matrix = b.div(task, numChunks);
    Value image = b.div(matrix, numBlocks);
    Value firstChannel = b.mul(b.rem(matrix, numBlocks), blockSize);
    Value count = b.minS(blockSize, b.sub(numChannels, firstChannel));
    Value blocked = b.mul(matrix, blockedMatrix);
    Value plain =
        b.mul(b.add(b.mul(image, numChannels), firstChannel), numPixels);
    TransposedMatrix m{from,
                       to,
                       toNchw ? blocked : plain,
                       b.getParam(sourceStride),
                       toNchw ? plain : blocked,
                       b.getParam(targetStride)};
    Value zero = b.cst(0);
    if (toNchw)
      emitTranspose(b, m, first, last, zero, count);
    else
      emitTranspose(b, m, zero, count, first, last);
  });
}

/// The number of pixels of a task: about 64 KiB of f32, in whole tiles.
static int64_t pixelsPerTask(int64_t channels, int64_t pixels) {
  constexpr int64_t kElements = 16384, kTile = 64;
  int64_t wanted = kElements / std::max<int64_t>(1, channels);
  return std::min(pixels, std::max(kTile, wanted / kTile * kTile));
}

static void planTranspose(const Problem &problem, LaunchBuilder &launch) {
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  bool toNchw = to.layout.kind == Layout::NCHW;
  const Layout &other = toNchw ? from.layout : to.layout;
  int64_t pixels = to.spatialSize(), channels = to.shape[1];
  int64_t block = other.kind == Layout::Blocked ? other.block : channels;
  int64_t blocks = llvm::divideCeil(channels, block);
  int64_t chunk = pixelsPerTask(block, pixels);
  int64_t chunks = llvm::divideCeil(pixels, chunk);
  TransposeKernel kernel{
      .toNchw = toNchw,
      .source = FlatTensor(launch, {BufferSlot::Operand, 0}, from),
      .target = FlatTensor(launch, {BufferSlot::Result, 0}, to),
      .pixels = launch.addParam(pixels),
      .channels = launch.addParam(channels),
      .blocks = launch.addParam(blocks),
      .block = launch.addParam(block),
      .chunk = launch.addParam(chunk),
      .chunks = launch.addParam(chunks),
      .sourceStride = launch.addParam(toNchw ? block : pixels),
      .targetStride = launch.addParam(toNchw ? pixels : block)};
  std::string symbol = joinSymbol(
      {toNchw ? "convert_channels_first" : "convert_channels_last",
       kernel.source.symbolPart(), "to", kernel.target.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      to.shape[0] * blocks * chunks);
}

//===----------------------------------------------------------------------===//
// Few channels
//===----------------------------------------------------------------------===//

namespace {
struct InterleaveKernel {
  int64_t channels;
  FlatTensor source, target;
  int64_t pixels, chunk, chunks; ///< parameters

  void emit(KernelBuilder &b) const;
  /// Interleaves pixels from `pixel` on of an image whose first element is
  /// `start`.
  void emitPixels(KernelBuilder &b, const BoundFlatTensor &from,
                  const BoundFlatTensor &to, Value start, Value pixel,
                  Value numPixels, int64_t lanes) const;
};
} // namespace

void InterleaveKernel::emitPixels(KernelBuilder &b, const BoundFlatTensor &from,
                                  const BoundFlatTensor &to, Value start,
                                  Value pixel, Value numPixels,
                                  int64_t lanes) const {
  SmallVector<Value> planes;
  Value source = b.add(start, pixel);
  for (int64_t c = 0; c < channels; ++c)
    planes.push_back(from.load(b, b.add(source, b.mul(numPixels, c)), lanes));
  Value target = b.add(start, b.mul(pixel, channels));
  for (int64_t part = 0; part < channels; ++part) {
    Value elements =
        lanes == 1 ? planes[part] : emitInterleaved(b, planes, part, lanes);
    to.store(b, elements, b.add(target, part * lanes));
  }
}

void InterleaveKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor from = source.bind(b), to = target.bind(b);
  Value numPixels = b.getParam(pixels);
  Value chunkSize = b.getParam(chunk), numChunks = b.getParam(chunks);
  b.forTasks([&](Value task) {
    Value first = b.mul(b.rem(task, numChunks), chunkSize);
    Value last = b.minS(b.add(first, chunkSize), numPixels);
    Value start = b.mul(b.div(task, numChunks), b.mul(numPixels, channels));
    Value whole = b.div(b.sub(last, first), b.lanes());
    Value tail = b.add(first, b.mul(whole, b.lanes()));
    b.forLoop(first, tail, b.cst(b.lanes()), [&](Value pixel) {
      emitPixels(b, from, to, start, pixel, numPixels, b.lanes());
    });
    b.forLoop(tail, last, b.cst(1), [&](Value pixel) {
      emitPixels(b, from, to, start, pixel, numPixels, 1);
    });
  });
}

static void planInterleave(const Problem &problem, LaunchBuilder &launch) {
  int64_t pixels = problem.result.spatialSize();
  int64_t channels = problem.result.shape[1];
  int64_t chunk = pixelsPerTask(channels, pixels);
  int64_t chunks = llvm::divideCeil(pixels, chunk);
  InterleaveKernel kernel{
      .channels = channels,
      .source =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .target = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .pixels = launch.addParam(pixels),
      .chunk = launch.addParam(chunk),
      .chunks = launch.addParam(chunks)};
  std::string symbol = joinSymbol(
      {"convert_interleave", std::to_string(channels),
       kernel.source.symbolPart(), "to", kernel.target.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      problem.result.shape[0] * chunks);
}

//===----------------------------------------------------------------------===//
// Between nhwc and blocks
//===----------------------------------------------------------------------===//

namespace {
struct BlocksKernel {
  bool toBlocks;
  FlatTensor source, target;
  int64_t pixels, channels, block, blocks, chunk, chunks; ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void BlocksKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor from = source.bind(b), to = target.bind(b);
  Value numPixels = b.getParam(pixels), numChannels = b.getParam(channels);
  Value blockSize = b.getParam(block), numBlocks = b.getParam(blocks);
  Value chunkSize = b.getParam(chunk), numChunks = b.getParam(chunks);
  b.forTasks([&](Value task) {
    Value first = b.mul(b.rem(task, numChunks), chunkSize);
    Value last = b.minS(b.add(first, chunkSize), numPixels);
    Value image = b.div(task, numChunks);
    b.forLoop(b.cst(0), numBlocks, b.cst(1), [&](Value index) {
      Value channel = b.mul(index, blockSize);
      Value count = b.minS(blockSize, b.sub(numChannels, channel));
      Value plane = b.mul(b.add(b.mul(image, numBlocks), index), numPixels);
      b.forLoop(first, last, b.cst(1), [&](Value pixel) {
        Value blocked = b.mul(b.add(plane, pixel), blockSize);
        Value row = b.add(b.mul(image, numPixels), pixel);
        Value plain = b.add(b.mul(row, numChannels), channel);
        forVectors(b, b.cst(0), count, b.lanes(), [&](Value i, Value mask) {
          Value elements = from.load(b, b.add(toBlocks ? plain : blocked, i),
                                     b.lanes(), mask);
          to.store(b, elements, b.add(toBlocks ? blocked : plain, i), mask);
        });
      });
    });
  });
}

static void planBlocks(const Problem &problem, LaunchBuilder &launch) {
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  bool toBlocks = to.layout.kind == Layout::Blocked;
  int64_t block = toBlocks ? to.layout.block : from.layout.block;
  int64_t pixels = to.spatialSize(), channels = to.shape[1];
  int64_t chunk = pixelsPerTask(channels, pixels);
  int64_t chunks = llvm::divideCeil(pixels, chunk);
  BlocksKernel kernel{
      .toBlocks = toBlocks,
      .source = FlatTensor(launch, {BufferSlot::Operand, 0}, from),
      .target = FlatTensor(launch, {BufferSlot::Result, 0}, to),
      .pixels = launch.addParam(pixels),
      .channels = launch.addParam(channels),
      .block = launch.addParam(block),
      .blocks = launch.addParam(llvm::divideCeil(channels, block)),
      .chunk = launch.addParam(chunk),
      .chunks = launch.addParam(chunks)};
  std::string symbol = joinSymbol(
      {toBlocks ? "convert_to_blocks" : "convert_from_blocks",
       kernel.source.symbolPart(), "to", kernel.target.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      to.shape[0] * chunks);
}

//===----------------------------------------------------------------------===//
// Between blocks of two sizes
//===----------------------------------------------------------------------===//

namespace {
/// Both sizes are multiples of `piece`, the smaller one. The padding behind the
/// channels in a block is copied too.
struct ReblockKernel {
  int64_t piece;
  FlatTensor source, target;
  int64_t fromBlock, fromBlocks, toBlock, toBlocks; ///< parameters
  int64_t pixels, pieces, chunk, chunks;            ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void ReblockKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor from = source.bind(b), to = target.bind(b);
  Value numPixels = b.getParam(pixels);
  Value chunkSize = b.getParam(chunk), numChunks = b.getParam(chunks);
  int64_t lanes = std::min(b.lanes(), piece);
  b.forTasks([&](Value task) {
    Value first = b.mul(b.rem(task, numChunks), chunkSize);
    Value last = b.minS(b.add(first, chunkSize), numPixels);
    Value image = b.div(task, numChunks);
    b.forLoop(b.getParam(pieces), [&](Value index) {
      Value channel = b.mul(index, piece);
      // The place of the piece in a tensor, and the step from pixel to pixel.
      auto locate = [&](int64_t sizeParam, int64_t countParam) {
        Value size = b.getParam(sizeParam);
        Value plane =
            b.add(b.mul(image, b.getParam(countParam)), b.div(channel, size));
        Value start = b.mul(b.mul(plane, numPixels), size);
        return std::pair(b.add(start, b.rem(channel, size)), size);
      };
      auto [fromStart, fromStep] = locate(fromBlock, fromBlocks);
      auto [toStart, toStep] = locate(toBlock, toBlocks);
      b.forLoop(first, last, b.cst(1), [&](Value pixel) {
        Value here = b.add(fromStart, b.mul(pixel, fromStep));
        Value there = b.add(toStart, b.mul(pixel, toStep));
        for (int64_t lane = 0; lane < piece; lane += lanes)
          to.store(b, from.load(b, b.add(here, lane), lanes),
                   b.add(there, lane));
      });
    });
  });
}

static void planReblock(const Problem &problem, LaunchBuilder &launch) {
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  int64_t channels = to.shape[1], pixels = to.spatialSize();
  int64_t piece = std::min(from.layout.block, to.layout.block);
  int64_t chunk = pixelsPerTask(channels, pixels);
  int64_t chunks = llvm::divideCeil(pixels, chunk);
  ReblockKernel kernel{
      .piece = piece,
      .source = FlatTensor(launch, {BufferSlot::Operand, 0}, from),
      .target = FlatTensor(launch, {BufferSlot::Result, 0}, to),
      .fromBlock = launch.addParam(from.layout.block),
      .fromBlocks =
          launch.addParam(llvm::divideCeil(channels, from.layout.block)),
      .toBlock = launch.addParam(to.layout.block),
      .toBlocks = launch.addParam(llvm::divideCeil(channels, to.layout.block)),
      .pixels = launch.addParam(pixels),
      .pieces = launch.addParam(llvm::divideCeil(channels, piece)),
      .chunk = launch.addParam(chunk),
      .chunks = launch.addParam(chunks)};
  std::string symbol = joinSymbol({"convert_reblock", std::to_string(piece),
                                   kernel.source.symbolPart(), "to",
                                   kernel.target.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      to.shape[0] * chunks);
}

SolutionPlan Convert::plan(const Problem &problem,
                           const TargetInfo & /*target*/,
                           const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  switch (chooseRoute(problem)) {
  case Route::Flat:
    planFlat(problem, launch);
    break;
  case Route::Interleave:
    planInterleave(problem, launch);
    break;
  case Route::Transpose:
    planTranspose(problem, launch);
    break;
  case Route::Blocks:
    planBlocks(problem, launch);
    break;
  case Route::Reblock:
    planReblock(problem, launch);
    break;
  }
  return plan;
}

const Solver &tarpon::getConvert() {
  static const Convert solver;
  return solver;
}
