//===- KernelEmitter.cpp - Emits an implicit GEMM kernel ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One task: pack the pixel tiles of a block, then for each tile of channels and
// each packed tile multiply, apply the epilogue and store.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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
  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tileN / b.lanes(); }

  void fillPaddingLine();
  void emitTask(Value task);
  void emitChannelTile(Value image, Value group, Value channelTile,
                       Value firstTile, Value lastTile);
  SmallVector<Value> emitProduct(Value panel, Value filter, Value ahead,
                                 ArrayRef<Value> start);
  void prefetchFilter(Value ahead, Value line);
  SmallVector<Value> emitSteps(Value a, Value w, ValueRange accumulators);
  SmallVector<Value> startValues(Value tableOffset);

  /// Steps of K between two tests of the loop.
  static constexpr int64_t kUnroll = 4;

  KernelBuilder &b;
  const KernelSpec &spec;
  SmallVector<Value> params;
  std::optional<ResultEmitter> results;
  Value input, filter, scales, starts;
  Value panels, fill, panelBytes, filterTileBytes;
  /// Cache lines of the next tile's filter to ask for in each line of K.
  Value linesAhead;
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
  results.emplace(b, spec, buffer, scales);

  panelBytes = b.mul(param(Lines), spec.tileM * kLineBytes);
  filterTileBytes =
      b.mul(param(Lines), kLineUnits * spec.tileN * spec.filterUnitBytes());
  fill = b.getScratch();
  panels = b.offset(fill, kLineBytes);
}

void KernelEmitter::emit() {
  fillPaddingLine();
  b.forTasks([&](Value task) { emitTask(task); });
}

void KernelEmitter::fillPaddingLine() {
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), param(FillByte));
  b.store(b.broadcast(byte, kLineBytes), fill);
}

void KernelEmitter::emitTask(Value task) {
  // Neighbouring tasks share the filter: pixel blocks run fastest.
  Value pixelBlock = b.rem(task, param(PixelBlocks));
  Value rest = b.div(task, param(PixelBlocks));
  Value channelBlock = b.rem(rest, param(ChannelBlocks));
  rest = b.div(rest, param(ChannelBlocks));
  Value group = b.rem(rest, param(Groups));
  Value image = b.div(rest, param(Groups));

  Value firstTile = b.mul(pixelBlock, param(BlockM));
  Value lastTile = b.minS(b.add(firstTile, param(BlockM)), param(PixelTiles));
  Value source = b.offset(input, b.add(b.mul(image, param(InputImageBytes)),
                                       b.mul(group, param(InputGroupBytes))));
  PackEmitter pack(b, spec, fill);
  b.forLoop(firstTile, lastTile, b.cst(1), [&](Value tile) {
    Value first = b.mul(tile, spec.tileM);
    Value count = b.minS(b.cst(spec.tileM), b.sub(param(OutPixels), first));
    Value index = b.sub(tile, firstTile);
    pack.emit(source, first, count, b.offset(panels, b.mul(index, panelBytes)));
  });

  Value firstChannels = b.mul(channelBlock, param(BlockN));
  Value lastChannels =
      b.minS(b.add(firstChannels, param(BlockN)), param(ChannelTiles));
  int64_t filterLineBytes = kLineUnits * spec.tileN * spec.filterUnitBytes();
  linesAhead = b.ceilDiv(b.cst(filterLineBytes / kLineBytes),
                         b.sub(lastTile, firstTile));
  b.forLoop(firstChannels, lastChannels, b.cst(1), [&](Value channelTile) {
    emitChannelTile(image, group, channelTile, firstTile, lastTile);
  });
}

