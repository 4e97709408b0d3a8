//===- KernelEmitter.cpp - Emits products in the frequency domain ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;

using winograd::kLineBytes;

static constexpr int64_t kElementBytes = 4;

//===----------------------------------------------------------------------===//
// Input and output
//===----------------------------------------------------------------------===//

/// The operands of the epilogue are bound behind input and filter.
TileIO::TileIO(KernelBuilder &b, const KernelSpec &spec,
               const winograd::Context &context, Value zeros, Value line)
    : b(b), spec(spec), context(context), zeros(zeros), line(line),
      reader(b, spec.input, context),
      result(b, spec.output, /*firstBuffer=*/2, /*scales=*/nullptr) {
  int64_t first = winograd::getFirstParam(spec.output);
  outTileH = b.getParam(first + OutTileH);
  outTileW = b.getParam(first + OutTileW);
}

TileIO::Reader::Reader(TileIO &io, Value input, const TilePlace &place,
                       Value channel)
    : io(io), channel(channel) {
  KernelBuilder &b = io.b;
  const winograd::Context &context = io.context;
  image =
      b.offset(input, b.mul(place.image, context[winograd::InputImageBytes]));
  top = b.sub(b.mul(place.y, io.outTileH), context[winograd::PadTop]);
  left = b.sub(b.mul(place.x, io.outTileW), context[winograd::PadLeft]);
}

/// As unsigned numbers, negative coordinates are large.
Value TileIO::Reader::exists(Value y) {
  return io.b.ult(io.b.add(top, y), io.context[winograd::InputHeight]);
}

void TileIO::Reader::open(Value y) {
  KernelBuilder &b = io.b;
  Value inputY = b.add(top, y);
  if (io.spec.input.layout.kind == Layout::NCHW) {
    io.reader.stageRow(image, inputY, left, io.spec.tile.width, channel,
                       io.line);
    return;
  }
  Value pixel = b.add(b.mul(inputY, io.context[winograd::InputWidth]), left);
  Value pixels =
      b.offset(image, b.mul(pixel, io.context[winograd::InputPixelBytes]));
  row = b.offset(pixels, io.reader.offsetOf(channel));
}

Value TileIO::Reader::load(int64_t x) {
  KernelBuilder &b = io.b;
  if (io.spec.input.layout.kind == Layout::NCHW)
    return b.load(b.offset(io.line, x * kLineBytes), b.vec(b.f32(), b.lanes()));
  Value inside = b.ult(b.add(left, x), io.context[winograd::InputWidth]);
  Value at = b.offset(row, b.mul(io.context[winograd::InputPixelBytes], x));
  return io.reader.load(b.select(inside, at, io.zeros), channel);
}

Value TileIO::countRows(const TilePlace &place) {
  Value left = b.sub(context[winograd::OutHeight], b.mul(place.y, outTileH));
  return b.minS(outTileH, left);
}

void TileIO::storeRow(const TilePlace &place, Value row, Value pixels,
                      Value channel, Value channels) {
  int64_t step = spec.output.tileM;
  Value width = context[winograd::OutWidth];
  Value x = b.mul(place.x, outTileW);
  Value count = b.minS(outTileW, b.sub(width, x));
  Value y = b.add(b.mul(place.y, outTileH), row);
  Value first = b.add(b.mul(y, width), x);
  b.forLoop(b.cst(0), count, b.cst(step), [&](Value done) {
    Value source = b.offset(pixels, b.mul(done, kLineBytes));
    SmallVector<Value> values;
    for (int64_t p = 0; p < step; ++p)
      values.push_back(
          b.load(b.offset(source, p * kLineBytes), b.vec(b.f32(), b.lanes())));
    Value existing = b.minS(b.cst(step), b.sub(count, done));
    result.emit(
        values, nullptr,
        {place.image, b.add(first, done), existing, channel, channels, step});
  });
}

//===----------------------------------------------------------------------===//
// Steps around the products
//===----------------------------------------------------------------------===//

namespace {
class FftSteps final : public winograd::TileSteps {
public:
  FftSteps(KernelBuilder &b, const KernelSpec &spec,
           const winograd::Context &context, Value zeros, Value memory)
      : b(b), spec(spec), context(context), strides(b, context, spec.product),
        transform(b, spec.tile, memory),
        io(b, spec, context, zeros, transform.getLine()) {}

