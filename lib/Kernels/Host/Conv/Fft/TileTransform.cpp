//===- TileTransform.cpp - Fourier transforms of tiles --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTransform.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;

using winograd::kLineBytes;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static int64_t longest(const TileShape &tile) {
  return std::max(tile.height, tile.width);
}

/// A row of the plane is one vector longer than the tile: otherwise the
/// addresses of a column would differ by a power of two and fall into the same
/// sets of a cache.
static int64_t rowVectors(const TileShape &tile) { return tile.width + 1; }

/// The memory holds a row of pixels, the pairs of a column, the vectors that
/// transforms pass through memory, and the plane.
int64_t TileTransform::memoryBytes(const TileShape &tile) {
  return kLineBytes * (tile.width + 2 * longest(tile) +
                       Fourier::memoryVectors(longest(tile)) +
                       tile.height * rowVectors(tile));
}

TileTransform::TileTransform(KernelBuilder &b, const TileShape &tile,
                             Value memory)
    : b(b), tile(tile), line(memory),
      buffer(b.offset(line, tile.width * kLineBytes)),
      plane(b.offset(
          buffer, (2 * longest(tile) + Fourier::memoryVectors(longest(tile))) *
                      kLineBytes)),
      fourier(b, b.offset(buffer, 2 * longest(tile) * kLineBytes)) {}

Value TileTransform::rowOf(Value y) {
  return b.offset(plane, b.mul(y, rowVectors(tile) * vectorBytes()));
}

Value TileTransform::loadVector(Value pointer) {
  return b.load(pointer, b.vec(b.f32(), b.lanes()));
}

Complex TileTransform::loadPair(Value pointer) {
  return {loadVector(pointer), loadVector(b.offset(pointer, vectorBytes()))};
}

void TileTransform::storePair(Complex value, Value pointer) {
  b.store(value.re, pointer);
  b.store(value.im, b.offset(pointer, vectorBytes()));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Padding transforms to zeros.
void TileTransform::emitRow(RowReader &reader, Value y, Fourier::Store store) {
  b.ifThenElse(
      reader.exists(y),
      [&] {
        reader.open(y);
        fourier.emitReal(
            tile.width,
            [&](int64_t i) -> Complex {
              Value even = reader.load(2 * i);
              return {even, reader.load(2 * i + 1)};
            },
            store);
      },
      [&] {
        Value zero = b.cstLike(b.vec(b.f32(), b.lanes()), 0);
        for (int64_t k = 0; k < tile.width / 2; ++k)
          store(k, {zero, zero});
      });
}

void TileTransform::emitRows(RowReader &reader) {
  b.forLoop(b.cst(tile.height), [&](Value y) {
    Value row = rowOf(y);
    emitRow(reader, y, [&](int64_t k, Complex value) {
      storePair(value, b.offset(row, 2 * k * vectorBytes()));
    });
  });
}

void TileTransform::emitRowBack(Value y, Fourier::Load load, StoreRow store) {
  fourier.emitRealInverse(tile.width, load, [&](int64_t i, Complex value) {
    b.store(value.re, b.offset(line, 2 * i * kLineBytes));
    b.store(value.im, b.offset(line, (2 * i + 1) * kLineBytes));
  });
  store(y, line);
}

void TileTransform::emitRowsBack(Value rows, StoreRow store) {
  b.forLoop(rows, [&](Value y) {
    Value row = rowOf(y);
    emitRowBack(
        y,
        [&](int64_t k) {
          return loadPair(b.offset(row, 2 * k * vectorBytes()));
        },
        store);
  });
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void TileTransform::forColumns(function_ref<void(Column column)> body) {
  b.forLoop(b.cst(2), [&](Value side) {
    body({true, b.mul(side, tile.height / 2), b.mul(side, vectorBytes())});
  });
  b.forLoop(b.cst(1), b.cst(tile.width / 2), b.cst(1), [&](Value k) {
    body({false, b.mul(k, tile.height), b.mul(k, 2 * vectorBytes())});
  });
}

void TileTransform::emitColumn(const Column &column, Sink sink) {
  auto place = [&](int64_t y) { return b.offset(rowOf(y), column.byte); };
  auto store = [&](int64_t k, Complex value) {
    sink({b.add(column.firstPair, k), column.isReal && k == 0}, value);
  };
  if (!column.isReal) {
    fourier.emitComplex(
        tile.height, /*inverse=*/false,
        [&](int64_t y) { return loadPair(place(y)); }, store);
    return;
  }
  fourier.emitReal(
      tile.height,
      [&](int64_t i) -> Complex {
        Value even = loadVector(place(2 * i));
        return {even, loadVector(place(2 * i + 1))};
      },
      store);
}

void TileTransform::emitColumnBack(const Column &column, Source source) {
  auto place = [&](int64_t y) { return b.offset(rowOf(y), column.byte); };
  auto load = [&](int64_t k) {
    return source({b.add(column.firstPair, k), column.isReal && k == 0});
  };
  if (!column.isReal) {
    fourier.emitComplex(
        tile.height, /*inverse=*/true, load,
        [&](int64_t y, Complex value) { storePair(value, place(y)); });
    return;
  }
  fourier.emitRealInverse(tile.height, load, [&](int64_t i, Complex value) {
    b.store(value.re, place(2 * i));
    b.store(value.im, place(2 * i + 1));
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void TileTransform::emitForward(RowReader &reader, Sink sink) {
  if (tile.height == 1) {
    emitRow(reader, b.cst(0),
            [&](int64_t k, Complex value) { sink({b.cst(k), k == 0}, value); });
    return;
  }
  emitRows(reader);
  forColumns([&](const Column &column) { emitColumn(column, sink); });
}

void TileTransform::emitInverse(Source source, Value rows, StoreRow store) {
  if (tile.height == 1) {
    emitRowBack(
        b.cst(0), [&](int64_t k) { return source({b.cst(k), k == 0}); }, store);
    return;
  }
  forColumns([&](const Column &column) { emitColumnBack(column, source); });
  emitRowsBack(rows, store);
}

void TileTransform::emitBoth(RowReader &reader, Change change, Value rows,
                             StoreRow store) {
  auto at = [&](int64_t k) { return b.offset(buffer, 2 * k * vectorBytes()); };
  if (tile.height == 1) {
    emitRow(reader, b.cst(0), [&](int64_t k, Complex value) {
      storePair(change({b.cst(k), k == 0}, value), at(k));
    });
    emitRowBack(b.cst(0), [&](int64_t k) { return loadPair(at(k)); }, store);
    return;
  }
  emitRows(reader);
  forColumns([&](const Column &column) {
    auto place = [&](Pair pair) {
      Value inColumn = b.sub(pair.index, column.firstPair);
      return b.offset(buffer, b.mul(inColumn, 2 * vectorBytes()));
    };
    emitColumn(column, [&](Pair pair, Complex value) {
      storePair(change(pair, value), place(pair));
    });
    emitColumnBack(column, [&](Pair pair) { return loadPair(place(pair)); });
  });
  emitRowsBack(rows, store);
}
