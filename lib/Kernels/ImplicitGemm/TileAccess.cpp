//===- TileAccess.cpp - Register tiles to and from memory -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where channels are innermost (nhwc, blocked) a register of the tile is one
// masked access. In nchw, pixels are innermost, and squares of the tile are
// transposed in registers on their way.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

TileAccess::TileAccess(KernelBuilder &b, const KernelSpec &spec, DType dtype,
                       const Layout &layout, Value base, Value resultChannels,
                       Value outPixels)
    : b(b), spec(spec), dtype(dtype), layout(layout), base(base),
      resultChannels(resultChannels), outPixels(outPixels) {}

/// The address of pixel 0 of the tile in its vector v of channels.
Value TileAccess::channelVectorBase(const Place &place, int64_t v) {
  int64_t bytes = runtime::dtypeBytes(dtype);
  Value channel = b.add(place.channel, v * b.lanes());
  if (layout.kind == Layout::NHWC) {
    Value pixel = b.add(b.mul(place.image, outPixels), place.pixel);
    Value element = b.add(b.mul(pixel, resultChannels), channel);
    return b.offset(base, b.mul(element, bytes));
  }
  int64_t block = layout.block;
  Value blocks = b.ceilDiv(resultChannels, b.cst(block));
  Value plane = b.add(b.mul(place.image, blocks), b.div(channel, block));
  Value pixel = b.add(b.mul(plane, outPixels), place.pixel);
  Value element = b.add(b.mul(pixel, block), b.rem(channel, block));
  return b.offset(base, b.mul(element, bytes));
}

/// Visits the tile's registers where channels are innermost.
void TileAccess::forChannelVectors(const Place &place, Visit visit) {
  int64_t bytes = runtime::dtypeBytes(dtype);
  Value pixelBytes = layout.kind == Layout::NHWC ? b.mul(resultChannels, bytes)
                                                 : b.cst(layout.block * bytes);
  for (int64_t v = 0; v < vectors(); ++v) {
    Value pointer = channelVectorBase(place, v);
    Value channels =
        b.firstLanes(b.sub(place.channels, v * b.lanes()), b.lanes());
    Value none = b.cstLike(channels.getType(), 0);
    for (int64_t p = 0; p < spec.tileM; ++p) {
      Value exists = b.slt(b.cst(p), place.pixels);
      visit(p, v, pointer,
            place.full ? Value() : b.select(exists, channels, none));
      pointer = b.offset(pointer, pixelBytes);
    }
  }
}

/// Visits vectors of pixels where those are innermost: p counts from the first
/// pixel of the vector, v is the channel in the tile.
void TileAccess::forPixelVectors(const Place &place, Visit visit) {
  int64_t bytes = runtime::dtypeBytes(dtype);
  Value plane = b.add(b.mul(place.image, resultChannels), place.channel);
  Value element = b.add(b.mul(plane, outPixels), place.pixel);
  Value tile = b.offset(base, b.mul(element, bytes));
  Value channelBytes = b.mul(outPixels, bytes);
  for (int64_t p = 0; p < spec.tileM; p += b.lanes()) {
    Value pixels = b.firstLanes(b.sub(place.pixels, p), b.lanes());
    Value wanted = b.firstLanes(b.cst(spec.tileM - p), b.lanes());
    Value none = b.cstLike(pixels.getType(), 0);
    Value pointer = b.offset(tile, p * bytes);
    for (int64_t channel = 0; channel < spec.tileN; ++channel) {
      Value exists = b.slt(b.cst(channel), place.channels);
      visit(p, channel, pointer,
            place.full ? wanted : b.select(exists, pixels, none));
      pointer = b.offset(pointer, channelBytes);
    }
  }
}

TileAccess::Tile TileAccess::load(const Place &place) {
  Tile tile(spec.tileM, SmallVector<Value>(vectors()));
  int64_t lanes = b.lanes();
  if (!isChannelsFirst()) {
    forChannelVectors(place, [&](int64_t p, int64_t v, Value at, Value mask) {
      tile[p][v] = b.loadConverted(dtype, at, lanes, mask);
    });
    return tile;
  }
  SmallVector<Value> square;
  forPixelVectors(place, [&](int64_t p, int64_t c, Value at, Value mask) {
    square.push_back(b.loadConverted(dtype, at, lanes, mask));
    if (static_cast<int64_t>(square.size()) < lanes)
      return;
    SmallVector<Value> rows = b.transpose(square);
    for (int64_t i = 0; i < lanes && p + i < spec.tileM; ++i)
      tile[p + i][c / lanes] = rows[i];
    square.clear();
  });
  return tile;
}

void TileAccess::store(const Tile &tile, const Place &place) {
  int64_t lanes = b.lanes();
  if (!isChannelsFirst()) {
    forChannelVectors(place, [&](int64_t p, int64_t v, Value at, Value mask) {
      b.storeConverted(dtype, tile[p][v], at, mask);
    });
    return;
  }
  SmallVector<Value> square;
  forPixelVectors(place, [&](int64_t p, int64_t c, Value at, Value mask) {
    if (c % lanes == 0) {
      square.clear();
      Value zero = b.cstLike(b.vec(b.f32(), lanes), 0);
      for (int64_t i = 0; i < lanes; ++i)
        square.push_back(p + i < spec.tileM ? tile[p + i][c / lanes] : zero);
      square = b.transpose(square);
    }
    b.storeConverted(dtype, square[c % lanes], at, mask);
  });
}

void TileAccess::prefetch(const Place &place, bool write) {
  if (isChannelsFirst())
    return;
  constexpr int64_t kLine = 64;
  int64_t vectorBytes = b.lanes() * runtime::dtypeBytes(dtype);
  int64_t bytes = layout.kind == Layout::NHWC
                      ? spec.tileN * vectorBytes / b.lanes()
                      : vectorBytes;
  forChannelVectors(place, [&](int64_t, int64_t v, Value at, Value) {
    if (v * vectorBytes % kLine == 0 || bytes == vectorBytes)
      LLVM::Prefetch::create(b, at, /*rw=*/write, /*hint=*/3, /*cache=*/1);
  });
}
