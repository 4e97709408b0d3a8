//===- PointwiseEmitter.cpp - Emits a pointwise convolution ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Pointwise.h.
//
//===----------------------------------------------------------------------===//

#include "Pointwise.h"
#include "TileRows.h"

#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::pointwise;
using igemm::Param;

namespace {

class PointwiseEmitter {
public:
  PointwiseEmitter(KernelBuilder &b, const igemm::KernelSpec &spec);
  void emit();

private:
  /// The tiles between two changes of the filter's panel: those of pixels, and
  /// the group's number and its input.
  struct Block {
    Value group, source, firstTile, lastTile;
  };

  /// The operands of one register tile: its first pixel, the bytes to the next
  /// one, and the panel of the filter.
  struct Operands {
    Value pixel, stride, filter;
  };

  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tileN / b.lanes(); }

  void emitTask(Value task);
  void copyLastPixels(Value source);
  void emitChannelTile(const Block &block, Value channelTile);
  void emitRows(Value pixels, llvm::function_ref<void(int64_t)> body);
  SmallVector<Value> emitProduct(const Operands &operands, int64_t rows);
  SmallVector<Value> emitSteps(TileRows &rows, Value weights,
                               ValueRange carried, int64_t count,
                               int64_t sumCount);

  KernelBuilder &b;
  const igemm::KernelSpec &spec;
  SmallVector<Value> params;
  std::optional<igemm::ResultEmitter> results;
  Value input, filter, copy;
};

} // namespace

PointwiseEmitter::PointwiseEmitter(KernelBuilder &b,
                                   const igemm::KernelSpec &spec)
    : b(b), spec(spec) {
  for (int64_t p = 0; p < igemm::NumParams; ++p)
    params.push_back(b.getParam(p));
  input = b.getBuffer(0);
  filter = b.getBuffer(1);
  results.emplace(b, spec, /*firstBuffer=*/2, /*scales=*/nullptr);
  copy = b.getScratch();
}

void PointwiseEmitter::emit() {
  b.forTasks([&](Value task) { emitTask(task); });
}

void PointwiseEmitter::emitTask(Value task) {
  // Neighbouring tasks share the filter: parts of the pixels run fastest.
  Value part = b.rem(task, param(TaskParts));
  Value rest = b.div(task, param(TaskParts));
  Value channelBlock = b.rem(rest, param(igemm::ChannelBlocks));
  Value group = b.div(rest, param(igemm::ChannelBlocks));
  Value source = b.offset(input, b.mul(group, param(igemm::InputGroupBytes)));
  Value firstTile = b.mul(part, param(TaskTiles));
  Value lastTile =
      b.minS(b.add(firstTile, param(TaskTiles)), param(igemm::PixelTiles));
  b.ifThen(b.andI(b.eq(lastTile, param(igemm::PixelTiles)),
                  b.slt(b.cst(0), param(CopiedPixels))),
           [&] { copyLastPixels(source); });

  Value firstChannels = b.mul(channelBlock, param(igemm::BlockN));
  Value lastChannels = b.minS(b.add(firstChannels, param(igemm::BlockN)),
                              param(igemm::ChannelTiles));
  b.forLoop(firstTile, lastTile, param(igemm::BlockM), [&](Value tile) {
    Block block = {group, source, tile,
                   b.minS(b.add(tile, param(igemm::BlockM)), lastTile)};
    b.forLoop(firstChannels, lastChannels, b.cst(1),
              [&](Value channelTile) { emitChannelTile(block, channelTile); });
  });
}

