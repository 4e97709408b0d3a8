//===- KernelEmitter.h - Emits an implicit GEMM kernel ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_KERNELEMITTER_H
#define TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_KERNELEMITTER_H

#include "ImplicitGemm.h"
#include "TileTaps.h"

namespace tarpon::igemm {

/// Packs the input pixels of one tile; PackEmitter.cpp.
class PackEmitter {
public:
  using Value = mlir::Value;

  /// `fill` points to one line of the padding value.
  PackEmitter(KernelBuilder &b, const KernelSpec &spec, Value fill);

  /// Packs output pixels [first, first + count) of one image and group, whose
  /// input starts at `input`, into `panel`. All values are i64 or pointers.
  /// `taps` matters only if the kernel skips others.
  void emit(Value input, Value first, Value count, Value panel,
            const TapList &taps);

private:
  /// The address that a tap is read from, and the bytes from one piece to the
  /// next.
  struct Source {
    Value pointer, step;
  };

  /// The window of one output pixel: its first row, column and slice in the
  /// input (a slice only if there is a depth), and its place in the panel.
  struct Window {
    Value input, top, left, front, destination;
  };

  void emitPixels(Value input, Value first, Value count, Value panel);
  using PackWindow = llvm::function_ref<void(const Window &window)>;
  void emitWindows(Value input, Value first, Value count, Value panel,
                   PackWindow packWindow);
  void emitListedTaps(const Window &window, const TapList &taps);
  void emitLineWindow(const Window &window);
  void emitPieceWindow(const Window &window);
  void emitMergedRow(const Window &window, Value y, Value x, Value inside,
                     Value unit);
  void forKernelRows(
      const Window &window,
      llvm::function_ref<void(Value kernelRow, Value y, Value inside)> body);
  Source getSource(Value input, Value y, Value x, Value inside);
  void emitLines(Source source, Value lines, Value destination);
  void emitPieces(Source source, Value from, Value to, Value destination,
                  Value unit);
  Value loadPiece(Value source, Value mask);
  void storePiece(Value piece, Value destination, Value unit, Value units);
  Value toUnits(Value elements);
  Value param(Param p) { return params[p]; }

  KernelBuilder &b;
  const KernelSpec &spec;
  Value fill;
  mlir::SmallVector<Value> params;
};

/// Reads and writes the register tile of one place in a tensor that has the
/// shape of the result; TileAccess.cpp. tile[p][v] holds, for pixel p, vector v
/// of the tile's channels, in f32.
class TileAccess {
public:
  using Value = mlir::Value;
  using Tile = std::vector<mlir::SmallVector<Value>>;

  /// The place of a tile: its image, the first pixel in it, the pixels and
  /// channels that exist, and the first channel of all groups.
  struct Place {
    Value image, pixel, pixels, channel, channels;
    /// The number of pixels in the tile, existing or not.
    int64_t rows;
    /// True if the tile is known to be whole: all its pixels and channels
    /// exist.
    bool full = false;
    /// The distance between two pixels of the tile, in pixels; null if they are
    /// neighbours. In nchw they are.
    Value step = nullptr;
  };

  TileAccess(KernelBuilder &b, const KernelSpec &spec, DType dtype,
             const Layout &layout, Value base, Value resultChannels,
             Value outPixels);

  /// One register of the tile if channels are innermost; without a mask if it
  /// is whole.
  struct Cell {
    Value pointer, mask;
  };

  bool isChannelsFirst() const { return layout.kind == Layout::NCHW; }
  /// The cells [p][v]; only if channels are innermost.
  std::vector<mlir::SmallVector<Cell>> getCells(const Place &place);
  Value load(const Cell &cell);
  void store(Value value, const Cell &cell);
  /// Loads the whole tile; only if pixels are innermost.
  Tile load(const Place &place);
  void store(const Tile &tile, const Place &place);
  /// Prefetches the lines of the tile; does nothing in nchw, where pixels of a
  /// tile are contiguous and the hardware prefetches.
  void prefetch(const Place &place, bool write);

private:
  using Visit =
      llvm::function_ref<void(int64_t p, int64_t v, Value pointer, Value mask)>;
  int64_t vectors() const { return spec.tileN / b.lanes(); }
  void forPixelVectors(const Place &place, Visit visit);
  Value channelVectorBase(const Place &place, int64_t v);

  KernelBuilder &b;
  const KernelSpec &spec;
  DType dtype;
  Layout layout;
  Value base, resultChannels, outPixels;
};

/// acc += a * w in each lane's unit: fma, vdpbf16ps, vpdpbusd or a replacement
/// for it; OuterProduct.cpp.
mlir::Value multiplyAdd(KernelBuilder &b, Arith arith, mlir::Value a,
                        mlir::Value w, mlir::Value acc);

/// Multiplies a register tile by one unit of K; OuterProduct.cpp.
class OuterProduct {
public:
  using Value = mlir::Value;

