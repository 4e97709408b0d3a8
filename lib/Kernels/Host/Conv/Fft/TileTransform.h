//===- TileTransform.h - Fourier transforms of tiles ---------- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transforms a tile of one vector of channels, row by row and then column by
// column. The transformed rows lie in a plane of memory: row y holds the pairs
// of its spectrum (Fourier.h), whose first two numbers are those of the real
// columns 0 and width / 2. The pairs of the tile's spectrum are numbered
//
//   0 to height / 2             of column 0, whose pair 0 is real
//   height / 2 to height        of column width / 2, likewise
//   height k + (0 to height)    of column k, all complex
//
// A tile of one row has the pairs of its row.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_FFT_TILETRANSFORM_H
#define TARPON_LIB_KERNELS_HOST_CONV_FFT_TILETRANSFORM_H

#include "Fft.h"
#include "Fourier.h"

namespace tarpon::fft {

/// The input of a tile.
class RowReader {
public:
  virtual ~RowReader() = default;
  /// Returns, as code, whether row y has pixels that are not padding.
  virtual Value exists(Value y) = 0;
  /// Prepares reading a row that exists.
  virtual void open(Value y) = 0;
  /// Pixel x of the open row.
  virtual Value load(int64_t x) = 0;
};

class TileTransform {
public:
  /// `memory` holds memoryBytes() bytes.
  TileTransform(KernelBuilder &b, const TileShape &tile, Value memory);
  static int64_t memoryBytes(const TileShape &tile);

  /// A pair of the spectrum; see above.
  struct Pair {
    Value index;
    bool isReal;
  };
  using Sink = llvm::function_ref<void(Pair pair, Complex value)>;
  using Source = llvm::function_ref<Complex(Pair pair)>;
  /// Row y of the result as lines of one pixel.
  using StoreRow = llvm::function_ref<void(Value y, Value line)>;
  using Change = llvm::function_ref<Complex(Pair pair, Complex value)>;

  void emitForward(RowReader &reader, Sink sink);
  /// Transforms back, and stores the first `rows` rows.
  void emitInverse(Source source, Value rows, StoreRow store);
  /// Transforms in both directions, with every pair changed in between.
  void emitBoth(RowReader &reader, Change change, Value rows, StoreRow store);

  /// The lines of a row of pixels, which are free while a row is opened.
  Value getLine() { return line; }

private:
  /// A column of the plane and its pairs.
  struct Column {
    bool isReal;
    Value firstPair, byte;
  };

  int64_t vectorBytes() const { return 4 * b.lanes(); }
  Value rowOf(Value y);
  Value rowOf(int64_t y) { return rowOf(b.cst(y)); }
  Value loadVector(Value pointer);
  Complex loadPair(Value pointer);
  void storePair(Complex value, Value pointer);
  void emitRows(RowReader &reader);
  void emitRow(RowReader &reader, Value y, Fourier::Store store);
  void emitRowBack(Value y, Fourier::Load load, StoreRow store);
  void emitRowsBack(Value rows, StoreRow store);
  void forColumns(llvm::function_ref<void(Column column)> body);
  void emitColumn(const Column &column, Sink sink);
  void emitColumnBack(const Column &column, Source source);

  KernelBuilder &b;
  TileShape tile;
  Value line, buffer, plane;
  Fourier fourier;
};

} // namespace tarpon::fft

#endif // TARPON_LIB_KERNELS_HOST_CONV_FFT_TILETRANSFORM_H
