//===- DirectRowsEmitter.cpp - Emits a direct convolution over rows -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One task copies the input rows of a block of output rows; then, for each tile
// of channels, it computes the output rows in tiles of pixels.
//
//===----------------------------------------------------------------------===//

#include "DirectRows.h"

#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::directrows;
using igemm::Arith;
using igemm::Param;

namespace {

class RowsEmitter {
public:
  RowsEmitter(KernelBuilder &b, const RowsSpec &spec);
  void emit();

private:
  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tile.tileN / b.lanes(); }

  void emitTask(Value task);
  void copyRows(Value image, Value group, Value firstRow, Value lastRow);
  void copyRow(Value source, Value row);
  void fillBytes(Value row, Value from, Value to);
  Value loadElements(Value source);
  /// The operands of one register tile: the first row of its window, the
  /// filter, and the place of its channels in the per-channel tables.
  struct Operands {
    Value row, filter, tableOffset;
  };

  void emitChannelTile(Value image, Value group, Value channelTile,
                       Value firstRow, Value lastRow);
  void emitPixelTile(const Operands &operands,
                     const igemm::TileAccess::Place &place);
  SmallVector<Value> emitProduct(const Operands &operands,
                                 ArrayRef<Value> start);
  SmallVector<Value> emitRun(Value row, Value filterRun, ValueRange start);
  SmallVector<Value> emitSteps(Value row, Value filterRun, ValueRange start,
                               int64_t count, Value keep);
  SmallVector<Value> startValues(Value tableOffset, int64_t rows);

  KernelBuilder &b;
  const RowsSpec &spec;
  int64_t vectorBytes;
  SmallVector<Value> params;
  std::optional<igemm::ResultEmitter> results;
  Value input, filter, scales, starts, rows, fill;
  /// The bytes from one row of all planes to the next, and of a tile's filter.
  Value rowPitch, filterTileBytes;
  /// The units of a run, and the bytes of its filter.
  Value runUnits, runBytes;
};

} // namespace

RowsEmitter::RowsEmitter(KernelBuilder &b, const RowsSpec &spec)
    : b(b), spec(spec), vectorBytes(b.lanes() * igemm::kUnitBytes) {
  for (int64_t p = 0; p < igemm::NumParams; ++p)
    params.push_back(b.getParam(p));
  int64_t buffer = 0;
  input = b.getBuffer(buffer++);
  filter = b.getBuffer(buffer++);
  if (spec.tile.arith == Arith::I8Dot) {
    scales = b.getBuffer(buffer++);
    starts = b.getBuffer(buffer++);
  }
  results.emplace(b, spec.tile, buffer, scales);
  rows = b.getScratch();
  rowPitch = b.mul(param(Planes), param(RowBytes));
  runUnits = b.ceilDiv(param(RunElements), b.cst(spec.perUnit()));
  runBytes = b.mul(runUnits, spec.tile.tileN * spec.tile.filterUnitBytes());
  filterTileBytes =
      b.mul(b.mul(param(igemm::KernelH), param(Planes)), runBytes);
  // Signed bytes are read with 128 added.
  Value byte =
      arith::TruncIOp::create(b, b.getI8Type(), param(igemm::FillByte));
  if (spec.tile.inputDtype == DType::I8)
    byte = arith::XOrIOp::create(b, byte, b.cstLike(b.getI8Type(), -128));
  fill = b.broadcast(byte, vectorBytes);
}

void RowsEmitter::emit() {
  b.forTasks([&](Value task) { emitTask(task); });
}

void RowsEmitter::emitTask(Value task) {
  // Neighbouring tasks share the filter: blocks of rows run fastest.
  Value rowBlock = b.rem(task, param(RowBlocks));
  Value rest = b.div(task, param(RowBlocks));
  Value channelBlock = b.rem(rest, param(igemm::ChannelBlocks));
  rest = b.div(rest, param(igemm::ChannelBlocks));
  Value group = b.rem(rest, param(igemm::Groups));
  Value image = b.div(rest, param(igemm::Groups));

  Value firstRow = b.mul(rowBlock, param(BlockRows));
  Value lastRow =
      b.minS(b.add(firstRow, param(BlockRows)), param(igemm::OutHeight));
  copyRows(image, group, firstRow, lastRow);

  Value firstChannels = b.mul(channelBlock, param(igemm::BlockN));
  Value lastChannels = b.minS(b.add(firstChannels, param(igemm::BlockN)),
                              param(igemm::ChannelTiles));
  b.forLoop(firstChannels, lastChannels, b.cst(1), [&](Value channelTile) {
    emitChannelTile(image, group, channelTile, firstRow, lastRow);
  });
}

//===----------------------------------------------------------------------===//
// Copying the input
//===----------------------------------------------------------------------===//

