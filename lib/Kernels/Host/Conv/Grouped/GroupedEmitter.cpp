//===- GroupedEmitter.cpp - Emits a direct grouped convolution ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grouped.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <map>
#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::grouped;
using igemm::Param;

namespace {

class GroupedEmitter {
public:
  GroupedEmitter(KernelBuilder &b, const GroupedSpec &spec);
  void emit();

private:
  /// The rows of a task: output rows [first, last) of an image.
  struct Rows {
    Value image, first, last;
  };
  /// The factors of a register tile: the first row of its window, and the
  /// filter.
  struct Operands {
    Value row, filter;
  };

  Value param(Param p) { return params[p]; }
  bool isPlanar() const { return spec.tile.inputLayout.kind == Layout::NCHW; }
  VectorType vectorType() { return b.vec(b.f32(), spec.lanes); }

  void emitTask(Value task);
  Value sourceOf(Value image, Value block);
  void copyRows(const Rows &rows, Value block);
  void copyRow(Value source, Value row, Value channels);
  void copyPixels(Value source, Value row, Value channels);
  void copyPlanes(Value source, Value row, Value channels);
  void fill(Value row, Value from, Value to);
  void emitBlock(const Rows &rows, Value block);
  void emitTileRows(const Rows &rows, Value block, Value number, int64_t tile);
  void emitPixelTile(const Operands &operands, int64_t tile,
                     const igemm::TileAccess::Place &place);
  void emitPrefetch(Value source, Value outRow, Value column);
  SmallVector<Value> emitProduct(const Operands &operands, int64_t tile,
                                 int64_t rows);
  SmallVector<Value> emitChannel(Value row, Value filter, Value channel,
                                 int64_t tile, ValueRange start);
  Value spreadPixel(Value pixel, Value channel, int64_t firstChannel,
                    const VectorGroups &groups);

  KernelBuilder &b;
  const GroupedSpec &spec;
  SmallVector<Value> params;
  std::optional<igemm::ResultEmitter> results;
  Value input, filter, buffer;
};

} // namespace

GroupedEmitter::GroupedEmitter(KernelBuilder &b, const GroupedSpec &spec)
    : b(b), spec(spec) {
  for (int64_t p = 0; p < igemm::NumParams; ++p)
    params.push_back(b.getParam(p));
  input = b.getBuffer(0);
  filter = b.getBuffer(1);
  results.emplace(b, spec.tile, /*firstBuffer=*/2, /*scales=*/nullptr);
  buffer = b.getScratch();
}

void GroupedEmitter::emit() {
  b.forTasks([&](Value task) { emitTask(task); });
}

void GroupedEmitter::emitTask(Value task) {
  // Neighbouring tasks read neighbouring channels of the same rows.
  Value part = b.rem(task, param(BlockParts));
  Value rest = b.div(task, param(BlockParts));
  Rows rows;
  rows.first = b.mul(b.rem(rest, param(RowBlocks)), param(BlockRows));
  rows.last =
      b.minS(b.add(rows.first, param(BlockRows)), param(igemm::OutHeight));
  rows.image = b.div(rest, param(RowBlocks));
  Value first = b.mul(part, param(TaskBlocks));
  Value last = b.minS(b.add(first, param(TaskBlocks)), param(Blocks));
  b.forLoop(first, last, b.cst(1), [&](Value block) {
    copyRows(rows, block);
    emitBlock(rows, block);
  });
}

//===----------------------------------------------------------------------===//
// Copying the input
//===----------------------------------------------------------------------===//

/// The first pixel of an image, at the first channel of a block.
Value GroupedEmitter::sourceOf(Value image, Value block) {
  Value channel = b.mul(block, spec.blockInputs());
  Value bytes = isPlanar()
                    ? b.mul(channel, param(igemm::InputPixelBytes))
                    : b.mul(channel, runtime::dtypeBytes(spec.tile.inputDtype));
  return b.offset(input,
                  b.add(b.mul(image, param(igemm::InputImageBytes)), bytes));
}

