//===- KernelEmitter.cpp - Emits an implicit GEMM kernel ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One task packs the pixel tiles of a block; then, for each tile of channels
// and each packed tile, it multiplies, applies the epilogue and stores. If K is
// so long that the panels do not stay in the L2, this is done in blocks of K,
// between which the sums are kept in memory. Sums in AMX's tile registers pass
// through memory after every product.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "AmxProduct.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

namespace {

class KernelEmitter {
public:
  KernelEmitter(KernelBuilder &b, const KernelSpec &spec);
  void emit();

private:
  /// The work between two changes of panels: the pixel tiles of the
  /// task, its tiles of channels, and lines of K.
  struct Block {
    Value image, group, firstTile, lastTile, firstChannels, lastChannels;
    Value firstLine, lastLine;
    /// The input of the image and group.
    Value source;
  };

  /// The operands of one register tile: its panels, the data to prefetch, the
  /// place of its sums between blocks of K, and the place of its channels in
  /// the initial sums of each filter and in the per-channel tables.
  struct Operands {
    Value panel, filter, ahead, partial, startOffset, tableOffset;
    TapList taps;
  };

  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tileN / b.lanes(); }
  /// The pixels of AMX's sums that are finished at a time: vectors for all of
  /// them would not fit the registers. In nchw whole vectors are transposed.
  int64_t rowsPerPart() const {
    return spec.resultLayout.kind == Layout::NCHW ? b.lanes() : kAmxTile / 2;
  }

  int64_t filterLineBytes() const {
    return kLineUnits * spec.tileN * spec.filterUnitBytes();
  }
  int64_t partialBytes() const { return spec.tileM * spec.tileN * kUnitBytes; }
  /// The number of products that prefetch the filter of the next tile:
  /// prefetching more at a time than the memory delivers would delay the loads
  /// of this tile.
  int64_t prefetchParts() const { return spec.tileM >= 6 ? 4 : 1; }
  /// A product prefetches a part of consecutive lines, or, of the lines that it
  /// does not skip, a part of each.
  Value partBytes(const Block &block) {
    int64_t bytes = filterLineBytes() / prefetchParts();
    if (spec.skipsTaps)
      return b.cst(bytes);
    return b.mul(b.sub(block.lastLine, block.firstLine), bytes);
  }
  TapList getTaps(Value tile) {
    return spec.skipsTaps ? TapList(b, table, tile) : TapList();
  }
  VectorType accumulatorType() {
    return b.vec(spec.arith == Arith::I8Dot ? Type(b.getI32Type()) : b.f32(),
                 b.lanes());
  }

  void fillPaddingLine();
  Value emitTask(Value task, Value packed);
  void emitPack(Value source, Value firstTile, Value lastTile);
  void emitChannelTile(const Block &block, Value channelTile);
  void emitRows(Value pixels, llvm::function_ref<void(int64_t)> body);
  Value getFilterAhead(const Block &block, Value channelTile, Value filterTile);
  Value getInputAhead(const Block &block, Value channelTile);
  void emitPixelTile(const Block &block, const Operands &operands,
                     const TileAccess::Place &place);
  void emitAmxTile(const Block &block, const Operands &operands,
                   const TileAccess::Place &place);
  TileAccess::Place getPart(const TileAccess::Place &place, Value row);
  void finishFromMemory(const Operands &operands,
                        const TileAccess::Place &place);
  Value getPartial(Value tile);
  SmallVector<Value> loadPartial(Value partial, int64_t count);
  void storePartial(ArrayRef<Value> sums, Value partial);
  SmallVector<Value> emitProduct(const Block &block, const Operands &operands,
                                 ArrayRef<Value> start);
  SmallVector<Value> emitLines(const Block &block, const Operands &operands,
                               Value first, Value last, ValueRange start);
  SmallVector<Value> emitAmxLine(Value a, Value w, Value ahead,
                                 ValueRange sums);
  void emitPrefetch(Value ahead, int64_t units = kUnroll);
  SmallVector<Value> emitSteps(Value a, Value w, ValueRange accumulators);
  SmallVector<Value> startValues(Value startOffset, int64_t rows);

  KernelBuilder &b;
  const KernelSpec &spec;
  SmallVector<Value> params;
  std::optional<ResultEmitter> results;
  Value input, filter, scales, starts, table;
  Value panels, partials, fill, panelBytes, filterTileBytes;
};

} // namespace

