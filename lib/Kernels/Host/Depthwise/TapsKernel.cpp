//===- TapsKernel.cpp - Depthwise rows with unrolled taps -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TapsKernel.h"

#include "Common/TensorAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

/// The values that are loaded before the loops.
struct TapsKernel::Bound {
  BoundFlatTensor in;
  VectorOutput::Bound out;
  Value filter, zeroPoint;
};

/// A row of pixels of the result.
struct TapsKernel::Row {
  const Bound &bound;
  Value inputStart; ///< of the image, in elements
  Value imageRow;   ///< the image's first row, through all images
  /// The logical channel of element 0 of a pixel, and the range of a pixel's
  /// elements to compute.
  Value blockChannel, begin, end;
  Value firstPixel; ///< of the row in the result, through all images
  SmallVector<Value> outer;
  SmallVector<WindowRange> ranges; ///< of the window in these dimensions
};

struct TapsKernel::Tile {
  const Row &row;
  Value x;           ///< its first pixel
  Value firstColumn; ///< of the input; negative in the padding
  Value count;       ///< of its pixels, or null if they all exist
  bool inside() const { return !count; }
};

std::string TapsShape::symbolPart() const {
  std::string layout = block ? ("nchw" + Twine(block) + "c").str() : "nhwc";
  return (layout + Twine(numDims) + "d_k" + Twine(kernelWidth) + "s" +
          Twine(stride) + "_w" + Twine(tile) + "v" + Twine(vectors))
      .str();
}

