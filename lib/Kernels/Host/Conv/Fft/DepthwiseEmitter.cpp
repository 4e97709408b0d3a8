//===- DepthwiseEmitter.cpp - Depthwise in the frequency domain -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task is one tile of one vector of channels. The tiles of a vector are
// consecutive, and find its filter in the cache.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;

using winograd::kLineBytes;

static Complex multiply(KernelBuilder &b, Value filter, Complex x,
                        TileTransform::Pair pair) {
  int64_t bytes = 4 * b.lanes();
  Value at = b.offset(filter, b.mul(pair.index, 2 * bytes));
  Type type = b.vec(b.f32(), b.lanes());
  Value re = b.load(at, type), im = b.load(b.offset(at, bytes), type);
  if (pair.isReal)
    return {b.mulF(x.re, re), b.mulF(x.im, im)};
  return {b.subF(b.mulF(x.re, re), b.mulF(x.im, im)),
          b.fma(x.re, im, b.mulF(x.im, re))};
}

void fft::emitDepthwise(KernelBuilder &b, const KernelSpec &spec) {
  winograd::Context context(b, spec.output);
  Value zeros = b.getScratch();
  b.store(b.cstLike(b.vec(b.f32(), winograd::kLineChannels), 0), zeros);
  TileTransform transform(b, spec.tile, b.offset(zeros, kLineBytes));
  TileIO io(b, spec, context, zeros, transform.getLine());
  Value input = b.getBuffer(0), filters = b.getBuffer(1);
  int64_t filterBytes = spec.tile.pairs() * 2 * b.lanes() * 4;
  b.forTasks([&](Value task) {
    Value vector = b.div(task, context[winograd::Tiles]);
    Value tile = b.rem(task, context[winograd::Tiles]);
    Value row = b.div(tile, context[winograd::TilesX]);
    TilePlace place = {b.div(row, context[winograd::TilesY]),
                       b.rem(row, context[winograd::TilesY]),
                       b.rem(tile, context[winograd::TilesX])};
    Value channel = b.mul(vector, b.lanes());
    Value left = b.sub(context[winograd::Channels], channel);
    Value filter = b.offset(filters, b.mul(vector, filterBytes));
    TileIO::Reader reader(io, input, place, channel);
    transform.emitBoth(
        reader,
        [&](TileTransform::Pair pair, Complex value) {
          return multiply(b, filter, value, pair);
        },
        io.countRows(place),
        [&](Value y, Value line) {
          io.storeRow(place, y, line, channel, left);
        });
  });
}