KernelEmitter::KernelEmitter(KernelBuilder &b, const KernelSpec &spec)
    : b(b), spec(spec) {
  for (int64_t p = 0; p < NumParams; ++p)
    params.push_back(p == ResultInverseScale || p == ResultZeroPoint
                         ? b.getFloatParam(p)
                         : b.getParam(p));
  int64_t buffer = 0;
  input = b.getBuffer(buffer++);
  filter = b.getBuffer(buffer++);
  if (spec.arith == Arith::I8Dot) {
    scales = b.getBuffer(buffer++);
    starts = b.getBuffer(buffer++);
  }
  if (spec.batched || spec.skipsTaps)
    table = b.getBuffer(buffer++);
  results.emplace(b, spec, buffer, scales, table);

  panelBytes = b.mul(param(Lines), spec.tileM * kLineBytes);
  filterTileBytes = b.mul(param(Lines), filterLineBytes());
  fill = b.getScratch();
  panels = b.offset(fill, kLineBytes);
  partials = b.offset(panels, b.mul(param(BlockM), panelBytes));
}

void KernelEmitter::emit() {
  fillPaddingLine();
  b.forLoop(b.getBegin(), b.getEnd(), b.cst(1), b.cst(-1),
            [&](Value task, ValueRange packed) -> SmallVector<Value> {
              return {emitTask(task, packed[0])};
            });
}

void KernelEmitter::fillPaddingLine() {
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), param(FillByte));
  b.store(b.broadcast(byte, kLineBytes), fill);
}

/// Returns the number of the panels that are packed now, of which `packed` were
/// before.
Value KernelEmitter::emitTask(Value task, Value packed) {
  // Neighbouring tasks share the filter: pixel blocks run fastest.
  Value pixelBlock = b.rem(task, param(PixelBlocks));
  Value rest = b.div(task, param(PixelBlocks));
  Value channelBlock = b.rem(rest, param(ChannelBlocks));
  rest = b.div(rest, param(ChannelBlocks));
  Value panelsNumber = b.add(b.mul(rest, param(PixelBlocks)), pixelBlock);
  Value group = b.rem(rest, param(Groups));
  Value image = b.div(rest, param(Groups));

  Value firstTile = b.mul(pixelBlock, param(BlockM));
  Value lastTile = b.minS(b.add(firstTile, param(BlockM)), param(PixelTiles));
  Value imageBytes = spec.batched ? loadTableEntry(b, spec, table, image, 0)
                                  : b.mul(image, param(InputImageBytes));
  Value source =
      b.offset(input, b.add(imageBytes, b.mul(group, param(InputGroupBytes))));
  b.ifThen(b.cmp(KernelBuilder::Pred::ne, panelsNumber, packed),
           [&] { emitPack(source, firstTile, lastTile); });

  Value firstChannels = b.mul(channelBlock, param(BlockN));
  Value lastChannels =
      b.minS(b.add(firstChannels, param(BlockN)), param(ChannelTiles));
  b.forLoop(param(KBlocks), [&](Value kBlock) {
    Value firstLine = b.mul(kBlock, param(BlockLines));
    Value lastLine = b.minS(b.add(firstLine, param(BlockLines)), param(Lines));
    Block block = {image,        group,     firstTile, lastTile, firstChannels,
                   lastChannels, firstLine, lastLine,  source};
    b.forLoop(firstChannels, lastChannels, b.cst(1),
              [&](Value channelTile) { emitChannelTile(block, channelTile); });
  });
  return panelsNumber;
}

void KernelEmitter::emitPack(Value source, Value firstTile, Value lastTile) {
  PackEmitter pack(b, spec, fill);
  b.forLoop(firstTile, lastTile, b.cst(1), [&](Value tile) {
    Value first = b.mul(tile, spec.tileM);
    Value count = b.minS(b.cst(spec.tileM), b.sub(param(OutPixels), first));
    Value index = b.sub(tile, firstTile);
    pack.emit(source, first, count, b.offset(panels, b.mul(index, panelBytes)),
              getTaps(tile));
  });
}

