//===- ChannelReader.cpp - Vectors of channels of an input ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

PanelStrides::PanelStrides(KernelBuilder &b, const Context &context,
                           const ProductSpec &spec)
    : panelBytes(b.mul(context[Lines], spec.tileM * kLineBytes)),
      pointBytes(
          b.add(b.mul(b.div(context[BlockTiles], spec.tileM), panelBytes),
                kLineBytes)) {}

Value ChannelReader::panelOffset(const PanelStrides &strides, int64_t tileM,
                                 Value index) {
  return b.add(b.mul(b.div(index, tileM), strides.panelBytes),
               b.mul(b.rem(index, tileM), kLineBytes));
}

ChannelReader::ChannelReader(KernelBuilder &b, const ChannelSource &source,
                             const Context &context)
    : b(b), source(source), context(context),
      elementBytes(runtime::dtypeBytes(source.dtype)),
      perUnit(source.dtype == DType::F32 ? 1 : 2) {
  if (source.dtype == DType::F32)
    return;
  Value fill =
      arith::TruncIOp::create(b, b.getI16Type(), b.getParam(igemm::FillByte));
  zeroPoint = b.broadcast(fill, vectorChannels());
}

VectorType ChannelReader::vectorType() {
  Type element = perUnit == 1 ? b.f32() : Type(b.getI16Type());
  return b.vec(element, vectorChannels());
}

Value ChannelReader::panelChannelOffset(int64_t tileM, Value channel) {
  return b.add(b.mul(b.div(channel, kLineChannels), tileM * kLineBytes),
               b.mul(b.rem(channel, kLineChannels), igemm::kUnitBytes));
}

Value ChannelReader::offsetOf(Value channel) {
  if (source.layout.kind == Layout::NHWC)
    return b.mul(channel, elementBytes);
  int64_t block = source.layout.block;
  return b.add(b.mul(b.div(channel, block), context[InputBlockBytes]),
               b.mul(b.rem(channel, block), elementBytes));
}

void ChannelReader::forVectors(
    int64_t tileM, Value destination,
    function_ref<void(Value channel, Value at)> body) {
  int64_t lanes = b.lanes();
  b.forLoop(context[Lines], [&](Value line) {
    Value at = b.offset(destination, b.mul(line, tileM * kLineBytes));
    for (int64_t unit = 0; unit < igemm::kLineUnits; unit += lanes)
      body(b.add(b.mul(line, igemm::kLineUnits * perUnit), unit * perUnit),
           b.offset(at, unit * igemm::kUnitBytes));
  });
}

Value ChannelReader::load(Value pointer, Value channel) {
  VectorType type = b.vec(b.storageType(source.dtype), vectorChannels());
  Value stored;
  if (source.alignedChannels)
    stored = b.load(pointer, type);
  else
    stored = b.maskedLoad(
        pointer,
        b.firstLanes(b.sub(context[Channels], channel), vectorChannels()),
        type);
  if (source.dtype == DType::F32)
    return stored;
  Value wide = source.dtype == DType::I8
                   ? Value(arith::ExtSIOp::create(b, vectorType(), stored))
                   : arith::ExtUIOp::create(b, vectorType(), stored);
  return b.sub(wide, zeroPoint);
}

void ChannelReader::stageRow(Value image, Value y, Value left, int64_t count,
                             Value channel, Value line) {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.f32(), lanes);
  Value channelBytes = context[InputBlockBytes];
  Value inside = b.ult(y, context[InputHeight]);
  Value pixel = b.add(b.mul(y, context[InputWidth]), left);
  Value first = b.offset(b.offset(image, b.mul(channel, channelBytes)),
                         b.mul(pixel, elementBytes));
  // The masks are in a loop of their own, so that they take no registers from
  // the code that reads the line.
  b.forLoop(b.cst(0), b.cst(count), b.cst(lanes), [&](Value x) {
    Value column = b.add(left, x);
    Value none = b.cstLike(b.vec(b.getI1Type(), lanes), 0);
    Value all = b.cstLike(none.getType(), -1);
    Value behind = b.firstLanes(b.sub(b.cst(0), column), lanes);
    Value ahead = b.firstLanes(b.sub(context[InputWidth], column), lanes);
    Value pixels = b.andI(ahead, arith::XOrIOp::create(b, behind, all));
    pixels = b.select(inside, pixels, none);
    SmallVector<Value> square;
    Value at = b.offset(first, b.mul(x, elementBytes));
    for (int64_t c = 0; c < lanes; ++c) {
      Value mask = pixels;
      if (!source.alignedChannels)
        mask =
            b.select(b.slt(b.add(channel, c), context[Channels]), mask, none);
      square.push_back(b.maskedLoad(at, mask, type));
      at = b.offset(at, channelBytes);
    }
    Value to = b.offset(line, b.mul(x, kLineBytes));
    for (Value vector : b.transpose(square)) {
      b.store(vector, to);
      to = b.offset(to, kLineBytes);
    }
  });
}
