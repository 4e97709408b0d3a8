//===- PackEmitter.cpp - Packs the input pixels of a tile -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each pixel of a tile and each tap, the channels go into the panel's lines
// in pieces: 64 bytes of units in nhwc, one block in a blocked layout. Taps on
// padding read a line of the padding value repeatedly instead, which avoids a
// branch in the loops. There are faster loops for runs that fill whole lines,
// and for windows of one pixel; they are chosen at run time, so that one kernel
// serves all shapes.
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

void PackEmitter::emit(Value input, Value first, Value count, Value panel,
                       const TapList &taps) {
  if (spec.skipsTaps)
    return emitWindows(input, first, count, panel, [&](const Window &window) {
      emitListedTaps(window, taps);
    });
  auto windows = [&](PackMode mode) {
    emitWindows(input, first, count, panel, [&](const Window &window) {
      if (mode == PackLines)
        emitLineWindow(window);
      else
        emitPieceWindow(window);
    });
  };
  if (spec.mergedRows || spec.pieceUnits() < kLineUnits)
    return windows(PackPieces);
  auto isMode = [&](PackMode mode) { return b.eq(param(Mode), b.cst(mode)); };
  auto windowsOfAnyRun = [&] {
    b.ifThenElse(
        isMode(PackLines), [&] { windows(PackLines); },
        [&] { windows(PackPieces); });
  };
  if (spec.inputLayout.kind != Layout::NHWC)
    return windowsOfAnyRun();
  b.ifThenElse(
      isMode(PackPixels), [&] { emitPixels(input, first, count, panel); },
      windowsOfAnyRun);
}

/// Packs a window of one pixel with stride 1 and no padding: the pixels of a
/// tile are contiguous.
void PackEmitter::emitPixels(Value input, Value first, Value count,
                             Value panel) {
  int64_t elements = spec.pieceElements();
  int64_t lineBytes = elements * runtime::dtypeBytes(spec.inputDtype);
  Value source = b.offset(input, b.mul(first, param(InputPixelBytes)));
  Value whole = b.div(param(RunElements), elements);
  Value rest = b.rem(param(RunElements), b.cst(elements));
  Value hasRest = b.slt(b.cst(0), rest);
  Value mask = b.firstLanes(rest, elements);
  b.forLoop(count, [&](Value pixel) {
    Value from = b.offset(source, b.mul(pixel, param(InputPixelBytes)));
    Value to = b.offset(panel, b.mul(pixel, kLineBytes));
    auto copy = [&](Value line, Value lanes) {
      Value units = loadPiece(b.offset(from, b.mul(line, lineBytes)), lanes);
      b.store(units, b.offset(to, b.mul(line, spec.tileM * kLineBytes)));
    };
    b.forLoop(whole, [&](Value line) { copy(line, nullptr); });
    b.ifThen(hasRest, [&] { copy(whole, mask); });
  });
}

void PackEmitter::emitWindows(Value input, Value first, Value count,
                              Value panel, PackWindow packWindow) {
  Value zero = b.cst(0), one = b.cst(1);
  // Columns, rows and slices are counted up, which avoids divisions in the
  // loop.
  SmallVector<Value> extents = {param(OutWidth)}, start;
  if (spec.hasDepth)
    extents.push_back(param(OutHeight));
  Value rest = first;
  for (Value extent : extents) {
    start.push_back(b.rem(rest, extent));
    rest = b.div(rest, extent);
  }
  start.push_back(rest);
  b.forLoop(zero, count, one, start, [&](Value pixel, ValueRange at) {
    auto corner = [&](size_t dim, Param stride, Param pad) {
      return b.sub(b.mul(at[dim], param(stride)), param(pad));
    };
    Window window = {input, corner(1, StrideH, PadTop),
                     corner(0, StrideW, PadLeft), nullptr,
                     b.offset(panel, b.mul(pixel, kLineBytes))};
    if (spec.hasDepth)
      window.front = corner(2, StrideD, PadFront);
    packWindow(window);
    SmallVector<Value> next(at);
    Value carry;
    for (size_t dim = 0; dim < next.size(); ++dim) {
      next[dim] = dim == 0 ? b.add(at[0], one)
                           : b.select(carry, b.add(at[dim], one), at[dim]);
      if (dim == extents.size())
        break;
      carry = b.eq(next[dim], extents[dim]);
      next[dim] = b.select(carry, zero, next[dim]);
    }
    return next;
  });
}