void KernelEmitter::emitChannelTile(const Block &block, Value channelTile) {
  Value firstOfGroup = b.mul(block.group, param(ChannelTiles));
  Value tileIndex = b.add(firstOfGroup, channelTile);
  Value filterIndex = tileIndex;
  if (spec.batched) {
    Value index = loadTableEntry(b, spec, table, block.image, 1);
    filterIndex = b.add(tileIndex, b.mul(index, param(ChannelTiles)));
  }
  Value filterTile = b.offset(filter, b.mul(filterIndex, filterTileBytes));
  Value channelInGroup = b.mul(channelTile, spec.tileN);
  Value channel = b.add(b.mul(block.group, param(OutChannels)), channelInGroup);
  Value channels = b.sub(param(OutChannels), channelInGroup);
  Value firstPartial =
      b.mul(b.sub(channelTile, block.firstChannels), param(BlockM));
  auto ahead = [&, filterAhead = getFilterAhead(block, channelTile, filterTile),
                inputAhead = getInputAhead(block, channelTile)](Value index) {
    // Each pixel tile prefetches its part.
    Value part = b.minS(index, b.cst(prefetchParts() - 1));
    Value tileBytes = b.mul(param(InputPixelBytes), spec.tileM);
    return b.select(b.eq(param(AsksForInput), b.cst(1)),
                    b.offset(inputAhead, b.mul(index, tileBytes)),
                    b.offset(filterAhead, b.mul(part, partBytes(block))));
  };
  b.forLoop(block.firstTile, block.lastTile, b.cst(1), [&](Value tile) {
    Value index = b.sub(tile, block.firstTile);
    Value pixel = b.mul(tile, spec.tileM);
    Value pixels = b.sub(param(OutPixels), pixel);
    Value partial = getPartial(b.add(firstPartial, index));
    Operands operands = {b.offset(panels, b.mul(index, panelBytes)),
                         filterTile,
                         ahead(index),
                         partial,
                         b.mul(filterIndex, spec.tileN * 4),
                         b.mul(tileIndex, spec.tileN * 4),
                         getTaps(tile)};
    auto emitTile = [&](int64_t rows) {
      // No lane beyond the tile may be stored: it belongs to another task.
      TileAccess::Place place = {
          block.image, pixel,    b.minS(pixels, b.cst(rows)),
          channel,     channels, rows};
      if (spec.amx)
        emitAmxTile(block, operands, place);
      else
        emitPixelTile(block, operands, place);
    };
    emitRows(pixels, emitTile);
  });
}

/// Calls `body` for as many rows as `pixels` need: those of a tile or of its
/// tail, or one. A matrix product of one row reads its filter from memory, and
/// superfluous rows would slow its loads down. AMX multiplies 16 rows at least.
void KernelEmitter::emitRows(Value pixels,
                             llvm::function_ref<void(int64_t)> body) {
  if (spec.tileM == 1)
    return body(1);
  auto emitMany = [&] {
    int64_t tail = tailM(spec.tileM);
    if (tail == 0 || (spec.amx && tail < kAmxTile))
      return body(spec.tileM);
    b.ifThenElse(
        b.slt(b.cst(tail), pixels), [&] { body(spec.tileM); },
        [&] { body(tail); });
  };
  if (spec.amx)
    return emitMany();
  b.ifThenElse(b.eq(pixels, b.cst(1)), [&] { body(1); }, emitMany);
}

/// The data to prefetch if the filter stays in the cache and the pixels are
/// contiguous: the input of the next block of pixels.
Value KernelEmitter::getInputAhead(const Block &block, Value channelTile) {
  Value tileBytes = b.mul(param(InputPixelBytes), spec.tileM);
  Value next = b.offset(block.source, b.mul(block.lastTile, tileBytes));
  // Each product prefetches its part of a tile.
  Value done = b.mul(b.sub(channelTile, block.firstChannels), partBytes(block));
  return b.offset(next, b.minS(done, tileBytes));
}

/// The part of the filter to prefetch. While the tiles of a block are
/// multiplied by a tile of the filter, the next one is prefetched: the filters
/// of a model are read once per run, from memory, and spreading that over the
/// products costs no time. A lone tile reads its filter once, and prefetches
/// the data that it needs soon.
Value KernelEmitter::getFilterAhead(const Block &block, Value channelTile,
                                    Value filterTile) {
  constexpr int64_t kSoonBytes = 8192;
  Value here = b.offset(filterTile, b.mul(block.firstLine, filterLineBytes()));
  Value next = b.add(channelTile, 1);
  Value toFirst = b.sub(block.firstChannels, channelTile);
  // Behind the last tile comes the first one again, with the next block of K.
  Value nextBlock =
      b.offset(b.offset(filterTile, b.mul(toFirst, filterTileBytes)),
               b.mul(block.lastLine, filterLineBytes()));
  Value inBlock = b.slt(next, block.lastChannels);
  Value ahead = b.select(inBlock, b.offset(here, filterTileBytes), nextBlock);
  Value isLone = b.eq(b.sub(block.lastTile, block.firstTile), b.cst(1));
  return b.select(isLone, b.offset(here, kSoonBytes), ahead);
}

