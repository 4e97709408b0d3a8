//===- FilterPack.cpp - Packs a filter at run time ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One task packs one tile of output channels. If output channels are
// contiguous, rows of them are copied, or interleaved if a unit holds several
// elements of K. If K is contiguous, squares of units are transposed in
// registers. The sums over K, which the zero point of the input is multiplied
// with, are then computed from the packed tile.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "Common/LaunchBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

namespace {

/// The properties that the code depends on, and the indices of its parameters.
struct PackKernel {
  Arith arith;
  DType dtype;
  int64_t tileN;
  bool rows; ///< output channels lie side by side, rather than K

  int64_t channelTiles, groups, channels, imageBytes, channelBytes;
  int64_t runs, runElements, runBytes, elementBytes, runUnits, units;
  int64_t zeroPoint;

  std::string symbol() const;
  void emit(KernelBuilder &b) const;
};

class FilterPackEmitter {
public:
  FilterPackEmitter(KernelBuilder &b, const PackKernel &kernel);
  void emitTask(Value task);

private:
  int64_t vectors() const { return kernel.tileN / b.lanes(); }
  int64_t storedBytes() const { return runtime::dtypeBytes(kernel.dtype); }
  Type unitType() const;
  Value unitAt(Value destination, Value unit, Value column);
  Value join(ArrayRef<Value> elements);
  void emitRows(Value source, Value destination, Value channels);
  void emitColumns(Value source, Value destination, Value channels);
  void emitSquare(ArrayRef<Value> lines, Value firstUnit, Value destination,
                  Value column, bool whole);
  void zeroUnits(Value destination, Value from, Value to);
  void emitSums(Value packed, Value sums);

  KernelBuilder &b;
  const PackKernel &kernel;
  int64_t perUnit, unitBytes;
  Value source, packed, starts;
};

} // namespace

FilterPackEmitter::FilterPackEmitter(KernelBuilder &b, const PackKernel &kernel)
    : b(b), kernel(kernel), perUnit(elementsPerUnit(kernel.arith)),
      unitBytes(perUnit * runtime::dtypeBytes(kernel.dtype)),
      source(b.getBuffer(0)), packed(b.getBuffer(1)) {
  if (kernel.arith == Arith::I8Dot)
    starts = b.getBuffer(2);
}

/// The type of a unit in registers: its bits, widened to 32 if it is transposed
/// that way.
Type FilterPackEmitter::unitType() const {
  return unitBytes == 2 ? Type(b.getI16Type()) : Type(b.getI32Type());
}

Value FilterPackEmitter::unitAt(Value destination, Value unit, Value column) {
  Value place = b.add(b.mul(unit, kernel.tileN), column);
  return b.offset(destination, b.mul(place, unitBytes));
}

void FilterPackEmitter::emitTask(Value task) {
  Value tiles = b.getParam(kernel.channelTiles);
  Value tile = b.rem(task, tiles), rest = b.div(task, tiles);
  Value groups = b.getParam(kernel.groups);
  Value group = b.rem(rest, groups), image = b.div(rest, groups);
  Value inGroup = b.mul(tile, kernel.tileN);
  Value channels = b.sub(b.getParam(kernel.channels), inGroup);
  Value channel = b.add(b.mul(group, b.getParam(kernel.channels)), inGroup);
  Value first =
      b.offset(source, b.add(b.mul(image, b.getParam(kernel.imageBytes)),
                             b.mul(channel, b.getParam(kernel.channelBytes))));
  Value units = b.getParam(kernel.units);
  Value rowBytes = b.cst(kernel.tileN * unitBytes);
  Value to = b.offset(packed, b.mul(b.mul(task, units), rowBytes));
  Value runs = b.getParam(kernel.runs), runUnits = b.getParam(kernel.runUnits);
  b.forLoop(runs, [&](Value run) {
    Value from = b.offset(first, b.mul(run, b.getParam(kernel.runBytes)));
    Value runTo = b.offset(to, b.mul(b.mul(run, runUnits), rowBytes));
    if (kernel.rows)
      emitRows(from, runTo, channels);
    else
      emitColumns(from, runTo, channels);
    Value used = b.ceilDiv(b.getParam(kernel.runElements), b.cst(perUnit));
    zeroUnits(runTo, used, runUnits);
  });
  zeroUnits(to, b.mul(runs, runUnits), units);
  if (kernel.arith == Arith::I8Dot)
    emitSums(to, b.offset(starts, b.mul(task, kernel.tileN * 4)));
}