void GroupedEmitter::copyRows(const Rows &rows, Value block) {
  Value source = sourceOf(rows.image, block);
  Value channels =
      b.sub(param(InputChannels), b.mul(block, spec.blockInputs()));
  Value top =
      b.sub(b.mul(rows.first, param(igemm::StrideH)), param(igemm::PadTop));
  Value steps = b.sub(b.sub(rows.last, 1), rows.first);
  Value reach = b.mul(b.sub(param(igemm::KernelH), 1), param(igemm::DilationH));
  Value count = b.add(b.add(b.mul(steps, param(igemm::StrideH)), reach), 1);
  b.forLoop(count, [&](Value i) {
    Value y = b.add(top, i);
    Value row = b.offset(buffer, b.mul(i, param(RowBytes)));
    // As unsigned numbers, negative coordinates are large.
    b.ifThenElse(
        b.ult(y, param(igemm::InputHeight)),
        [&] {
          copyRow(b.offset(source, b.mul(y, param(InputRowBytes))), row,
                  channels);
        },
        [&] { fill(row, b.cst(0), param(RowBytes)); });
  });
}

/// Copies a row. Each step may write too much, which the next step or the next
/// row overwrites: rows are copied in ascending order.
void GroupedEmitter::copyRow(Value source, Value row, Value channels) {
  Value start = b.mul(param(igemm::PadLeft), spec.lineBytes());
  fill(row, b.cst(0), start);
  Value inside = b.offset(row, start);
  if (isPlanar())
    copyPlanes(source, inside, channels);
  else
    b.ifThenElse(
        b.slt(channels, b.cst(spec.blockInputs())),
        [&] { copyPixels(source, inside, channels); },
        [&] { copyPixels(source, inside, /*channels=*/nullptr); });
  Value end = b.add(start, b.mul(param(igemm::InputWidth), spec.lineBytes()));
  fill(row, end, param(RowBytes));
}

/// Copies the pixels of an nhwc row; all channels of the block exist if
/// `channels` is null.
void GroupedEmitter::copyPixels(Value source, Value row, Value channels) {
  int64_t bytes = runtime::dtypeBytes(spec.tile.inputDtype);
  b.forLoop(param(igemm::InputWidth), [&](Value x) {
    Value from = b.offset(source, b.mul(x, param(igemm::InputPixelBytes)));
    Value to = b.offset(row, b.mul(x, spec.lineBytes()));
    for (int64_t c = 0; c < spec.blockInputs(); c += spec.lanes) {
      Value mask;
      if (channels)
        mask = b.firstLanes(b.sub(channels, c), spec.lanes);
      else if (c + spec.lanes > spec.blockInputs())
        mask = b.firstLanes(b.cst(spec.blockInputs() - c), spec.lanes);
      b.store(b.loadConverted(spec.tile.inputDtype, b.offset(from, c * bytes),
                              spec.lanes, mask),
              b.offset(to, c * igemm::kUnitBytes));
    }
  });
}

/// Transposes squares of channels and pixels of an nchw row. Channels that do
/// not exist are copies of the last one: only groups that do not exist either
/// read them.
void GroupedEmitter::copyPlanes(Value source, Value row, Value channels) {
  int64_t bytes = runtime::dtypeBytes(spec.tile.inputDtype);
  Value last = b.sub(channels, 1), width = param(igemm::InputWidth);
  b.forLoop(b.cst(0), width, b.cst(spec.lanes), [&](Value x) {
    Value mask = b.firstLanes(b.sub(width, x), spec.lanes);
    for (int64_t c = 0; c < spec.blockInputs(); c += spec.lanes) {
      SmallVector<Value> square;
      for (int64_t i = 0; i < spec.lanes; ++i) {
        Value plane =
            b.mul(b.minS(b.cst(c + i), last), param(igemm::InputPixelBytes));
        square.push_back(b.loadConverted(
            spec.tile.inputDtype,
            b.offset(source, b.add(plane, b.mul(x, bytes))), spec.lanes, mask));
      }
      Value to = b.offset(
          row, b.add(b.mul(x, spec.lineBytes()), b.cst(c * igemm::kUnitBytes)));
      for (auto [i, pixel] : llvm::enumerate(b.transpose(square)))
        b.store(pixel,
                b.offset(to, static_cast<int64_t>(i) * spec.lineBytes()));
    }
  });
}