/// Runs `body` for each row of the kernel: its number, the row of the input and
/// whether that exists. With a depth, rows are numbered over all slices.
void PackEmitter::forKernelRows(
    const Window &window,
    llvm::function_ref<void(Value kernelRow, Value y, Value inside)> body) {
  auto rowsOfSlice = [&](Value firstRow, Value slice, Value sliceInside) {
    b.forLoop(param(KernelH), [&](Value kh) {
      Value y = b.add(window.top, b.mul(kh, param(DilationH)));
      // As unsigned numbers, negative coordinates are large.
      Value inside = b.ult(y, param(InputHeight));
      if (!slice)
        return body(kh, y, inside);
      body(b.add(firstRow, kh), b.add(b.mul(slice, param(InputHeight)), y),
           b.andI(inside, sliceInside));
    });
  };
  if (!spec.hasDepth)
    return rowsOfSlice(nullptr, nullptr, nullptr);
  b.forLoop(param(KernelD), [&](Value kd) {
    Value z = b.add(window.front, b.mul(kd, param(DilationD)));
    rowsOfSlice(b.mul(kd, param(KernelH)), z, b.ult(z, param(InputDepth)));
  });
}

/// Returns the tap at (y, x), or the padding line, read repeatedly.
PackEmitter::Source PackEmitter::getSource(Value input, Value y, Value x,
                                           Value inside) {
  Value pixel = b.add(b.mul(y, param(InputWidth)), x);
  Value pointer = b.offset(input, b.mul(pixel, param(InputPixelBytes)));
  return {b.select(inside, pointer, fill),
          b.select(inside, param(InputPieceBytes), b.cst(0))};
}

/// Packs the taps of the list, which are runs of whole lines.
void PackEmitter::emitListedTaps(const Window &window, const TapList &taps) {
  Value tapBytes = b.mul(param(Pieces), spec.tileM * kLineBytes);
  taps.forTaps(b, {}, [&](Value tap, ValueRange) -> SmallVector<Value> {
    auto get = [&](TileTaps::Column column) {
      return TapList::get(b, tap, column);
    };
    Value y = b.add(window.top, get(TileTaps::Rows));
    Value x = b.add(window.left, get(TileTaps::Columns));
    Value inside =
        b.andI(b.ult(y, param(InputHeight)), b.ult(x, param(InputWidth)));
    if (spec.hasDepth) {
      Value z = b.add(window.front, get(TileTaps::Slices));
      inside = b.andI(inside, b.ult(z, param(InputDepth)));
      y = b.add(b.mul(z, param(InputHeight)), y);
    }
    emitLines(
        getSource(window.input, y, x, inside), param(Pieces),
        b.offset(window.destination, b.mul(get(TileTaps::Number), tapBytes)));
    return {};
  });
}

