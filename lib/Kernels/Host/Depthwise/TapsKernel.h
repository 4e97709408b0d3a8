//===- TapsKernel.h - Depthwise rows with unrolled taps ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of depthwise-conv-taps. The result is computed in tiles of a few
// pixels of a row and one or two vectors of channels, which stay in registers.
// For each row of the filter its taps are loaded once, and each vector of the
// input once for all its taps. Tiles whose windows leave the image skip the
// columns of the padding; all tiles skip its rows.
//
// The loops: tasks are blocks of rows, or chunks of their channels. The loops
// of a task run over strips of tiles, then rows, then the tiles of a strip,
// then their vectors of channels. While a tile is computed, the lines that will
// be read later are prefetched.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_DEPTHWISE_TAPSKERNEL_H
#define TARPON_LIB_KERNELS_HOST_DEPTHWISE_TAPSKERNEL_H

#include "Common/VectorAccess.h"
#include "Common/Window.h"

namespace tarpon {

/// The sizes that the code is specialised on, beside dtypes and epilogue.
struct TapsShape {
  int64_t tile;    ///< pixels
  int64_t vectors; ///< of channels, at once
  int64_t lanes;
  int64_t kernelWidth, stride; ///< along a row
  int64_t numDims;             ///< spatial
  int64_t block;               ///< channels in a block, 0 for nhwc

  /// The number of input columns that a tile reads.
  int64_t columns() const { return (tile - 1) * stride + kernelWidth; }
  /// Returns true if a pixel of the tile has tap `k` at column `j`.
  bool sees(int64_t j, int64_t k) const {
    return j >= k && (j - k) % stride == 0 && (j - k) / stride < tile;
  }
  std::string symbolPart() const;
};

struct TapsKernel {
  TapsShape shape;
  bool quantized;
  FlatTensor input;
  VectorOutput output;
  Window window;
  // Indices of buffers. The filter is [vector of channels][cell][lane] in f32.
  int64_t filterBuffer, scaleBuffer;
  // Indices of parameters: of one, or of the first of several. Strides are in
  // elements.
  int64_t inStrides, inImage, outDims;
  int64_t pixel;            ///< elements of a pixel of the result
  int64_t blocks, channels; ///< blocks of channels, and logical channels
  int64_t cells;            ///< of a channel's filter
  int64_t rows, blockRows, rowBlocks;
  int64_t tiles, stripTiles, insideBegin, insideCount;
  int64_t chunk, chunks;
  int64_t ahead; ///< elements from what a tile reads to what it asks for

  std::string symbol() const;
  void emit(KernelBuilder &b) const;

private:
  using Value = mlir::Value;
  struct Bound;
  struct Row;
  struct Tile;

  void emitTask(KernelBuilder &b, const Bound &bound, Value task) const;
  void emitRow(KernelBuilder &b, Row &row, Value index, Value firstTile,
               Value lastTile) const;
  void emitTile(KernelBuilder &b, const Tile &tile) const;
  void emitGroup(KernelBuilder &b, const Tile &tile, Value c, int64_t count,
                 Value mask) const;
  void emitPrefetch(KernelBuilder &b, const Tile &tile, Value c,
                    int64_t count) const;
  llvm::SmallVector<Value> emitTaps(KernelBuilder &b, const Tile &tile,
                                    Value kernelRow,
                                    llvm::ArrayRef<Value> place, Value c,
                                    mlir::ValueRange sums) const;
  llvm::SmallVector<Value> loadTaps(KernelBuilder &b, const Row &row,
                                    Value kernelRow, Value c,
                                    int64_t count) const;
  void emitColumn(KernelBuilder &b, const Bound &bound, int64_t j,
                  Value pointer, llvm::ArrayRef<Value> taps,
                  llvm::MutableArrayRef<Value> sums) const;
  void emitColumnIf(KernelBuilder &b, const Bound &bound, Value isInside,
                    int64_t j, Value pointer, llvm::ArrayRef<Value> taps,
                    llvm::MutableArrayRef<Value> sums) const;
  Value kernelRowIndex(KernelBuilder &b, llvm::ArrayRef<Value> k) const;
  Value rowPointer(KernelBuilder &b, const Row &row,
                   llvm::ArrayRef<Value> place) const;
  void emitPixel(KernelBuilder &b, const Tile &tile, int64_t i, Value c,
                 llvm::ArrayRef<Value> sums, Value mask) const;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_DEPTHWISE_TAPSKERNEL_H