void GroupedEmitter::fill(Value row, Value from, Value to) {
  Value zero = b.cstLike(vectorType(), 0);
  b.forLoop(from, to, b.cst(spec.lanes * igemm::kUnitBytes),
            [&](Value at) { b.store(zero, b.offset(row, at)); });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void GroupedEmitter::emitBlock(const Rows &rows, Value block) {
  if (spec.hasEqualTiles())
    return b.forLoop(b.cst(spec.blockTiles()), [&](Value number) {
      emitTileRows(rows, block, number, /*tile=*/0);
    });
  for (int64_t tile = 0; tile < spec.blockTiles(); ++tile)
    emitTileRows(rows, block, b.cst(tile), tile);
}

/// Computes tile `number` of a block, which has the code of `tile`, for all
/// rows.
void GroupedEmitter::emitTileRows(const Rows &rows, Value block, Value number,
                                  int64_t tile) {
  int64_t tileBytes = spec.tile.tileM * spec.strideW * spec.lineBytes();
  Value filterBytes =
      b.mul(param(igemm::KernelH), spec.inChannels * spec.kernelW *
                                       spec.tile.tileN * igemm::kUnitBytes);
  Value index = b.add(b.mul(block, spec.blockTiles()), number);
  Value tileFilter = b.offset(filter, b.mul(index, filterBytes));
  Value channel = b.mul(index, spec.tile.tileN);
  Value channels = b.sub(param(igemm::OutChannels), channel);
  Value nextSource = sourceOf(rows.image, b.add(block, 1));
  auto emitRow = [&](Value outRow) {
    Value below = b.mul(b.sub(outRow, rows.first), param(igemm::StrideH));
    Value row = b.offset(buffer, b.mul(below, param(RowBytes)));
    Value rowPixel = b.mul(outRow, param(igemm::OutWidth));
    b.forLoop(param(RowTiles), [&](Value rowTile) {
      Value column = b.mul(rowTile, spec.tile.tileM);
      Value pixels = b.sub(param(igemm::OutWidth), column);
      Operands operands = {b.offset(row, b.mul(rowTile, tileBytes)),
                           tileFilter};
      if (tile == 0 && !isPlanar())
        b.ifThen(b.eq(number, b.cst(0)),
                 [&] { emitPrefetch(nextSource, outRow, column); });
      auto emitTile = [&](int64_t count) {
        emitPixelTile(operands, tile,
                      {rows.image, b.add(rowPixel, column),
                       b.minS(pixels, b.cst(count)), channel, channels, count});
      };
      int64_t tail = igemm::tailM(spec.tile.tileM);
      b.ifThenElse(
          b.slt(b.cst(tail), pixels), [&] { emitTile(spec.tile.tileM); },
          [&] { emitTile(tail); });
    });
  };
  b.ifThen(b.slt(b.cst(0), channels),
           [&] { b.forLoop(rows.first, rows.last, b.cst(1), emitRow); });
}

/// Prefetches the pixels of the next block at the place of a tile.
void GroupedEmitter::emitPrefetch(Value source, Value outRow, Value column) {
  Value y = b.mul(outRow, param(igemm::StrideH));
  Value x = b.mul(column, spec.strideW);
  int64_t bytes =
      spec.blockInputs() * runtime::dtypeBytes(spec.tile.inputDtype);
  b.forLoop(param(igemm::StrideH), [&](Value i) {
    Value pointer =
        b.offset(source, b.add(b.mul(b.add(y, i), param(InputRowBytes)),
                               b.mul(x, param(igemm::InputPixelBytes))));
    for (int64_t p = 0; p < spec.tile.tileM * spec.strideW; ++p) {
      for (int64_t at = 0; at < bytes; at += igemm::kLineBytes)
        LLVM::Prefetch::create(b, b.offset(pointer, at), /*rw=*/false,
                               /*hint=*/3, /*cache=*/1);
      pointer = b.offset(pointer, param(igemm::InputPixelBytes));
    }
  });
}

void GroupedEmitter::emitPixelTile(const Operands &operands, int64_t tile,
                                   const igemm::TileAccess::Place &place) {
  results->emitPrefetch(place);
  SmallVector<Value> sums = emitProduct(operands, tile, place.rows);
  results->emit(sums, /*tableOffset=*/b.cst(0), place);
}

/// Accumulator [p][v] is at p * vectors() + v.
SmallVector<Value> GroupedEmitter::emitProduct(const Operands &operands,
                                               int64_t tile, int64_t rows) {
  Value zero = b.cst(0), one = b.cst(1);
  Value rowPitch = b.mul(param(RowBytes), param(igemm::DilationH));
  int64_t channelBytes = spec.kernelW * spec.tile.tileN * igemm::kUnitBytes;
  SmallVector<Value> start(rows * spec.vectors(), b.cstLike(vectorType(), 0));
  return b.forLoop(
      zero, param(igemm::KernelH), one, start,
      [&](Value kh, ValueRange rowSums) {
        Value row = b.offset(operands.row, b.mul(kh, rowPitch));
        Value weights = b.offset(operands.filter,
                                 b.mul(kh, spec.inChannels * channelBytes));
        return b.forLoop(zero, b.cst(spec.inChannels), one, rowSums,
                         [&](Value channel, ValueRange sums) {
                           return emitChannel(
                               row,
                               b.offset(weights, b.mul(channel, channelBytes)),
                               channel, tile, sums);
                         });
      });
}

static Value callOnFloats(KernelBuilder &b, StringRef name, ValueRange operands,
                          Type type) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands)
      .getResult(0);
}