/// Packs runs of whole lines. If a row of the window lies inside of the image,
/// its taps are one long run.
void PackEmitter::emitLineWindow(const Window &window) {
  Value lineStep = b.cst(spec.tileM * kLineBytes);
  Value reach = b.add(window.left, param(KernelW));
  Value isInside =
      b.andI(b.cmp(KernelBuilder::Pred::sge, window.left, b.cst(0)),
             b.cmp(KernelBuilder::Pred::sle, reach, param(InputWidth)));
  Value oneRun = b.andI(isInside, b.slt(b.cst(0), param(RowLines)));
  Value tapBytes = b.mul(param(Pieces), lineStep);
  Value rowBytes = b.mul(param(KernelW), tapBytes);
  forKernelRows(window, [&](Value kernelRow, Value y, Value rowInside) {
    Value to = b.offset(window.destination, b.mul(kernelRow, rowBytes));
    b.ifThenElse(
        oneRun,
        [&] {
          emitLines(getSource(window.input, y, window.left, rowInside),
                    param(RowLines), to);
        },
        [&] {
          b.forLoop(param(KernelW), [&](Value kw) {
            Value x = b.add(window.left, b.mul(kw, param(DilationW)));
            Value inside = b.andI(rowInside, b.ult(x, param(InputWidth)));
            emitLines(getSource(window.input, y, x, inside), param(Pieces),
                      b.offset(to, b.mul(kw, tapBytes)));
          });
        });
  });
}

void PackEmitter::emitPieceWindow(const Window &window) {
  // Units behind the last one are multiplied by zeros of the filter, and must
  // not be NaN.
  Value last = b.mul(b.sub(param(Lines), 1), spec.tileM * kLineBytes);
  b.store(b.cstLike(b.vec(b.f32(), kLineUnits), 0),
          b.offset(window.destination, last));
  Value unitsPerRow = b.mul(param(UnitsPerRun), param(KernelW));
  forKernelRows(window, [&](Value kernelRow, Value y, Value rowInside) {
    Value rowUnit = b.mul(kernelRow, unitsPerRow);
    b.forLoop(param(KernelW), [&](Value kw) {
      Value x = b.add(window.left, b.mul(kw, param(DilationW)));
      Value unit = b.add(rowUnit, b.mul(kw, param(UnitsPerRun)));
      if (spec.mergedRows)
        return emitMergedRow(window, y, x, rowInside, unit);
      Value inside = b.andI(rowInside, b.ult(x, param(InputWidth)));
      Source source = getSource(window.input, y, x, inside);
      emitPieces(source, b.cst(0), param(RunElements), window.destination,
                 unit);
    });
  });
}

/// Packs a row of the kernel from column x on. The parts left and right of the
/// image are not loaded; a row above or below reads the padding line.
void PackEmitter::emitMergedRow(const Window &window, Value y, Value x,
                                Value inside, Value unit) {
  Value zero = b.cst(0);
  Value left = b.mul(b.sub(zero, x), param(PixelElements));
  Value right = b.mul(b.sub(param(InputWidth), x), param(PixelElements));
  Value from = b.select(inside, b.maxS(left, zero), zero);
  Value to =
      b.select(inside, b.minS(right, param(RunElements)), param(RunElements));
  emitPieces(getSource(window.input, y, x, inside), from, to,
             window.destination, unit);
}

/// Copies whole lines.
void PackEmitter::emitLines(Source source, Value lines, Value destination) {
  b.forLoop(lines, [&](Value line) {
    Value units = loadPiece(b.offset(source.pointer, b.mul(line, source.step)),
                            /*mask=*/nullptr);
    b.store(units, b.offset(destination, b.mul(line, spec.tileM * kLineBytes)));
  });
}

/// Copies pieces that may start anywhere in a line. The run's elements in
/// [from, to) are read, the others are padding.
void PackEmitter::emitPieces(Source source, Value from, Value to,
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
    Value loaded =
        loadPiece(b.offset(source.pointer, b.mul(piece, source.step)), mask);
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

/// Converts elements to 4-byte units; signed bytes become unsigned ones by
/// adding 128.
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
  // First comes the part in this line, then the rest in the next.
  Value present = b.firstLanes(units, pieceUnits);
  Value room = b.firstLanes(b.sub(b.cst(kLineUnits), lane), pieceUnits);
  b.maskedStore(piece, first, b.andI(present, room));
  Value all = b.cstLike(present.getType(), -1);
  Value rest = b.andI(present, arith::XOrIOp::create(b, room, all));
  Value next = b.offset(first, b.sub(lineStep, b.cst(kLineBytes)));
  b.maskedStore(piece, next, rest);
}