void RowsEmitter::copyRows(Value image, Value group, Value firstRow,
                           Value lastRow) {
  Value source =
      b.offset(input, b.add(b.mul(image, param(igemm::InputImageBytes)),
                            b.mul(group, param(igemm::InputGroupBytes))));
  Value top =
      b.sub(b.mul(firstRow, param(igemm::StrideH)), param(igemm::PadTop));
  Value last = b.sub(b.sub(lastRow, 1), firstRow);
  Value reach = b.mul(b.sub(param(igemm::KernelH), 1), param(igemm::DilationH));
  Value count = b.add(b.add(b.mul(last, param(igemm::StrideH)), reach), 1);
  b.forLoop(count, [&](Value i) {
    Value y = b.add(top, i);
    Value row = b.offset(rows, b.mul(i, rowPitch));
    // As unsigned numbers, negative coordinates are large.
    Value inside = b.ult(y, param(igemm::InputHeight));
    b.forLoop(param(Planes), [&](Value plane) {
      Value to = b.offset(row, b.mul(plane, param(RowBytes)));
      Value from = b.offset(source, b.add(b.mul(y, param(InputRowBytes)),
                                          b.mul(plane, param(PlaneBytes))));
      b.ifThenElse(
          inside, [&] { copyRow(from, to); },
          [&] { fillBytes(to, b.cst(0), param(RowBytes)); });
    });
  });
}

/// Copies a row. Each step may write up to a vector too much, which the next
/// step or the next row overwrites: rows are copied in ascending order.
void RowsEmitter::copyRow(Value source, Value row) {
  int64_t elements = b.lanes() * spec.perUnit();
  int64_t sourceBytes = runtime::dtypeBytes(spec.tile.inputDtype);
  Value start = b.mul(param(RowPadding), spec.elementBytes());
  fillBytes(row, b.cst(0), start);
  Value destination = b.offset(row, start);
  b.forLoop(b.cst(0), param(RowElements), b.cst(elements), [&](Value done) {
    Value values = loadElements(b.offset(source, b.mul(done, sourceBytes)));
    b.store(values, b.offset(destination, b.mul(done, spec.elementBytes())));
  });
  Value end = b.add(start, b.mul(param(RowElements), spec.elementBytes()));
  fillBytes(row, end, param(RowBytes));
}

void RowsEmitter::fillBytes(Value row, Value from, Value to) {
  b.forLoop(from, to, b.cst(vectorBytes),
            [&](Value at) { b.store(fill, b.offset(row, at)); });
}