/// The vector of output channels from `firstChannel` of the block on: in each
/// lane input channel `channel` of its group.
Value GroupedEmitter::spreadPixel(Value pixel, Value channel,
                                  int64_t firstChannel,
                                  const VectorGroups &groups) {
  int64_t groupBytes = spec.inChannels * igemm::kUnitBytes;
  Value first = b.offset(pixel, groups.first * groupBytes);
  if (groups.spread == Spread::PermuteInLanes ||
      groups.spread == Spread::Permute) {
    SmallVector<int32_t> starts;
    for (int64_t lane = 0; lane < spec.lanes; ++lane)
      starts.push_back(static_cast<int32_t>(
          (spec.groupOf(firstChannel + lane) - groups.first) *
          spec.inChannels));
    VectorType type = b.vec(b.getI32Type(), spec.lanes);
    Value start = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef<int32_t>(starts)));
    Value number = arith::TruncIOp::create(b, b.getI32Type(), channel);
    Value index = b.add(start, b.broadcast(number, spec.lanes));
    Value pixels = b.load(first, vectorType());
    bool isWide = spec.lanes == 16;
    if (groups.spread == Spread::PermuteInLanes)
      return callOnFloats(b,
                          isWide ? "llvm.x86.avx512.vpermilvar.ps.512"
                                 : "llvm.x86.avx.vpermilvar.ps.256",
                          {pixels, index}, vectorType());
    return callOnFloats(
        b, isWide ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx2.permps",
        {pixels, index}, vectorType());
  }
  auto load = [&](int64_t group) {
    Value at = b.add(b.mul(channel, igemm::kUnitBytes),
                     (groups.first + group) * groupBytes);
    return b.broadcast(b.load(b.offset(pixel, at), b.f32()), spec.lanes);
  };
  Value value = load(0);
  for (int64_t group = 1; group < groups.count; ++group) {
    SmallVector<bool> isBehind;
    for (int64_t lane = 0; lane < spec.lanes; ++lane)
      isBehind.push_back(spec.groupOf(firstChannel + lane) >=
                         groups.first + group);
    Value mask = arith::ConstantOp::create(
        b, DenseElementsAttr::get(b.vec(b.getI1Type(), spec.lanes),
                                  ArrayRef<bool>(isBehind)));
    value = b.select(mask, load(group), value);
  }
  return value;
}

/// Multiplies one input channel of every group by one row of the kernel. The
/// columns are computed one behind the other: LLVM's scheduler would load them
/// all in front of the first product, for which there are no registers.
SmallVector<Value> GroupedEmitter::emitChannel(Value row, Value filter,
                                               Value channel, int64_t tile,
                                               ValueRange start) {
  int64_t vectors = spec.vectors(), lanes = spec.lanes;
  SmallVector<Value> sums(start), weights;
  for (int64_t i = 0; i < spec.kernelW * vectors; ++i)
    weights.push_back(
        b.load(b.offset(filter, i * lanes * igemm::kUnitBytes), vectorType()));
  int64_t rows = static_cast<int64_t>(sums.size()) / vectors;
  for (int64_t column : spec.getColumns(rows)) {
    Value pixel = b.offset(row, column * spec.lineBytes());
    std::map<int64_t, Value> ofGroup; // broadcasts, which vectors share
    for (int64_t v = 0; v < vectors; ++v) {
      int64_t firstChannel = tile * spec.tile.tileN + v * lanes;
      VectorGroups groups = spec.getVector(firstChannel);
      Value &x =
          ofGroup[groups.spread == Spread::Broadcast ? groups.first : -1 - v];
      if (!x)
        x = spreadPixel(pixel, channel, firstChannel, groups);
      for (int64_t kw = 0; kw < spec.kernelW; ++kw) {
        int64_t distance = column - kw * spec.dilationW;
        if (distance < 0 || distance % spec.strideW != 0 ||
            distance / spec.strideW >= rows)
          continue;
        Value &sum = sums[distance / spec.strideW * vectors + v];
        sum = b.fma(weights[kw * vectors + v], x, sum);
        b.fence(sum, {});
      }
    }
  }
  return sums;
}

void grouped::emitKernel(KernelBuilder &b, const GroupedSpec &spec) {
  GroupedEmitter(b, spec).emit();
}