  void emitInput(Value input, Value first, Value last, Value panels) override;
  void emitOutput(Value products, Value first, Value last, Value group,
                  Value channel) override;

private:
  void storePoints(Value panel, TileTransform::Pair pair, Complex value);
  Complex loadPoints(Value products, TileTransform::Pair pair);

  KernelBuilder &b;
  const KernelSpec &spec;
  const winograd::Context &context;
  winograd::PanelStrides strides;
  TileTransform transform;
  TileIO io;
};
} // namespace

/// Stores the three numbers of a pair that are multiplied; see Fft.h.
void FftSteps::storePoints(Value panel, TileTransform::Pair pair,
                           Complex value) {
  if (pair.isReal)
    std::swap(value.re, value.im);
  Value at = b.offset(panel, b.mul(b.mul(pair.index, 3), strides.pointBytes));
  b.store(b.addF(value.re, value.im), at);
  at = b.offset(at, strides.pointBytes);
  b.store(value.re, at);
  b.store(value.im, b.offset(at, strides.pointBytes));
}

Complex FftSteps::loadPoints(Value products, TileTransform::Pair pair) {
  int64_t pointBytes = spec.product.tileN * kElementBytes;
  Type type = b.vec(b.f32(), b.lanes());
  Value at = b.offset(products, b.mul(pair.index, 3 * pointBytes));
  Value both = b.load(at, type);
  Value second = b.load(b.offset(at, pointBytes), type);
  Value third = b.load(b.offset(at, 2 * pointBytes), type);
  return {b.subF(both, third), b.addF(both, second)};
}

void FftSteps::emitInput(Value input, Value first, Value last, Value panels) {
  int64_t tileM = spec.product.tileM;
  winograd::ChannelReader &reader = io.getReader();
  context.forParts(
      first, last, /*step=*/1,
      [&](Value tile, Value /*count*/, Value image, Value y, Value x) {
        Value index = b.sub(tile, first);
        Value panel =
            b.offset(panels, reader.panelOffset(strides, tileM, index));
        Value lanes = b.cst(b.lanes());
        // One copy of the transform serves all vectors of a line.
        b.forLoop(
            b.cst(0), b.mul(context[winograd::Lines], winograd::kLineChannels),
            lanes, [&](Value channel) {
              Value at =
                  b.offset(panel, reader.panelChannelOffset(tileM, channel));
              TileIO::Reader rows(io, input, {image, y, x}, channel);
              transform.emitForward(
                  rows, [&](TileTransform::Pair pair, Complex value) {
                    storePoints(at, pair, value);
                  });
            });
      });
}

void FftSteps::emitOutput(Value products, Value first, Value last, Value group,
                          Value channel) {
  int64_t lanes = b.lanes();
  int64_t tileBytes = spec.product.tileBytes();
  Value left = b.sub(context[winograd::OutChannels], channel);
  Value vectors =
      b.minS(b.cst(spec.product.tileN / lanes), b.ceilDiv(left, b.cst(lanes)));
  Value firstChannel =
      b.add(b.mul(group, context[winograd::OutChannels]), channel);
  context.forParts(
      first, last, /*step=*/1,
      [&](Value tile, Value /*count*/, Value image, Value y, Value x) {
        TilePlace place = {image, y, x};
        Value source = b.offset(products, b.mul(b.sub(tile, first), tileBytes));
        b.forLoop(vectors, [&](Value vector) {
          Value done = b.mul(vector, lanes);
          Value at = b.offset(source, b.mul(done, kElementBytes));
          transform.emitInverse(
              [&](TileTransform::Pair pair) { return loadPoints(at, pair); },
              io.countRows(place),
              [&](Value row, Value line) {
                io.storeRow(place, row, line, b.add(firstChannel, done),
                            b.sub(left, done));
              });
        });
      });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

int64_t fft::getScratchBytes(const TileShape &tile) {
  return kLineBytes + TileTransform::memoryBytes(tile);
}

void fft::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  winograd::Context context(b, spec.output);
  Value zeros = b.offset(b.getScratch(), winograd::kNoteBytes);
  b.store(b.cstLike(b.vec(b.f32(), winograd::kLineChannels), 0), zeros);
  FftSteps steps(b, spec, context, zeros, b.offset(zeros, kLineBytes));
  winograd::emitTasks(b, spec.product, context,
                      b.offset(zeros, getScratchBytes(spec.tile)), steps);
}