  /// The filter is stored in `filterDtype` where the arithmetic is F32, else in
  /// units.
  OuterProduct(KernelBuilder &b, Arith arith, DType filterDtype,
               int64_t vectors)
      : b(b), arith(arith), filterDtype(filterDtype), vectors(vectors) {}

  /// The type in which a pixel's unit is loaded, to be broadcast.
  mlir::Type unitType();
  /// sums[p * vectors + v] += unit of pixel p * vector v of the unit's weights,
  /// which are consecutive from `weights` on.
  void emit(Value weights, llvm::function_ref<Value(int64_t p)> loadUnit,
            mlir::MutableArrayRef<Value> sums);

private:
  Value loadWeights(Value weights, int64_t vector);

  KernelBuilder &b;
  Arith arith;
  DType filterDtype;
  int64_t vectors;
};

/// Loads a number of the table that a batch has for each image; see
/// KernelSpec::tableColumns.
mlir::Value loadTableEntry(KernelBuilder &b, const KernelSpec &spec,
                           mlir::Value table, mlir::Value image,
                           int64_t column);

/// Turns accumulators into the stored result: scales, epilogue, requantisation;
/// ResultEmitter.cpp. Accumulator [p][v] is at p * vectors + v.
class ResultEmitter {
public:
  using Value = mlir::Value;

  /// Reads the parameters. The operands of the epilogue are bound from
  /// `firstBuffer` on, the result behind them; `scales` is the table of
  /// factors per channel (null unless the arithmetic is I8Dot), `table` that of
  /// a batch.
  ResultEmitter(KernelBuilder &b, const KernelSpec &spec, int64_t firstBuffer,
                Value scales, Value table = nullptr);

  /// Emits the tile whose entries of the per-channel tables start at
  /// `tableOffset`.
  void emit(llvm::ArrayRef<Value> accumulators, Value tableOffset,
            TileAccess::Place place);
  /// Prefetches the lines that emit() will read and write.
  void emitPrefetch(const TileAccess::Place &place);

private:
  using Tile = TileAccess::Tile;
  /// The values that all pixels of a tile share: the factors of integer sums
  /// [v], and the operands of the epilogue that are no tensors [operand][v].
  struct PerChannel {
    mlir::SmallVector<Value> factors;
    std::vector<mlir::SmallVector<Value>> operands;
  };
  /// The place of an operand in memory, from the table: the first element of
  /// an image, and the elements from one pixel to the next.
  struct ImageRows {
    Value element, stride;
  };
  using LoadTensor = llvm::function_ref<Value(size_t operand)>;

  int64_t vectors() const { return spec.tileN / b.lanes(); }
  void finish(llvm::ArrayRef<Value> accumulators, Value tableOffset,
              const TileAccess::Place &place);
  void finishRows(llvm::ArrayRef<Value> accumulators,
                  const PerChannel &perChannel, const TileAccess::Place &place);
  void finishTile(llvm::ArrayRef<Value> accumulators,
                  const PerChannel &perChannel, const TileAccess::Place &place);
  PerChannel loadPerChannel(Value tableOffset, const TileAccess::Place &place);
  Value loadPerChannel(size_t index, const TileAccess::Place &place, int64_t v);
  Value apply(Value sum, int64_t v, const PerChannel &perChannel,
              LoadTensor loadTensor);
  ImageRows getImageRows(size_t index, const TileAccess::Place &place);
  Value loadFromTable(size_t index, const ImageRows &rows,
                      const TileAccess::Place &place, int64_t p, int64_t v);
  Value dequantize(size_t index, Value value);
  bool isTensor(size_t index) const {
    return spec.operands[index].kind == AccessKind::Tensor;
  }
  bool isPerPixel(size_t index) const {
    return isTensor(index) || isInTable(spec.operands[index].kind);
  }
  TileAccess accessToOperand(size_t index) {
    return accessTo(spec.operands[index].dtype, operandBuffers[index]);
  }
  TileAccess accessTo(DType dtype, Value base);

  KernelBuilder &b;
  const KernelSpec &spec;
  Value scales, table, result, inverseScale, zeroPoint, resultChannels,
      outPixels;
  mlir::SmallVector<Value> epilogueParams, operandBuffers;
  /// The factor and the summand of each operand.
  mlir::SmallVector<std::pair<Value, Value>> operandScales;
};

} // namespace tarpon::igemm

#endif // TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_KERNELEMITTER_H
