//===- ChannelStatistics.cpp - Sums for each channel ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelStatistics.h"

#include "RowNorm.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// ChannelView
//===----------------------------------------------------------------------===//

std::optional<ChannelView> ChannelView::get(const TensorDesc &desc,
                                            bool spatial) {
  if (desc.layout.kind == Layout::Blocked)
    return std::nullopt;
  ChannelView view;
  int64_t pixels = desc.spatialSize();
  view.outer = desc.shape[0];
  view.channels = desc.shape[1];
  if (!spatial) {
    view.channels *= pixels;
  } else if (desc.layout.kind == Layout::NHWC || pixels == 1) {
    view.outer *= pixels;
  } else {
    view.inRows = true;
    view.plane = pixels;
  }
  if (!view.inRows)
    view.plane = view.outer;
  return view;
}

ChannelView ChannelView::getImages(const TensorDesc &desc) {
  ChannelView view;
  view.plane = desc.spatialSize();
  view.outer = desc.shape[0] * view.plane;
  view.channels = desc.shape[1];
  return view;
}

int64_t ChannelView::getPiece() const {
  // In the columns form, a piece is 64 KiB of four vectors of channels, for the
  // L2 cache.
  constexpr int64_t kRowPiece = 65536, kColumnPiece = 256;
  return inRows ? std::min(plane, kRowPiece) : kColumnPiece;
}

int64_t ChannelView::getPiecesOfPlane() const {
  return llvm::divideCeil(plane, getPiece());
}

TensorDesc ChannelView::getDesc(const TensorDesc &like) const {
  TensorDesc desc = like;
  desc.layout = Layout();
  desc.shape = {outer, channels};
  if (inRows)
    desc.shape.push_back(plane);
  return desc;
}

/// A vector may be stored behind the last channel.
static int64_t alignBytes(int64_t floats) {
  constexpr int64_t kWidestVector = 64;
  return static_cast<int64_t>(llvm::alignTo(floats * 4 + kWidestVector, 64));
}

int64_t tarpon::getPartialBytes(const ChannelView &view) {
  return alignBytes(view.getPieces() * view.channels);
}

int64_t tarpon::getVectorBytes(const ChannelView &view) {
  return alignBytes(view.channels);
}

//===----------------------------------------------------------------------===//
// Partial moments
//===----------------------------------------------------------------------===//

namespace {

/// The number of vectors of channels that are processed together in the columns
/// form.
constexpr int64_t kVectors = 4;

struct PartialMomentsKernel {
  FlatTensor input;
  bool inRows;
  int64_t means, squares;         ///< buffers
  int64_t items, itemsPerTask;    ///< parameters
  int64_t channels, plane, piece; ///< parameters
  int64_t blocks;                 ///< parameter: see emitColumns

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in, Value item) const;
  void emitColumns(KernelBuilder &b, const BoundFlatTensor &in,
                   Value item) const;
  void emitBlock(KernelBuilder &b, const BoundFlatTensor &in, Value index,
                 Value channel, int64_t vectors, Value mask) const;
  Value pointer(KernelBuilder &b, int64_t buffer, Value index) const {
    return b.offset(b.getBuffer(buffer), b.mul(index, 4));
  }
};

} // namespace

/// An item is [image][channel][piece of the plane].
void PartialMomentsKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                                   Value item) const {
  Value size = b.getParam(plane), most = b.getParam(piece);
  Value pieces = b.ceilDiv(size, most), numChannels = b.getParam(channels);
  Value part = b.rem(item, pieces), row = b.div(item, pieces);
  Value begin = b.mul(part, most);
  Value count = b.minS(most, b.sub(size, begin));
  Moments moments =
      emitRowMoments(b, in, b.add(b.mul(row, size), begin), count);
  Value image = b.div(row, numChannels), channel = b.rem(row, numChannels);
  Value index =
      b.add(b.mul(b.add(b.mul(image, pieces), part), numChannels), channel);
  b.store(moments.mean, pointer(b, means, index));
  b.store(moments.squares, pointer(b, squares, index));
}