void KernelEmitter::emitChannelTile(Value image, Value group, Value channelTile,
                                    Value firstTile, Value lastTile) {
  Value tileIndex = b.add(b.mul(group, param(ChannelTiles)), channelTile);
  Value filterTile = b.offset(filter, b.mul(tileIndex, filterTileBytes));
  Value tableOffset = b.mul(tileIndex, spec.tileN * 4);
  Value channelInGroup = b.mul(channelTile, spec.tileN);
  b.forLoop(firstTile, lastTile, b.cst(1), [&](Value tile) {
    Value panel = b.offset(panels, b.mul(b.sub(tile, firstTile), panelBytes));
    Value pixel = b.mul(tile, spec.tileM);
    // No lane beyond the tile may be stored: it belongs to another task.
    Value pixels = b.minS(b.sub(param(OutPixels), pixel), b.cst(spec.tileM));
    TileAccess::Place place = {
        image, pixel, pixels,
        b.add(b.mul(group, param(OutChannels)), channelInGroup),
        b.sub(param(OutChannels), channelInGroup)};
    results->emitPrefetch(place);
    // Each pixel tile asks for its part of the next channel tile's filter.
    Value part = b.mul(b.mul(b.sub(tile, firstTile), param(Lines)), linesAhead);
    Value ahead =
        b.offset(filterTile, b.add(filterTileBytes, b.mul(part, kLineBytes)));
    SmallVector<Value> sums =
        emitProduct(panel, filterTile, ahead, startValues(tableOffset));
    results->emit(sums, tableOffset, place);
  });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Accumulator [p][v] is at p * vectors() + v.
SmallVector<Value> KernelEmitter::startValues(Value tableOffset) {
  SmallVector<Value> row;
  for (int64_t v = 0; v < vectors(); ++v) {
    if (spec.arith != Arith::I8Dot)
      row.push_back(b.cstLike(b.vec(b.f32(), b.lanes()), 0));
    else
      row.push_back(
          b.load(b.offset(b.offset(starts, tableOffset), v * b.lanes() * 4),
                 b.vec(b.getI32Type(), b.lanes())));
  }
  SmallVector<Value> tile;
  for (int64_t p = 0; p < spec.tileM; ++p)
    tile.append(row);
  return tile;
}

/// Asks for the part of the next channel tile's filter that belongs to a line
/// of K. The filters of a model are read once in a run, from memory; spread
/// over the products, reading them costs no time.
void KernelEmitter::prefetchFilter(Value ahead, Value line) {
  Value from = b.offset(ahead, b.mul(b.mul(line, linesAhead), kLineBytes));
  b.forLoop(linesAhead, [&](Value i) {
    LLVM::Prefetch::create(b, b.offset(from, b.mul(i, kLineBytes)), /*rw=*/0,
                           /*hint=*/2, /*cache=*/1);
  });
}

SmallVector<Value> KernelEmitter::emitProduct(Value panel, Value filterTile,
                                              Value ahead,
                                              ArrayRef<Value> start) {
  int64_t stepBytes = spec.tileN * spec.filterUnitBytes();
  Value zero = b.cst(0), one = b.cst(1);
  return b.forLoop(
      zero, param(Lines), one, start, [&](Value line, ValueRange lineSums) {
        prefetchFilter(ahead, line);
        Value a = b.offset(panel, b.mul(line, spec.tileM * kLineBytes));
        Value w = b.offset(filterTile, b.mul(line, kLineUnits * stepBytes));
        return b.forLoop(zero, b.cst(kLineUnits), b.cst(kUnroll), lineSums,
                         [&](Value unit, ValueRange sums) {
                           return emitSteps(
                               b.offset(a, b.mul(unit, kUnitBytes)),
                               b.offset(w, b.mul(unit, stepBytes)), sums);
                         });
      });
}

/// kUnroll steps of K; `a` and `w` point to the first one in the panels.
SmallVector<Value> KernelEmitter::emitSteps(Value a, Value w,
                                            ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  int64_t lanes = b.lanes(), unitBytes = spec.filterUnitBytes();
  bool isFloat = spec.arith == Arith::F32;
  Type unit = isFloat ? b.f32() : Type(b.getI32Type());
  for (int64_t step = 0; step < kUnroll; ++step) {
    SmallVector<Value> row;
    for (int64_t v = 0; v < vectors(); ++v) {
      Value at = b.offset(w, (step * spec.tileN + v * lanes) * unitBytes);
      row.push_back(isFloat ? b.loadConverted(spec.filterDtype, at, lanes)
                            : b.load(at, b.vec(unit, lanes)));
    }
    for (int64_t p = 0; p < spec.tileM; ++p) {
      Value at = b.offset(a, p * kLineBytes + step * kUnitBytes);
      Value pixel = b.broadcast(b.load(at, unit), lanes);
      for (int64_t v = 0; v < vectors(); ++v) {
        Value &sum = sums[p * vectors() + v];
        sum = multiplyAdd(b, spec.arith, pixel, row[v], sum);
      }
    }
  }
  return sums;
}

void igemm::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  KernelEmitter(b, spec).emit();
}
