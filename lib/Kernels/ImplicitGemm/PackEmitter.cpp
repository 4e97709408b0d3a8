//===- PackEmitter.cpp - Packs the input pixels of a tile -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each pixel of a tile and each tap, the channels go into the panel's lines
// in pieces: 64 bytes of units in nhwc, one block in a blocked layout. Taps
// that fall on padding read a line of the padding value over and over instead,
// which spares the loops a branch.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

PackEmitter::PackEmitter(KernelBuilder &b, const KernelSpec &spec, Value fill)
    : b(b), spec(spec), fill(fill) {
  for (int64_t p = 0; p < NumParams; ++p)
    params.push_back(b.getParam(p));
}

void PackEmitter::emit(Value input, Value first, Value count, Value panel) {
  Value width = param(OutWidth), zero = b.cst(0), one = b.cst(1);
  SmallVector<Value> start = {b.div(first, width), b.rem(first, width)};
  b.forLoop(zero, count, one, start, [&](Value pixel, ValueRange at) {
    Value row = at[0], column = at[1];
    emitPixel(input, row, column, b.offset(panel, b.mul(pixel, kLineBytes)));
    Value next = b.add(column, one);
    Value wraps = b.eq(next, width);
    return SmallVector<Value>{b.select(wraps, b.add(row, one), row),
                              b.select(wraps, zero, next)};
  });
}

void PackEmitter::emitPixel(Value input, Value row, Value column,
                            Value destination) {
  Value lineStep = b.cst(spec.tileM * kLineBytes);
  Value zero = b.cst(0), one = b.cst(1);
  if (!spec.alignedRuns) {
    // Units behind the last one meet zeros in the filter, and must not be NaN.
    Value last = b.mul(b.sub(param(Lines), 1), lineStep);
    b.store(b.cstLike(b.vec(b.f32(), kLineUnits), 0),
            b.offset(destination, last));
  }
  Value top = b.sub(b.mul(row, param(StrideH)), param(PadTop));
  Value left = b.sub(b.mul(column, param(StrideW)), param(PadLeft));
  Value unitsPerRow = b.mul(param(UnitsPerRun), param(KernelW));
  b.forLoop(zero, param(KernelH), one, [&](Value kh) {
    Value y = b.add(top, b.mul(kh, param(DilationH)));
    Value rowUnit = b.mul(kh, unitsPerRow);
    b.forLoop(zero, param(KernelW), one, [&](Value kw) {
      Value x = b.add(left, b.mul(kw, param(DilationW)));
      Value unit = b.add(rowUnit, b.mul(kw, param(UnitsPerRun)));
      if (spec.mergedRows)
        emitMergedRow(input, y, x, destination, unit);
      else
        emitTap(input, y, x, destination, unit);
    });
  });
}

void PackEmitter::emitTap(Value input, Value y, Value x, Value destination,
                          Value unit) {
  // Compared as unsigned numbers, negative coordinates are large.
  Value inside =
      b.andI(b.ult(y, param(InputHeight)), b.ult(x, param(InputWidth)));
  Value pixel = b.add(b.mul(y, param(InputWidth)), x);
  Value source = b.select(
      inside, b.offset(input, b.mul(pixel, param(InputPixelBytes))), fill);
  Value step = b.select(inside, param(InputPieceBytes), b.cst(0));
  if (spec.alignedRuns) {
    Value line = b.div(unit, kLineUnits);
    emitLines(source, step,
              b.offset(destination, b.mul(line, spec.tileM * kLineBytes)));
  } else {
    emitPieces(source, step, b.cst(0), param(RunElements), destination, unit);
  }
}

/// A row of the kernel from column x on. What lies left of the image or right
/// of it is left out of the loads; a row above or below reads the padding line.
void PackEmitter::emitMergedRow(Value input, Value y, Value x,
                                Value destination, Value unit) {
  Value inside = b.ult(y, param(InputHeight));
  Value zero = b.cst(0);
  Value pixel = b.add(b.mul(y, param(InputWidth)), x);
  Value source = b.select(
      inside, b.offset(input, b.mul(pixel, param(InputPixelBytes))), fill);
  Value step = b.select(inside, param(InputPieceBytes), zero);
  Value left = b.mul(b.sub(zero, x), param(PixelElements));
  Value right = b.mul(b.sub(param(InputWidth), x), param(PixelElements));
  Value from = b.select(inside, b.maxS(left, zero), zero);
  Value to =
      b.select(inside, b.minS(right, param(RunElements)), param(RunElements));
  emitPieces(source, step, from, to, destination, unit);
}