/// Loads one vector of elements in the form of the rows.
Value RowsEmitter::loadElements(Value source) {
  DType dtype = spec.tile.inputDtype;
  int64_t elements = b.lanes() * spec.perUnit();
  if (spec.tile.arith == Arith::F32)
    return b.loadConverted(dtype, source, elements);
  Value raw = b.load(source, b.vec(b.storageType(dtype), elements));
  if (dtype != DType::I8)
    return raw;
  return arith::XOrIOp::create(b, raw, b.cstLike(raw.getType(), -128));
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void RowsEmitter::emitChannelTile(Value image, Value group, Value channelTile,
                                  Value firstRow, Value lastRow) {
  Value tileIndex =
      b.add(b.mul(group, param(igemm::ChannelTiles)), channelTile);
  Value filterTile = b.offset(filter, b.mul(tileIndex, filterTileBytes));
  Value tableOffset = b.mul(tileIndex, spec.tile.tileN * 4);
  Value channelInGroup = b.mul(channelTile, spec.tile.tileN);
  Value channel =
      b.add(b.mul(group, param(igemm::OutChannels)), channelInGroup);
  Value channels = b.sub(param(igemm::OutChannels), channelInGroup);
  int64_t tileBytes = spec.tile.tileM * spec.pixelStep * spec.elementBytes();
  b.forLoop(firstRow, lastRow, b.cst(1), [&](Value outRow) {
    Value below = b.mul(b.sub(outRow, firstRow), param(igemm::StrideH));
    Value row = b.offset(rows, b.mul(below, rowPitch));
    Value rowPixel = b.mul(outRow, param(igemm::OutWidth));
    b.forLoop(param(RowTiles), [&](Value tile) {
      Value column = b.mul(tile, spec.tile.tileM);
      Value pixels = b.sub(param(igemm::OutWidth), column);
      Operands operands = {b.offset(row, b.mul(tile, tileBytes)), filterTile,
                           tableOffset};
      auto emitTile = [&](int64_t rows) {
        emitPixelTile(operands,
                      {image, b.add(rowPixel, column),
                       b.minS(pixels, b.cst(rows)), channel, channels, rows});
      };
      int64_t tail = igemm::tailM(spec.tile.tileM);
      if (tail == 0)
        return emitTile(spec.tile.tileM);
      b.ifThenElse(
          b.slt(b.cst(tail), pixels), [&] { emitTile(spec.tile.tileM); },
          [&] { emitTile(tail); });
    });
  });
}

void RowsEmitter::emitPixelTile(const Operands &operands,
                                const igemm::TileAccess::Place &place) {
  results->emitPrefetch(place);
  SmallVector<Value> sums =
      emitProduct(operands, startValues(operands.tableOffset, place.rows));
  results->emit(sums, operands.tableOffset, place);
}

/// Accumulator [p][v] is at p * vectors() + v.
SmallVector<Value> RowsEmitter::startValues(Value tableOffset, int64_t rows) {
  SmallVector<Value> row, tile;
  for (int64_t v = 0; v < vectors(); ++v) {
    if (spec.tile.arith != Arith::I8Dot)
      row.push_back(b.cstLike(b.vec(b.f32(), b.lanes()), 0));
    else
      row.push_back(
          b.load(b.offset(b.offset(starts, tableOffset), v * vectorBytes),
                 b.vec(b.getI32Type(), b.lanes())));
  }
  for (int64_t p = 0; p < rows; ++p)
    tile.append(row);
  return tile;
}

SmallVector<Value> RowsEmitter::emitProduct(const Operands &operands,
                                            ArrayRef<Value> start) {
  Value zero = b.cst(0), one = b.cst(1);
  Value kernelPitch = b.mul(rowPitch, param(igemm::DilationH));
  Value filterPitch = b.mul(param(Planes), runBytes);
  return b.forLoop(
      zero, param(igemm::KernelH), one, start,
      [&](Value kh, ValueRange rowSums) {
        Value row = b.offset(operands.row, b.mul(kh, kernelPitch));
        Value filterRow = b.offset(operands.filter, b.mul(kh, filterPitch));
        return b.forLoop(
            zero, param(Planes), one, rowSums,
            [&](Value plane, ValueRange sums) {
              return emitRun(b.offset(row, b.mul(plane, param(RowBytes))),
                             b.offset(filterRow, b.mul(plane, runBytes)), sums);
            });
      });
}

/// The steps of a chunk read no element twice, see RowsSpec::chunkUnits.
SmallVector<Value> RowsEmitter::emitRun(Value row, Value filterRun,
                                        ValueRange start) {
  int64_t chunk = spec.chunkUnits();
  int64_t stepBytes = spec.tile.tileN * spec.tile.filterUnitBytes();
  auto steps = [&](Value unit, ValueRange sums, int64_t count, Value keep) {
    return emitSteps(b.offset(row, b.mul(unit, igemm::kUnitBytes)),
                     b.offset(filterRun, b.mul(unit, stepBytes)), sums, count,
                     keep);
  };
  // Half of the last pair of an odd run belongs to another pixel, which might
  // be infinite.
  bool isPaired = spec.tile.arith == Arith::BF16Dot;
  Value whole = isPaired ? b.div(param(RunElements), 2) : runUnits;
  Value inChunks = b.mul(b.div(whole, chunk), chunk);
  SmallVector<Value> sums = b.forLoop(b.cst(0), inChunks, b.cst(chunk), start,
                                      [&](Value unit, ValueRange at) {
                                        return steps(unit, at, chunk, nullptr);
                                      });
  if (chunk == 1 && !isPaired)
    return sums;
  return b.forLoop(
      inChunks, runUnits, b.cst(1), sums, [&](Value unit, ValueRange at) {
        Value keep;
        if (isPaired) {
          Value isHalf = b.slt(param(RunElements), b.mul(b.add(unit, 1), 2));
          keep = b.select(isHalf, b.cst(0xffff), b.cst(0xffffffff));
          keep = arith::TruncIOp::create(b, b.getI32Type(), keep);
        }
        return steps(unit, at, 1, keep);
      });
}

/// Multiplies `count` units from `row` and `filterRun` on; of each, only the
/// bits in `keep` if it is not null.
SmallVector<Value> RowsEmitter::emitSteps(Value row, Value filterRun,
                                          ValueRange start, int64_t count,
                                          Value keep) {
  SmallVector<Value> sums(start);
  int64_t stepBytes = spec.tile.tileN * spec.tile.filterUnitBytes();
  igemm::OuterProduct product(b, spec.tile.arith, spec.tile.filterDtype,
                              vectors());
  for (int64_t unit = 0; unit < count; ++unit) {
    auto loadUnit = [&](int64_t p) {
      int64_t offset =
          p * spec.pixelStep * spec.elementBytes() + unit * igemm::kUnitBytes;
      Value pixel = b.load(b.offset(row, offset), product.unitType());
      return keep ? b.andI(pixel, keep) : pixel;
    };
    product.emit(b.offset(filterRun, unit * stepBytes), loadUnit, sums);
  }
  return sums;
}

void directrows::emitKernel(KernelBuilder &b, const RowsSpec &spec) {
  RowsEmitter(b, spec).emit();
}