void FilterPackEmitter::zeroUnits(Value destination, Value from, Value to) {
  Value zero = b.cstLike(b.vec(unitType(), b.lanes()), 0);
  b.forLoop(from, to, b.cst(1), [&](Value unit) {
    for (int64_t v = 0; v < vectors(); ++v)
      b.store(zero, unitAt(destination, unit, b.cst(v * b.lanes())));
  });
}

//===----------------------------------------------------------------------===//
// Contiguous output channels
//===----------------------------------------------------------------------===//

/// Joins vectors of consecutive elements of K to one of units.
Value FilterPackEmitter::join(ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  Type type = b.vec(b.getI32Type(), b.lanes());
  int64_t bits = 32 / static_cast<int64_t>(elements.size());
  Value units;
  for (auto [index, element] : llvm::enumerate(elements)) {
    Value wide = arith::ExtUIOp::create(b, type, element);
    if (index > 0)
      wide = arith::ShLIOp::create(
          b, wide, b.cstLike(type, static_cast<double>(bits * index)));
    units = units ? b.orI(units, wide) : wide;
  }
  return units;
}

void FilterPackEmitter::emitRows(Value from, Value to, Value channels) {
  Value step = b.getParam(kernel.elementBytes);
  Value elements = b.getParam(kernel.runElements);
  Type stored = b.vec(b.getIntegerType(8 * storedBytes()), b.lanes());
  // A vector that is entirely padding reads another channel, since it must not
  // read behind the buffer; its columns are ignored.
  SmallVector<Value> columns;
  for (int64_t v = 0; v < vectors(); ++v)
    columns.push_back(
        b.mul(b.minS(b.cst(v * b.lanes()), b.sub(channels, 1)), storedBytes()));
  auto emitUnit = [&](Value unit, bool whole) {
    Value element = b.mul(unit, perUnit);
    for (int64_t v = 0; v < vectors(); ++v) {
      SmallVector<Value> parts;
      for (int64_t e = 0; e < perUnit; ++e) {
        Value k = b.add(element, e);
        Value exists = b.slt(k, elements);
        if (!whole)
          k = b.minS(k, b.sub(elements, 1));
        Value row = b.offset(from, b.mul(k, step));
        Value part = b.load(b.offset(row, columns[v]), stored);
        if (!whole)
          part = b.select(exists, part, b.cstLike(stored, 0));
        parts.push_back(part);
      }
      b.store(join(parts), unitAt(to, unit, b.cst(v * b.lanes())));
    }
  };
  Value whole = b.div(elements, perUnit);
  b.forLoop(whole, [&](Value unit) { emitUnit(unit, /*whole=*/true); });
  if (perUnit > 1)
    b.forLoop(whole, b.ceilDiv(elements, b.cst(perUnit)), b.cst(1),
              [&](Value unit) { emitUnit(unit, /*whole=*/false); });
}

//===----------------------------------------------------------------------===//
// Contiguous K
//===----------------------------------------------------------------------===//

/// Transposes units [firstUnit, firstUnit + lanes) of as many channels, which
/// start at `lines`.
void FilterPackEmitter::emitSquare(ArrayRef<Value> lines, Value firstUnit,
                                   Value to, Value column, bool whole) {
  int64_t lanes = b.lanes();
  VectorType elementType =
      b.vec(b.getIntegerType(8 * storedBytes()), lanes * perUnit);
  VectorType wide = b.vec(b.getI32Type(), lanes);
  Value element = b.mul(firstUnit, perUnit);
  Value left = b.sub(b.getParam(kernel.runElements), element);
  Value mask;
  if (!whole)
    mask = b.firstLanes(left, lanes * perUnit);
  SmallVector<Value> square;
  for (Value line : lines) {
    Value loaded =
        b.load(b.offset(line, b.mul(element, storedBytes())), elementType);
    if (!whole)
      loaded = b.select(mask, loaded, b.cstLike(elementType, 0));
    square.push_back(unitBytes == 2
                         ? Value(arith::ExtUIOp::create(b, wide, loaded))
                         : b.bitcast(loaded, wide));
  }
  square = b.transpose(square);
  for (auto [index, row] : llvm::enumerate(square)) {
    Value unit = b.add(firstUnit, static_cast<int64_t>(index));
    Value bits = row;
    if (unitBytes == 2)
      bits = arith::TruncIOp::create(b, b.vec(b.getI16Type(), lanes), row);
    if (whole) {
      b.store(bits, unitAt(to, unit, column));
      continue;
    }
    Value exists = b.slt(b.cst(static_cast<int64_t>(index) * perUnit), left);
    b.ifThen(exists, [&] { b.store(bits, unitAt(to, unit, column)); });
  }
}