void KernelEmitter::emitPixelTile(const Block &block, const Operands &operands,
                                  const TileAccess::Place &place) {
  Value isFirst = b.eq(block.firstLine, b.cst(0));
  Value isLast = b.eq(block.lastLine, param(Lines));
  int64_t count = place.rows * vectors();
  SmallVector<Type> types(count, accumulatorType());
  SmallVector<Value> start = b.ifThenElse(
      isFirst, types,
      [&] { return startValues(operands.startOffset, place.rows); },
      [&] { return loadPartial(operands.partial, count); });
  b.ifThen(isLast, [&] { results->emitPrefetch(place); });
  SmallVector<Value> sums = emitProduct(block, operands, start);
  b.ifThenElse(
      isLast, [&] { results->emit(sums, operands.tableOffset, place); },
      [&] { storePartial(sums, operands.partial); });
}

/// The place of a tile's sums. AMX's sums need one even if K is one block.
Value KernelEmitter::getPartial(Value tile) {
  Value bytes = b.mul(tile, partialBytes());
  if (spec.amx)
    bytes = b.select(b.eq(param(KBlocks), b.cst(1)), b.cst(0), bytes);
  return b.offset(partials, bytes);
}

void KernelEmitter::emitAmxTile(const Block &block, const Operands &operands,
                                const TileAccess::Place &place) {
  AmxProduct product(b, spec, place.rows);
  Value isFirst = b.eq(block.firstLine, b.cst(0));
  Value isLast = b.eq(block.lastLine, param(Lines));
  // All pixels start from one row. Floats start from zero, as the padding is.
  bool isFloat = spec.arith != Arith::I8Dot;
  Value start = isFloat ? fill : b.offset(starts, operands.startOffset);
  Value from = b.select(isFirst, start, operands.partial);
  Value rowBytes = b.select(isFirst, b.cst(0), b.cst(product.sumRowBytes()));
  Value tileBytes = b.cst(kLineBytes);
  if (isFloat)
    tileBytes = b.select(isFirst, b.cst(0), tileBytes);
  b.ifThen(isLast, [&] {
    b.forLoop(b.cst(0), b.cst(place.rows), b.cst(rowsPerPart()),
              [&](Value row) { results->emitPrefetch(getPart(place, row)); });
  });
  SmallVector<Value> sums =
      emitProduct(block, operands, product.loadSums(from, rowBytes, tileBytes));
  product.storeSums(sums, operands.partial);
  b.ifThen(isLast, [&] { finishFromMemory(operands, place); });
}

/// The pixels of a tile from a row on.
TileAccess::Place KernelEmitter::getPart(const TileAccess::Place &place,
                                         Value row) {
  TileAccess::Place part = place;
  part.rows = rowsPerPart();
  part.pixel = b.add(place.pixel, row);
  part.pixels = b.minS(b.sub(place.pixels, row), b.cst(part.rows));
  return part;
}

/// Finishes a tile whose sums are in memory.
void KernelEmitter::finishFromMemory(const Operands &operands,
                                     const TileAccess::Place &place) {
  auto finish = [&](bool whole) {
    b.forLoop(b.cst(0), place.pixels, b.cst(rowsPerPart()), [&](Value row) {
      TileAccess::Place part = getPart(place, row);
      part.full = whole;
      Value sums =
          b.offset(operands.partial, b.mul(row, spec.tileN * kUnitBytes));
      results->emit(loadPartial(sums, part.rows * vectors()),
                    operands.tableOffset, part);
    });
  };
  if (spec.resultLayout.kind == Layout::NCHW)
    return finish(/*whole=*/false);
  Value isWhole = b.andI(b.eq(place.pixels, b.cst(place.rows)),
                         b.slt(b.cst(spec.tileN - 1), place.channels));
  b.ifThenElse(
      isWhole, [&] { finish(/*whole=*/true); },
      [&] { finish(/*whole=*/false); });
}

SmallVector<Value> KernelEmitter::loadPartial(Value partial, int64_t count) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i < count; ++i)
    sums.push_back(b.load(b.offset(partial, i * b.lanes() * kUnitBytes),
                          accumulatorType()));
  return sums;
}

