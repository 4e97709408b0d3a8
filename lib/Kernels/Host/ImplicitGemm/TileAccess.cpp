//===- TileAccess.cpp - Register tiles to and from memory -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If channels are innermost (nhwc, blocked), a register of the tile is one
// access. In nchw, pixels are innermost, and squares of the tile are transposed
// in registers.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/STLExtras.h"

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

std::vector<SmallVector<TileAccess::Cell>>
TileAccess::getCells(const Place &place) {
  int64_t bytes = runtime::dtypeBytes(dtype), lanes = b.lanes();
  bool isNhwc = layout.kind == Layout::NHWC;
  Value pixelBytes =
      isNhwc ? b.mul(resultChannels, bytes) : b.cst(layout.block * bytes);
  if (place.step)
    pixelBytes = b.mul(pixelBytes, place.step);
  // In nhwc the vectors of a pixel are consecutive.
  SmallVector<Value> pointers, masks(vectors());
  for (int64_t v = 0; v < vectors(); ++v) {
    pointers.push_back(isNhwc && v > 0
                           ? b.offset(pointers[0], v * lanes * bytes)
                           : channelVectorBase(place, v));
    if (!place.full)
      masks[v] = b.firstLanes(b.sub(place.channels, v * lanes), lanes);
  }
  std::vector<SmallVector<Cell>> cells(place.rows);
  for (int64_t p = 0; p < place.rows; ++p) {
    Value exists = b.slt(b.cst(p), place.pixels);
    for (int64_t v = 0; v < vectors(); ++v) {
      Value mask = masks[v];
      if (mask)
        mask = b.select(exists, mask, b.cstLike(mask.getType(), 0));
      cells[p].push_back({pointers[v], mask});
    }
    for (int64_t v = 0; v < vectors(); ++v)
      pointers[v] = isNhwc && v > 0 ? b.offset(pointers[0], v * lanes * bytes)
                                    : b.offset(pointers[v], pixelBytes);
  }
  return cells;
}

Value TileAccess::load(const Cell &cell) {
  return b.loadConverted(dtype, cell.pointer, b.lanes(), cell.mask);
}

void TileAccess::store(Value value, const Cell &cell) {
  b.storeConverted(dtype, value, cell.pointer, cell.mask);
}

/// Visits vectors of pixels if those are innermost: p counts from the first
/// pixel of the vector, v is the channel in the tile.
void TileAccess::forPixelVectors(const Place &place, Visit visit) {
  int64_t bytes = runtime::dtypeBytes(dtype);
  Value plane = b.add(b.mul(place.image, resultChannels), place.channel);
  Value element = b.add(b.mul(plane, outPixels), place.pixel);
  Value tile = b.offset(base, b.mul(element, bytes));
  Value channelBytes = b.mul(outPixels, bytes);
  for (int64_t p = 0; p < place.rows; p += b.lanes()) {
    Value pixels = b.firstLanes(b.sub(place.pixels, p), b.lanes());
    Value none = b.cstLike(pixels.getType(), 0);
    Value pointer = b.offset(tile, p * bytes);
    for (int64_t channel = 0; channel < spec.tileN; ++channel) {
      Value exists = b.slt(b.cst(channel), place.channels);
      visit(p, channel, pointer, b.select(exists, pixels, none));
      pointer = b.offset(pointer, channelBytes);
    }
  }
}

TileAccess::Tile TileAccess::load(const Place &place) {
  Tile tile(place.rows, SmallVector<Value>(vectors()));
  int64_t lanes = b.lanes();
  SmallVector<Value> square;
  forPixelVectors(place, [&](int64_t p, int64_t c, Value at, Value mask) {
    square.push_back(b.loadConverted(dtype, at, lanes, mask));
    if (static_cast<int64_t>(square.size()) < lanes)
      return;
    SmallVector<Value> rows = b.transpose(square);
    for (int64_t i = 0; i < lanes && p + i < place.rows; ++i)
      tile[p + i][c / lanes] = rows[i];
    square.clear();
  });
  return tile;
}

void TileAccess::store(const Tile &tile, const Place &place) {
  int64_t lanes = b.lanes();
  SmallVector<Value> square;
  forPixelVectors(place, [&](int64_t p, int64_t c, Value at, Value mask) {
    if (c % lanes == 0) {
      square.clear();
      Value zero = b.cstLike(b.vec(b.f32(), lanes), 0);
      for (int64_t i = 0; i < lanes; ++i)
        square.push_back(p + i < place.rows ? tile[p + i][c / lanes] : zero);
      square = b.transpose(square);
    }
    b.storeConverted(dtype, square[c % lanes], at, mask);
  });
}

void TileAccess::prefetch(const Place &place, bool write) {
  if (isChannelsFirst())
    return;
  int64_t vectorBytes = b.lanes() * runtime::dtypeBytes(dtype);
  Place whole = place;
  whole.full = true;
  for (const SmallVector<Cell> &row : getCells(whole))
    for (auto [v, cell] : llvm::enumerate(row))
      // In nhwc a line may hold several vectors.
      if (layout.kind != Layout::NHWC || v * vectorBytes % kLineBytes == 0)
        LLVM::Prefetch::create(b, cell.pointer, /*rw=*/write, /*hint=*/3,
                               /*cache=*/1);
}