std::string TapsKernel::symbol() const {
  return joinSymbol({"depthwise_taps", shape.symbolPart(), input.symbolPart(),
                     output.symbolPart()});
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Rows of the filter are numbered over all dimensions except the last.
Value TapsKernel::kernelRowIndex(KernelBuilder &b, ArrayRef<Value> k) const {
  Value index = b.cst(0);
  for (auto [dim, place] : llvm::enumerate(k))
    index = b.add(b.mul(index, window.kernel(b, dim)), place);
  return index;
}

/// Column 0 of the input's row at `place`, at the first channel to compute.
Value TapsKernel::rowPointer(KernelBuilder &b, const Row &row,
                             ArrayRef<Value> place) const {
  Value offset = b.add(row.inputStart, row.begin);
  for (auto [dim, index] : llvm::enumerate(place))
    offset = b.add(offset, b.mul(index, b.getParam(inStrides + dim)));
  return row.bound.in.pointerTo(b, offset);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Loads the taps of a row for `count` vectors of channels.
SmallVector<Value> TapsKernel::loadTaps(KernelBuilder &b, const Row &row,
                                        Value kernelRow, Value c,
                                        int64_t count) const {
  int64_t lanes = shape.lanes;
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value channel = b.add(b.add(row.blockChannel, row.begin), c);
  Value cellCount = b.getParam(cells);
  Value cell = b.add(b.mul(channel, cellCount),
                     b.mul(kernelRow, shape.kernelWidth * lanes));
  SmallVector<Value> taps;
  for (int64_t v = 0; v < count; ++v) {
    Value first = b.add(cell, b.mul(cellCount, v * lanes));
    Value pointer = b.offset(row.bound.filter, b.mul(first, 4));
    for (int64_t k = 0; k < shape.kernelWidth; ++k)
      taps.push_back(b.load(b.offset(pointer, k * lanes * 4), type));
  }
  return taps;
}

/// Multiplies column `j` of the tile, at `pointer`, by all its taps.
void TapsKernel::emitColumn(KernelBuilder &b, const Bound &bound, int64_t j,
                            Value pointer, ArrayRef<Value> taps,
                            MutableArrayRef<Value> sums) const {
  int64_t lanes = shape.lanes, bytes = runtime::dtypeBytes(bound.in.dtype);
  int64_t count = static_cast<int64_t>(sums.size()) / shape.tile;
  for (int64_t v = 0; v < count; ++v) {
    Value x = emitLoad(b, bound.in.dtype, ComputeKind::F32,
                       b.offset(pointer, v * lanes * bytes), lanes);
    if (quantized)
      x = b.subF(x, bound.zeroPoint);
    for (int64_t k = 0; k < shape.kernelWidth; ++k) {
      if (!shape.sees(j, k))
        continue;
      Value &sum = sums[v * shape.tile + (j - k) / shape.stride];
      sum = b.fma(x, taps[v * shape.kernelWidth + k], sum);
    }
  }
}

/// Does so if the column lies in the input. The branch predicts well and saves
/// the products.
void TapsKernel::emitColumnIf(KernelBuilder &b, const Bound &bound,
                              Value isInside, int64_t j, Value pointer,
                              ArrayRef<Value> taps,
                              MutableArrayRef<Value> sums) const {
  SmallVector<size_t> changed;
  for (size_t at = 0; at < sums.size(); ++at)
    for (int64_t k = 0; k < shape.kernelWidth; ++k)
      if (shape.sees(j, k) &&
          static_cast<int64_t>(at) % shape.tile == (j - k) / shape.stride)
        changed.push_back(at);
  SmallVector<Value> before;
  SmallVector<Type> types;
  for (size_t at : changed) {
    before.push_back(sums[at]);
    types.push_back(sums[at].getType());
  }
  auto multiply = [&] {
    SmallVector<Value> all(sums), after;
    emitColumn(b, bound, j, pointer, taps, all);
    for (size_t at : changed)
      after.push_back(all[at]);
    return after;
  };
  SmallVector<Value> after =
      b.ifThenElse(isInside, types, multiply, [&] { return before; });
  for (auto [at, sum] : llvm::zip(changed, after))
    sums[at] = sum;
}

/// Adds the products with one row of the filter. `sums` holds a tile of pixels
/// for each vector of channels. `c` is the first channel, relative to
/// row.begin.
SmallVector<Value> TapsKernel::emitTaps(KernelBuilder &b, const Tile &tile,
                                        Value kernelRow, ArrayRef<Value> place,
                                        Value c, ValueRange sums) const {
  const Bound &bound = tile.row.bound;
  int64_t last = shape.numDims - 1;
  int64_t bytes = runtime::dtypeBytes(bound.in.dtype);
  int64_t count = static_cast<int64_t>(sums.size()) / shape.tile;
  SmallVector<Value> taps = loadTaps(b, tile.row, kernelRow, c, count);
  Value step = b.mul(b.getParam(inStrides + last), bytes);
  Value from = b.offset(rowPointer(b, tile.row, place), b.mul(c, bytes));
  from = b.offset(from, b.mul(tile.firstColumn, step));
  SmallVector<Value> next(sums);
  for (int64_t j = 0; j < shape.columns(); ++j) {
    Value pointer = b.offset(from, b.mul(step, j));
    if (tile.inside()) {
      emitColumn(b, bound, j, pointer, taps, next);
      continue;
    }
    Value isInside = b.ult(b.add(tile.firstColumn, j), window.input(b, last));
    emitColumnIf(b, bound, isInside, j, pointer, taps, next);
  }
  return next;
}

/// Stores pixel `i` of the tile: a sum for each vector of channels.
void TapsKernel::emitPixel(KernelBuilder &b, const Tile &tile, int64_t i,
                           Value c, ArrayRef<Value> sums, Value mask) const {
  const Row &row = tile.row;
  VectorPlace place;
  place.lanesAreChannels = true;
  place.lanes = shape.lanes;
  place.mask = mask;
  place.pixel = b.add(b.add(row.firstPixel, tile.x), i);
  Value first = b.add(row.begin, c);
  Value start = b.mul(place.pixel, b.getParam(pixel));
  for (auto [v, sum] : llvm::enumerate(sums)) {
    place.element = b.add(first, static_cast<int64_t>(v) * shape.lanes);
    place.offset = b.add(start, place.element);
    place.channel = b.add(row.blockChannel, place.element);
    if (shape.block)
      place.channelMask =
          b.firstLanes(b.sub(b.getParam(channels), place.channel), shape.lanes);
    row.bound.out.store(b, place, sum);
  }
}

/// Prefetches the input at the tile's place further ahead: each line once, by
/// the tile of the result that it belongs to.
void TapsKernel::emitPrefetch(KernelBuilder &b, const Tile &tile, Value c,
                              int64_t count) const {
  if (shape.numDims != 2)
    return;
  constexpr int64_t kLineBytes = 64;
  const Row &row = tile.row;
  int64_t bytes = count * shape.lanes * runtime::dtypeBytes(row.bound.in.dtype);
  Value rowPitch = b.getParam(inStrides), step = b.getParam(inStrides + 1);
  Value y = b.mul(row.outer[0], window.stride(b, 0));
  Value x = b.mul(tile.x, shape.stride);
  Value offset =
      b.add(b.add(row.inputStart, b.getParam(ahead)), b.add(row.begin, c));
  offset = b.add(offset, b.add(b.mul(y, rowPitch), b.mul(x, step)));
  for (int64_t i = 0; i < shape.stride; ++i)
    for (int64_t j = 0; j < shape.stride * shape.tile; ++j) {
      Value at = b.add(b.mul(rowPitch, i), b.mul(step, j));
      Value pointer = row.bound.in.pointerTo(b, b.add(offset, at));
      for (int64_t byte = 0; byte < bytes; byte += kLineBytes)
        LLVM::Prefetch::create(b, b.offset(pointer, byte), /*rw=*/false,
                               /*hint=*/3, /*cache=*/1);
    }
}

/// Computes `count` vectors of channels from channel `c` of the chunk.
void TapsKernel::emitGroup(KernelBuilder &b, const Tile &tile, Value c,
                           int64_t count, Value mask) const {
  emitPrefetch(b, tile, c, count);
  VectorType type = b.vec(b.getF32Type(), shape.lanes);
  SmallVector<Value> sums(count * shape.tile, b.cstLike(type, 0));
  sums = forWindow(
      b, tile.row.ranges, sums,
      [&](ArrayRef<Value> k, ArrayRef<Value> place, ValueRange soFar) {
        return emitTaps(b, tile, kernelRowIndex(b, k), place, c, soFar);
      });
  if (quantized)
    for (int64_t v = 0; v < count; ++v) {
      Value channel = b.add(b.add(tile.row.blockChannel, tile.row.begin),
                            b.add(c, v * shape.lanes));
      Value scale =
          b.load(b.offset(b.getBuffer(scaleBuffer), b.mul(channel, 4)), type);
      for (int64_t i = 0; i < shape.tile; ++i)
        sums[v * shape.tile + i] = b.mulF(sums[v * shape.tile + i], scale);
    }
  auto storePixel = [&](int64_t i) {
    SmallVector<Value> ofPixel;
    for (int64_t v = 0; v < count; ++v)
      ofPixel.push_back(sums[v * shape.tile + i]);
    emitPixel(b, tile, i, c, ofPixel, mask);
  };
  auto storeAll = [&] {
    for (int64_t i = 0; i < shape.tile; ++i)
      storePixel(i);
  };
  if (tile.inside())
    return storeAll();
  auto storeSome = [&] {
    for (int64_t i = 0; i + 1 < shape.tile; ++i)
      b.ifThen(b.slt(b.cst(i), tile.count), [&] { storePixel(i); });
  };
  b.ifThenElse(b.slt(tile.count, b.cst(shape.tile)), storeSome, storeAll);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void TapsKernel::emitTile(KernelBuilder &b, const Tile &tile) const {
  Value size = b.sub(tile.row.end, tile.row.begin);
  int64_t lanes = shape.lanes, step = lanes * shape.vectors;
  Value rest = b.mul(b.div(size, step), step);
  b.forLoop(b.cst(0), rest, b.cst(step), [&](Value c) {
    emitGroup(b, tile, c, shape.vectors, /*mask=*/nullptr);
  });
  // Blocks are whole groups.
  if (!shape.block)
    b.forLoop(rest, size, b.cst(lanes), [&](Value c) {
      emitGroup(b, tile, c, /*count=*/1, b.firstLanes(b.sub(size, c), lanes));
    });
}

void TapsKernel::emitRow(KernelBuilder &b, Row &row, Value index,
                         Value firstTile, Value lastTile) const {
  int64_t last = shape.numDims - 1;
  Value width = b.getParam(outDims + last);
  row.firstPixel = b.mul(b.add(row.imageRow, index), width);
  row.outer.resize(last);
  for (int64_t dim = last - 1; dim >= 0; --dim) {
    Value size = b.getParam(outDims + dim);
    row.outer[dim] = b.rem(index, size);
    index = b.div(index, size);
  }
  row.ranges.clear();
  for (int64_t dim = 0; dim < last; ++dim)
    row.ranges.push_back(window.at(b, dim, row.outer[dim]));
  b.forLoop(firstTile, lastTile, b.cst(1), [&](Value number) {
    Value x = b.mul(number, shape.tile);
    Value column = window.inside(b, last, x).start;
    Value isInside =
        b.ult(b.sub(number, b.getParam(insideBegin)), b.getParam(insideCount));
    b.ifThenElse(
        isInside, [&] { emitTile(b, {row, x, column, Value()}); },
        [&] { emitTile(b, {row, x, column, b.sub(width, x)}); });
  });
}

/// Computes a chunk of the channels of a block of rows.
void TapsKernel::emitTask(KernelBuilder &b, const Bound &bound,
                          Value task) const {
  Value chunkSize = b.getParam(chunk), numChunks = b.getParam(chunks);
  Value pixelSize = b.getParam(pixel), imageRows = b.getParam(rows);
  Row row{bound, Value(), Value(), Value(), Value(), Value(), Value(), {}, {}};
  row.begin = b.mul(b.rem(task, numChunks), chunkSize);
  row.end = b.minS(b.add(row.begin, chunkSize), pixelSize);
  Value index = b.div(task, numChunks), numBlocks = b.getParam(rowBlocks);
  Value firstRow = b.mul(b.rem(index, numBlocks), b.getParam(blockRows));
  Value lastRow = b.minS(b.add(firstRow, b.getParam(blockRows)), imageRows);
  Value image = b.div(index, numBlocks);
  row.inputStart = b.mul(image, b.getParam(inImage));
  row.imageRow = b.mul(image, imageRows);
  row.blockChannel = shape.block
                         ? b.mul(b.rem(image, b.getParam(blocks)), pixelSize)
                         : b.cst(0);
  Value numTiles = b.getParam(tiles), strip = b.getParam(stripTiles);
  b.forLoop(b.cst(0), numTiles, strip, [&](Value firstTile) {
    Value lastTile = b.minS(b.add(firstTile, strip), numTiles);
    b.forLoop(firstRow, lastRow, b.cst(1), [&](Value rowIndex) {
      emitRow(b, row, rowIndex, firstTile, lastTile);
    });
  });
}

void TapsKernel::emit(KernelBuilder &b) const {
  Bound bound{input.bind(b), output.bind(b), b.getBuffer(filterBuffer),
              Value()};
  if (quantized)
    bound.zeroPoint = b.broadcast(bound.in.zeroPoint, shape.lanes);
  b.forTasks([&](Value task) { emitTask(b, bound, task); });
}