/// Copies whole lines.
void PackEmitter::emitLines(Value source, Value step, Value destination) {
  b.forLoop(param(Pieces), [&](Value piece) {
    Value units =
        loadPiece(b.offset(source, b.mul(piece, step)), /*mask=*/nullptr);
    b.store(units,
            b.offset(destination, b.mul(piece, spec.tileM * kLineBytes)));
  });
}

/// Copies pieces that may start anywhere in a line. Of the run's elements those
/// in [from, to) are read, the others are padding.
void PackEmitter::emitPieces(Value source, Value step, Value from, Value to,
                             Value destination, Value unit) {
  int64_t elements = spec.pieceElements(), units = spec.pieceUnits();
  b.forLoop(param(Pieces), [&](Value piece) {
    Value done = b.mul(piece, elements);
    Value mask = b.firstLanes(b.sub(to, done), elements);
    if (spec.mergedRows) {
      Value before = b.firstLanes(b.sub(from, done), elements);
      Value all = b.cstLike(before.getType(), -1);
      mask = b.andI(mask, arith::XOrIOp::create(b, before, all));
    }
    Value loaded = loadPiece(b.offset(source, b.mul(piece, step)), mask);
    Value first = b.add(unit, b.mul(piece, units));
    Value count =
        b.ceilDiv(b.sub(param(RunElements), done), b.cst(elements / units));
    storePiece(loaded, destination, first, count);
  });
}

Value PackEmitter::loadPiece(Value source, Value mask) {
  int64_t elements = spec.pieceElements();
  if (spec.arith == Arith::F32)
    return b.loadConverted(spec.inputDtype, source, elements, mask);
  VectorType type = b.vec(b.storageType(spec.inputDtype), elements);
  if (!mask)
    return toUnits(b.load(source, type));
  Value loaded = b.maskedLoad(source, mask, type);
  if (spec.mergedRows && spec.arith == Arith::I8Dot)
    loaded = b.select(mask, loaded, b.load(fill, type)); // Padding is not 0.
  return toUnits(loaded);
}

/// Elements as 4-byte units; signed bytes become unsigned ones by adding 128.
Value PackEmitter::toUnits(Value elements) {
  Value units = b.bitcast(elements, b.vec(b.getI32Type(), spec.pieceUnits()));
  if (spec.arith != Arith::I8Dot || spec.inputDtype != DType::I8)
    return units;
  Value flip = b.cstLike(units.getType(), static_cast<int32_t>(0x80808080));
  return arith::XOrIOp::create(b, units, flip);
}

void PackEmitter::storePiece(Value piece, Value destination, Value unit,
                             Value units) {
  Value lineStep = b.cst(spec.tileM * kLineBytes);
  Value line = b.offset(destination, b.mul(b.div(unit, kLineUnits), lineStep));
  Value lane = b.rem(unit, kLineUnits);
  Value first = b.offset(line, b.mul(lane, kUnitBytes));
  int64_t pieceUnits = spec.pieceUnits();
  if (pieceUnits < kLineUnits || spec.inputLayout.kind == Layout::Blocked) {
    // Blocks never straddle lines: a tap holds whole blocks of them.
    b.store(piece, first);
    return;
  }
  // The part in this line, then the rest in the next.
  Value present = b.firstLanes(units, pieceUnits);
  Value room = b.firstLanes(b.sub(b.cst(kLineUnits), lane), pieceUnits);
  b.maskedStore(piece, first, b.andI(present, room));
  Value all = b.cstLike(present.getType(), -1);
  Value rest = b.andI(present, arith::XOrIOp::create(b, room, all));
  Value next = b.offset(first, b.sub(lineStep, b.cst(kLineBytes)));
  b.maskedStore(piece, next, rest);
}
