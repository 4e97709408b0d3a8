//===- ChannelWindow.cpp - Sums over neighbouring channels ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelWindow.h"

using namespace mlir;
using namespace tarpon;

ChannelWindow::ChannelWindow(LaunchBuilder &launch, const TensorDesc &desc,
                             int64_t belowCount, int64_t aboveCount) {
  int64_t pixels = desc.spatialSize();
  // VectorLoop takes nhwc as images of one pixel, which has the same memory.
  channelsLast = desc.layout.kind == Layout::NHWC || pixels == 1;
  channels = launch.addParam(desc.shape[1]);
  channelStride = launch.addParam(channelsLast ? 1 : pixels);
  below = launch.addParam(belowCount);
  above = launch.addParam(aboveCount);
}

/// The term `distance` channels further; zero where there is no channel.
Value ChannelWindow::emitTerm(KernelBuilder &b, const VectorPlace &place,
                              Value distance,
                              function_ref<Value(Value, Value)> term) const {
  Value offset =
      b.add(place.offset, b.mul(distance, b.getParam(channelStride)));
  if (!channelsLast)
    return term(offset, place.mask);
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < place.lanes; ++lane)
    numbers.push_back(static_cast<int32_t>(lane));
  Type i32 = b.getI32Type();
  Value lanes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vec(i32, place.lanes),
                                ArrayRef<int32_t>(numbers)));
  auto splat = [&](Value value) {
    return b.broadcast(arith::TruncIOp::create(b, i32, value), place.lanes);
  };
  Value channel = b.add(splat(b.add(place.channel, distance)), lanes);
  Value exists = b.ult(channel, splat(b.getParam(channels)));
  Value value = term(offset, exists);
  return b.select(exists, value, b.cstLike(value.getType(), 0));
}

Value ChannelWindow::emitSum(KernelBuilder &b, const VectorPlace &place,
                             function_ref<Value(Value, Value)> term) const {
  Value first = b.sub(b.cst(0), b.getParam(below));
  Value last = b.getParam(above);
  if (!channelsLast) {
    first = b.maxS(first, b.sub(b.cst(0), place.channel));
    last = b.minS(last, b.sub(b.sub(b.getParam(channels), 1), place.channel));
  }
  Value zero = b.cstLike(b.vec(b.getF32Type(), place.lanes), 0);
  return b
      .forLoop(first, b.add(last, 1), b.cst(1), zero,
               [&](Value distance, ValueRange sum) {
                 Value value = emitTerm(b, place, distance, term);
                 return SmallVector<Value>{b.addF(sum.front(), value)};
               })
      .front();
}