void KernelEmitter::storePartial(ArrayRef<Value> sums, Value partial) {
  for (auto [i, sum] : llvm::enumerate(sums))
    b.store(sum, b.offset(partial,
                          static_cast<int64_t>(i) * b.lanes() * kUnitBytes));
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Accumulator [p][v] is at p * vectors() + v.
SmallVector<Value> KernelEmitter::startValues(Value startOffset, int64_t rows) {
  SmallVector<Value> row;
  for (int64_t v = 0; v < vectors(); ++v) {
    if (spec.arith != Arith::I8Dot)
      row.push_back(b.cstLike(b.vec(b.f32(), b.lanes()), 0));
    else
      row.push_back(
          b.load(b.offset(b.offset(starts, startOffset), v * b.lanes() * 4),
                 b.vec(b.getI32Type(), b.lanes())));
  }
  SmallVector<Value> tile;
  for (int64_t p = 0; p < rows; ++p)
    tile.append(row);
  return tile;
}

SmallVector<Value> KernelEmitter::emitProduct(const Block &block,
                                              const Operands &operands,
                                              ArrayRef<Value> start) {
  if (!spec.skipsTaps)
    return emitLines(block, operands, block.firstLine, block.lastLine, start);
  return operands.taps.forTaps(b, start, [&](Value tap, ValueRange sums) {
    Value first = b.mul(TapList::get(b, tap, TileTaps::Number), param(Pieces));
    Value last = b.add(first, param(Pieces));
    return emitLines(block, operands, b.maxS(first, block.firstLine),
                     b.minS(last, block.lastLine), sums);
  });
}

/// Multiplies lines [first, last) of K.
SmallVector<Value> KernelEmitter::emitLines(const Block &block,
                                            const Operands &operands,
                                            Value first, Value last,
                                            ValueRange start) {
  int64_t stepBytes = spec.tileN * spec.filterUnitBytes();
  int64_t aheadBytes =
      filterLineBytes() / (spec.skipsTaps ? 1 : prefetchParts());
  return b.forLoop(
      first, last, b.cst(1), start, [&](Value line, ValueRange lineSums) {
        Value a =
            b.offset(operands.panel, b.mul(line, spec.tileM * kLineBytes));
        Value w = b.offset(operands.filter, b.mul(line, filterLineBytes()));
        Value ahead = b.offset(operands.ahead,
                               b.mul(b.sub(line, block.firstLine), aheadBytes));
        if (spec.amx)
          return emitAmxLine(a, w, ahead, lineSums);
        Value units = b.minS(b.cst(kLineUnits),
                             b.sub(param(Units), b.mul(line, kLineUnits)));
        return b.forLoop(
            b.cst(0), units, b.cst(kUnroll), lineSums,
            [&](Value unit, ValueRange sums) {
              emitPrefetch(
                  b.offset(ahead, b.mul(unit, stepBytes / prefetchParts())));
              return emitSteps(b.offset(a, b.mul(unit, kUnitBytes)),
                               b.offset(w, b.mul(unit, stepBytes)), sums);
            });
      });
}

/// A line, whole even if it is the last one: the units behind K are zeros in
/// the filter, and no NaN in the panel (see PackEmitter).
SmallVector<Value> KernelEmitter::emitAmxLine(Value a, Value w, Value ahead,
                                              ValueRange sums) {
  emitPrefetch(ahead, kLineUnits);
  int64_t tiles = static_cast<int64_t>(sums.size());
  int64_t rows = tiles * kAmxTile * kAmxTile / spec.tileN;
  return AmxProduct(b, spec, rows).multiplyLine(a, w, sums);
}

/// Prefetches the share of the next data that belongs to so many units of K.
void KernelEmitter::emitPrefetch(Value ahead, int64_t units) {
  int64_t bytes = units * spec.tileN * spec.filterUnitBytes() / prefetchParts();
  for (int64_t at = 0; at < bytes; at += kLineBytes)
    LLVM::Prefetch::create(b, b.offset(ahead, at), /*rw=*/0, /*hint=*/2,
                           /*cache=*/1);
}

/// kUnroll steps of K; `a` and `w` point to the first one in the panels.
SmallVector<Value> KernelEmitter::emitSteps(Value a, Value w,
                                            ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  int64_t stepBytes = spec.tileN * spec.filterUnitBytes();
  OuterProduct product(b, spec.arith, spec.filterDtype, vectors());
  for (int64_t step = 0; step < kUnroll; ++step) {
    auto loadUnit = [&](int64_t p) {
      return b.load(b.offset(a, p * kLineBytes + step * kUnitBytes),
                    product.unitType());
    };
    product.emit(b.offset(w, step * stepBytes), loadUnit, sums);
  }
  return sums;
}

void igemm::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  KernelEmitter(b, spec).emit();
}