/// Copies the pixels of a last tile that is incomplete, and repeats the last
/// one: sums of them are not stored.
void PointwiseEmitter::copyLastPixels(Value source) {
  Value first = b.sub(param(igemm::OutPixels), param(CopiedPixels));
  b.forLoop(b.cst(spec.tileM), [&](Value row) {
    Value pixel = b.add(first, b.minS(row, b.sub(param(CopiedPixels), 1)));
    Value from = b.offset(source, b.mul(pixel, param(igemm::InputPixelBytes)));
    Value to = b.offset(copy, b.mul(row, param(CopiedPixelBytes)));
    b.forLoop(b.cst(0), param(igemm::Units), b.cst(b.lanes()), [&](Value unit) {
      Value mask = b.firstLanes(b.sub(param(igemm::Units), unit), b.lanes());
      Value bytes = b.mul(unit, igemm::kUnitBytes);
      VectorType type = b.vec(b.f32(), b.lanes());
      b.maskedStore(b.maskedLoad(b.offset(from, bytes), mask, type),
                    b.offset(to, bytes), mask);
    });
  });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void PointwiseEmitter::emitChannelTile(const Block &block, Value channelTile) {
  Value tileIndex =
      b.add(b.mul(block.group, param(igemm::ChannelTiles)), channelTile);
  Value panel = b.offset(filter, b.mul(tileIndex, param(FilterTileBytes)));
  Value tableOffset = b.mul(tileIndex, spec.tileN * 4);
  Value channelInGroup = b.mul(channelTile, spec.tileN);
  Value channel =
      b.add(b.mul(block.group, param(igemm::OutChannels)), channelInGroup);
  Value channels = b.sub(param(igemm::OutChannels), channelInGroup);
  b.forLoop(block.firstTile, block.lastTile, b.cst(1), [&](Value tile) {
    Value pixel = b.mul(tile, spec.tileM);
    Value pixels = b.sub(param(igemm::OutPixels), pixel);
    Value place =
        b.offset(block.source, b.mul(pixel, param(igemm::InputPixelBytes)));
    Value isCopied = b.eq(pixels, param(CopiedPixels));
    Operands operands = {b.select(isCopied, copy, place),
                         b.select(isCopied, param(CopiedPixelBytes),
                                  param(igemm::InputPixelBytes)),
                         panel};
    emitRows(pixels, [&](int64_t rows) {
      igemm::TileAccess::Place at = {
          b.cst(0), pixel,    b.minS(pixels, b.cst(rows)),
          channel,  channels, rows};
      results->emitPrefetch(at);
      results->emit(emitProduct(operands, rows), tableOffset, at);
    });
  });
}

/// Calls `body` for as many rows as `pixels` need: those of a tile, or of its
/// tail.
void PointwiseEmitter::emitRows(Value pixels,
                                llvm::function_ref<void(int64_t)> body) {
  int64_t tail = igemm::tailM(spec.tileM);
  if (tail == 0)
    return body(spec.tileM);
  b.ifThenElse(
      b.slt(b.cst(tail), pixels), [&] { body(spec.tileM); },
      [&] { body(tail); });
}

/// Accumulator [p][v] is at p * vectors() + v.
SmallVector<Value> PointwiseEmitter::emitProduct(const Operands &operands,
                                                 int64_t rows) {
  int64_t stepBytes = spec.tileN * spec.filterUnitBytes();
  int64_t count = rows * vectors();
  TileRows pixels(b, rows, operands.stride);
  SmallVector<Value> carried(count, b.cstLike(b.vec(b.f32(), b.lanes()), 0));
  llvm::append_range(carried, pixels.getPointers(operands.pixel));
  Value units = param(igemm::Units);
  auto steps = [&](Value from, Value to, int64_t unroll) {
    carried = b.forLoop(
        from, to, b.cst(unroll), carried, [&](Value unit, ValueRange at) {
          Value weights = b.offset(operands.filter, b.mul(unit, stepBytes));
          return emitSteps(pixels, weights, at, unroll, count);
        });
  };
  Value whole = b.mul(b.div(units, igemm::kUnroll), igemm::kUnroll);
  steps(b.cst(0), whole, igemm::kUnroll);
  steps(whole, units, 1);
  carried.truncate(count);
  return carried;
}

/// `count` steps of K. The sums and the pointers to the pixels are carried.
SmallVector<Value> PointwiseEmitter::emitSteps(TileRows &rows, Value weights,
                                               ValueRange carried,
                                               int64_t count,
                                               int64_t sumCount) {
  SmallVector<Value> sums(carried.take_front(sumCount));
  rows.beginPass(carried.drop_front(sumCount));
  igemm::OuterProduct product(b, spec.arith, spec.filterDtype, vectors());
  int64_t stepBytes = spec.tileN * spec.filterUnitBytes();
  for (int64_t step = 0; step < count; ++step) {
    auto loadUnit = [&](int64_t p) {
      return b.load(rows.getAddress(p, step * igemm::kUnitBytes),
                    product.unitType());
    };
    product.emit(b.offset(weights, step * stepBytes), loadUnit, sums);
  }
  llvm::append_range(sums, rows.advance(count * igemm::kUnitBytes));
  return sums;
}

void pointwise::emitKernel(KernelBuilder &b, const igemm::KernelSpec &spec) {
  PointwiseEmitter(b, spec).emit();
}