void FilterPackEmitter::emitColumns(Value from, Value to, Value channels) {
  Value step = b.getParam(kernel.channelBytes);
  int64_t lanes = b.lanes(), squareElements = lanes * perUnit;
  Value wholeUnits =
      b.mul(b.div(b.getParam(kernel.runElements), squareElements), lanes);
  Value units = b.ceilDiv(b.getParam(kernel.runElements), b.cst(perUnit));
  b.forLoop(b.cst(0), b.cst(kernel.tileN), b.cst(lanes), [&](Value column) {
    // Channels that do not exist read the last one.
    Value last = b.sub(channels, 1);
    Value line = b.offset(from, b.mul(b.minS(column, last), step));
    SmallVector<Value> lines = {line};
    for (int64_t i = 1; i < lanes; ++i) {
      Value exists = b.slt(b.add(column, i - 1), last);
      line = b.offset(line, b.select(exists, step, b.cst(0)));
      lines.push_back(line);
    }
    b.forLoop(b.cst(0), wholeUnits, b.cst(lanes), [&](Value unit) {
      emitSquare(lines, unit, to, column, /*whole=*/true);
    });
    b.forLoop(wholeUnits, units, b.cst(lanes), [&](Value unit) {
      emitSquare(lines, unit, to, column, /*whole=*/false);
    });
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Stores minus the zero point times the sum of each column of a packed tile.
void FilterPackEmitter::emitSums(Value tile, Value sums) {
  Type type = b.vec(b.getI32Type(), b.lanes());
  Value ones = b.cstLike(type, 0x01010101);
  SmallVector<Value> zeros(vectors(), b.cstLike(type, 0));
  SmallVector<Value> totals =
      b.forLoop(b.cst(0), b.getParam(kernel.units), b.cst(1), zeros,
                [&](Value unit, ValueRange sums) {
                  SmallVector<Value> next;
                  for (int64_t v = 0; v < vectors(); ++v) {
                    Value sum = sums[v];
                    Value units =
                        b.load(unitAt(tile, unit, b.cst(v * b.lanes())), type);
                    sum = multiplyAdd(b, Arith::I8Dot, ones, units, sum);
                    next.push_back(sum);
                  }
                  return next;
                });
  Value factor = arith::TruncIOp::create(
      b, b.getI32Type(), b.sub(b.cst(0), b.getParam(kernel.zeroPoint)));
  for (auto [v, total] : llvm::enumerate(totals))
    b.store(b.mul(total, b.broadcast(factor, b.lanes())),
            b.offset(sums, static_cast<int64_t>(v) * b.lanes() * 4));
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

std::string PackKernel::symbol() const {
  const char *order = rows ? "rows" : "columns";
  std::string units = "x" + std::to_string(elementsPerUnit(arith));
  return joinSymbol({"igemm_pack",
                     std::string(runtime::dtypeName(dtype)) + units,
                     "n" + std::to_string(tileN), order});
}

void PackKernel::emit(KernelBuilder &b) const {
  FilterPackEmitter emitter(b, *this);
  b.forTasks([&](Value task) { emitter.emitTask(task); });
}

void igemm::planFilterPack(SolutionPlan &plan, const KernelSpec &spec,
                           const Geometry &g, const PackedShape &shape,
                           const FilterSource &source, int64_t packed,
                           int64_t starts, int64_t inputZeroPoint) {
  assert((source.outChannel == 1 || source.element == 1) &&
         "neither output channels nor K lie side by side");
  LaunchBuilder launch(plan);
  launch.addBuffer(source.slot);
  launch.addBuffer({BufferSlot::Workspace, packed});
  if (spec.arith == Arith::I8Dot)
    launch.addBuffer({BufferSlot::Workspace, starts});
  int64_t bytes = runtime::dtypeBytes(source.dtype);
  int64_t tiles = llvm::divideCeil(g.outChannels, spec.tileN);
  PackKernel kernel{.arith = spec.arith,
                    .dtype = source.dtype,
                    .tileN = spec.tileN,
                    .rows = source.element != 1,
                    .channelTiles = launch.addParam(tiles),
                    .groups = launch.addParam(g.groups),
                    .channels = launch.addParam(g.outChannels),
                    .imageBytes = launch.addParam(source.image * bytes),
                    .channelBytes = launch.addParam(source.outChannel * bytes),
                    .runs = launch.addParam(shape.runs),
                    .runElements = launch.addParam(shape.runElements),
                    .runBytes = launch.addParam(source.run * bytes),
                    .elementBytes = launch.addParam(source.element * bytes),
                    .runUnits = launch.addParam(shape.unitsPerRun),
                    .units = launch.addParam(shape.units),
                    .zeroPoint = launch.addParam(inputZeroPoint)};
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      source.images * g.groups * tiles);
}