std::pair<Value, Value> tarpon::emitPiecePixels(KernelBuilder &b, Value index,
                                                Value plane, Value piece) {
  Value pieces = b.ceilDiv(plane, piece);
  Value start = b.mul(b.div(index, pieces), plane);
  Value first = b.mul(b.rem(index, pieces), piece);
  Value last = b.minS(b.add(first, piece), plane);
  return {b.add(start, first), b.add(start, last)};
}

/// The moments of `vectors` vectors of channels over a piece of pixels.
void PartialMomentsKernel::emitBlock(KernelBuilder &b,
                                     const BoundFlatTensor &in, Value index,
                                     Value channel, int64_t vectors,
                                     Value mask) const {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value numChannels = b.getParam(channels), most = b.getParam(piece);
  auto [first, last] = emitPiecePixels(b, index, b.getParam(plane), most);
  Value count = b.broadcast(emitToFloat(b, b.sub(last, first)), lanes);
  // Elements behind the mask are the next pixel's, or padding.
  auto load = [&](Value pixel, int64_t v) {
    Value offset = b.add(b.mul(pixel, numChannels), b.add(channel, v * lanes));
    return in.load(b, offset, lanes);
  };
  auto sum = [&](function_ref<Value(Value x, int64_t v)> term) {
    SmallVector<Value> zeros(vectors, b.cstLike(type, 0));
    return b.forLoop(
        first, last, b.cst(1), zeros, [&](Value pixel, ValueRange soFar) {
          SmallVector<Value> next;
          for (int64_t v = 0; v < vectors; ++v)
            next.push_back(b.addF(soFar[v], term(load(pixel, v), v)));
          return next;
        });
  };
  SmallVector<Value> mean = sum([](Value x, int64_t) { return x; });
  for (Value &value : mean)
    value = b.divF(value, count);
  SmallVector<Value> square = sum([&](Value x, int64_t v) {
    Value centred = b.subF(x, mean[v]);
    return b.mulF(centred, centred);
  });
  Value start = b.add(b.mul(index, numChannels), channel);
  for (int64_t v = 0; v < vectors; ++v)
    for (auto [buffer, value] :
         {std::pair(means, mean[v]), std::pair(squares, square[v])}) {
      Value at = pointer(b, buffer, b.add(start, v * lanes));
      if (mask)
        b.maskedStore(value, at, mask);
      else
        b.store(value, at);
    }
}

/// An item is [piece][block of channels].
void PartialMomentsKernel::emitColumns(KernelBuilder &b,
                                       const BoundFlatTensor &in,
                                       Value item) const {
  int64_t lanes = b.lanes(), block = kVectors * lanes;
  Value numBlocks = b.getParam(blocks), numChannels = b.getParam(channels);
  Value index = b.div(item, numBlocks);
  Value begin = b.mul(b.rem(item, numBlocks), block);
  Value end = b.minS(b.add(begin, block), numChannels);
  b.ifThenElse(
      b.eq(b.sub(end, begin), b.cst(block)),
      [&] { emitBlock(b, in, index, begin, kVectors, Value()); },
      [&] {
        b.forLoop(begin, end, b.cst(lanes), [&](Value channel) {
          emitBlock(b, in, index, channel, 1,
                    b.firstLanes(b.sub(end, channel), lanes));
        });
      });
}

void PartialMomentsKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  forItems(b, items, itemsPerTask, [&](Value item) {
    if (inRows)
      emitRow(b, in, item);
    else
      emitColumns(b, in, item);
  });
}

