//===- ChannelsLast.cpp - Images with consecutive channels ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelsLast.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

/// If there are fewer rows than this, they are split along the channels, so
/// that all threads have work.
static constexpr int64_t kWantedUnits = 32;
static constexpr int64_t kLeastChunk = 64;
static constexpr double kOperationsPerTask = 65536;

ChannelsLastLoop::ChannelsLastLoop(LaunchBuilder &launch,
                                   const Problem &problem,
                                   double costPerElement) {
  const TensorDesc &input = problem.operands[0], &result = problem.result;
  ArrayRef<int64_t> inShape = input.spatial(), outShape = result.spatial();
  numDims = static_cast<int64_t>(inShape.size());
  bool isBlocked = result.layout.kind == Layout::Blocked;
  block = isBlocked ? result.layout.block : 0;
  int64_t numChannels = result.shape[1];
  int64_t pixel = isBlocked ? block : numChannels;
  int64_t numBlocks = llvm::divideCeil(numChannels, pixel);

  std::vector<int64_t> strides(numDims, isBlocked ? block : input.pixelPitch());
  for (int64_t dim = numDims - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * inShape[dim];
  int64_t rows = result.shape[0] * numBlocks;
  for (int64_t size : outShape.drop_back())
    rows *= size;
  int64_t wanted = llvm::divideCeil(kWantedUnits, std::max<int64_t>(1, rows));
  int64_t split = std::clamp<int64_t>(pixel / kLeastChunk, 1, wanted);
  int64_t chunkSize =
      llvm::alignTo(llvm::divideCeil(pixel, split), kLeastChunk);
  split = llvm::divideCeil(pixel, chunkSize);
  double unitCost = double(outShape.back()) *
                    double(std::min(chunkSize, pixel)) * costPerElement;
  int64_t perTask = std::max<int64_t>(
      1, static_cast<int64_t>(kOperationsPerTask / std::max(1.0, unitCost)));

  inStrides = launch.addParams(strides);
  outDims = launch.addParams(outShape);
  inner = launch.addParam(pixel);
  blocks = launch.addParam(numBlocks);
  channels = launch.addParam(numChannels);
  inImage = launch.addParam(strides[0] * inShape[0]);
  units = launch.addParam(rows * split);
  unitsPerTask = launch.addParam(perTask);
  chunk = launch.addParam(chunkSize);
  chunks = launch.addParam(split);
  numTasks = std::max<int64_t>(1, llvm::divideCeil(rows * split, perTask));
}

Applicability ChannelsLastLoop::check(const Problem &problem) {
  const TensorDesc &input = problem.operands[0];
  if (problem.result.layout.kind == Layout::NCHW)
    return Applicability::no("needs consecutive channels (nhwc or blocked)");
  if (!(input.layout == problem.result.layout))
    return Applicability::no("operand and result differ in layout");
  return Applicability::yes();
}

std::string ChannelsLastLoop::symbolPart() const {
  std::string kind = block ? ("nchw" + Twine(block) + "c").str() : "nhwc";
  return (kind + Twine(numDims) + "d").str();
}

int64_t ChannelsLastLoop::fittingLanes(int64_t lanes) const {
  return block ? std::min(lanes, block) : lanes;
}

void ChannelsLastLoop::emit(
    KernelBuilder &b, function_ref<void(const ChannelsLastRow &)> body) const {
  Value perTask = b.getParam(unitsPerTask), pixel = b.getParam(inner);
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), b.getParam(units));
  b.forLoop(first, last, b.cst(1), [&](Value unit) {
    ChannelsLastRow row;
    Value numChunks = b.getParam(chunks), chunkSize = b.getParam(chunk);
    row.begin = b.mul(b.rem(unit, numChunks), chunkSize);
    row.end = b.minS(b.add(row.begin, chunkSize), pixel);
    Value index = b.div(unit, numChunks);
    row.firstPixel = b.mul(index, outWidth(b));
    row.outputStart = b.mul(row.firstPixel, pixel);
    row.outer.resize(numDims - 1);
    for (int64_t dim = numDims - 2; dim >= 0; --dim) {
      Value size = b.getParam(outDims + dim);
      row.outer[dim] = b.rem(index, size);
      index = b.div(index, size);
    }
    row.inputStart = b.mul(index, b.getParam(inImage));
    row.blockChannel = b.mul(b.rem(index, b.getParam(blocks)), pixel);
    body(row);
  });
}

Value ChannelsLastLoop::inputPixel(KernelBuilder &b, const ChannelsLastRow &row,
                                   ArrayRef<Value> place) const {
  Value offset = row.inputStart;
  for (auto [dim, index] : llvm::enumerate(place))
    offset = b.add(offset, b.mul(index, b.getParam(inStrides + dim)));
  return offset;
}

VectorPlace ChannelsLastLoop::outputPlace(KernelBuilder &b,
                                          const ChannelsLastRow &row, Value x,
                                          Value c, int64_t lanes,
                                          Value mask) const {
  VectorPlace place;
  place.offset = b.add(b.add(row.outputStart, b.mul(x, b.getParam(inner))), c);
  place.channel = b.add(row.blockChannel, c);
  place.pixel = b.add(row.firstPixel, x);
  place.element = c;
  place.lanesAreChannels = true;
  place.lanes = lanes;
  place.mask = mask;
  if (block)
    place.channelMask =
        b.firstLanes(b.sub(b.getParam(channels), place.channel), lanes);
  return place;
}

void tarpon::forVectorGroups(KernelBuilder &b, Value begin, Value end,
                             int64_t lanes, int64_t unroll,
                             function_ref<void(Value, int64_t, Value)> body) {
  Value count = b.maxS(b.sub(end, begin), b.cst(0));
  Value start = begin;
  if (unroll > 1) {
    int64_t step = lanes * unroll;
    Value whole = b.mul(b.div(count, step), step);
    start = b.add(begin, whole);
    b.forLoop(begin, start, b.cst(step),
              [&](Value i) { body(i, unroll, Value()); });
  }
  forVectors(b, start, end, lanes,
             [&](Value i, Value mask) { body(i, 1, mask); });
}