void tarpon::planPartialMoments(SolutionPlan &plan, StringRef prefix,
                                const ChannelView &view,
                                const TensorDesc &input,
                                const TargetInfo &target, int64_t meanAt,
                                int64_t squaresAt) {
  LaunchBuilder launch(plan);
  int64_t blocks = llvm::divideCeil(view.channels, kVectors * target.lanes());
  int64_t items = view.getPieces() * (view.inRows ? view.channels : blocks);
  int64_t elements = view.getCount() * view.channels;
  int64_t perTask = getItemsPerTask(llvm::divideCeil(elements, items));
  PartialMomentsKernel kernel{
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .inRows = view.inRows,
      .means = launch.addBuffer({BufferSlot::Workspace, meanAt}),
      .squares = launch.addBuffer({BufferSlot::Workspace, squaresAt}),
      .items = launch.addParam(items),
      .itemsPerTask = launch.addParam(perTask),
      .channels = launch.addParam(view.channels),
      .plane = launch.addParam(view.plane),
      .piece = launch.addParam(view.getPiece()),
      .blocks = launch.addParam(blocks)};
  std::string symbol = joinSymbol(
      {prefix, "moments", view.symbolPart(), kernel.input.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(items, perTask));
}

//===----------------------------------------------------------------------===//
// Whole channels
//===----------------------------------------------------------------------===//

CombinedMoments::CombinedMoments(LaunchBuilder &launch, const ChannelView &view,
                                 int64_t meanAt, int64_t squaresAt)
    : means(launch.addBuffer({BufferSlot::Workspace, meanAt})),
      squares(launch.addBuffer({BufferSlot::Workspace, squaresAt})),
      pieces(launch.addParam(view.getPieces())),
      channels(launch.addParam(view.channels)),
      inverseCount(
          launch.addFloatParam(1 / static_cast<double>(view.getCount()))),
      piece(launch.addFloatParam(static_cast<double>(view.getPiece()))) {
  lastPiece = launch.addFloatParam(static_cast<double>(view.getLastPiece()));
  piecesOfPlane = launch.addParam(view.getPiecesOfPlane());
}

CombinedMoments::Result CombinedMoments::emit(KernelBuilder &b, Value channel,
                                              int64_t lanes) const {
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value period = b.getParam(piecesOfPlane), numChannels = b.getParam(channels);
  Value most = b.getFloatParam(piece), last = b.getFloatParam(lastPiece);
  auto load = [&](int64_t buffer, Value index) {
    Value at = b.add(b.mul(index, numChannels), channel);
    return b.load(b.offset(b.getBuffer(buffer), b.mul(at, 4)), type);
  };
  auto countOf = [&](Value index) {
    Value isLast = b.eq(b.rem(b.add(index, 1), period), b.cst(0));
    return b.broadcast(b.select(isLast, last, most), lanes);
  };
  auto sum = [&](function_ref<Value(Value index)> term) {
    return emitCompensatedSum(
               b, b.getParam(pieces), type, /*width=*/1,
               [&](Value index) { return FoldSteps::Values{term(index)}; })
        .front();
  };
  Value total = sum(
      [&](Value index) { return b.mulF(countOf(index), load(means, index)); });
  Value mean = b.mulF(total, b.broadcast(b.getFloatParam(inverseCount), lanes));
  Value square = sum([&](Value index) {
    Value distance = b.subF(load(means, index), mean);
    Value between = b.mulF(countOf(index), b.mulF(distance, distance));
    return b.addF(load(squares, index), between);
  });
  return {mean, square};
}

ChannelLoop::ChannelLoop(LaunchBuilder &launch, int64_t numChannels) {
  constexpr int64_t kChannelsPerTask = 64;
  channels = launch.addParam(numChannels);
  perTask = launch.addParam(kChannelsPerTask);
  numTasks = llvm::divideCeil(numChannels, kChannelsPerTask);
}

void ChannelLoop::emit(KernelBuilder &b,
                       function_ref<void(Value, Value)> body) const {
  Value each = b.getParam(perTask);
  Value first = b.mul(b.getBegin(), each);
  Value last = b.minS(b.mul(b.getEnd(), each), b.getParam(channels));
  forVectors(b, first, last, b.lanes(), body);
}
