//===- WeightsOuterKernel.cpp - Emits sums of outer products --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums of a task lie in scratch memory as [tile][tap][tileK][tileC] while
// other tiles are in the registers.
//
//===----------------------------------------------------------------------===//

#include "WeightsOuter.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::outer;

namespace {

class KernelEmitter {
public:
  KernelEmitter(KernelBuilder &b, const KernelSpec &spec);
  void emit();

private:
  /// One tap of one tile.
  struct Place {
    Value x, y;            ///< numbers 0 of the tile, of pixel 0
    Value depth, row;      ///< what the tap adds to a row's place in the input
    Value column;          ///< and to a pixel's; null where rows are merged
    Value channel;         ///< of the tile in its run
    Value first, last;     ///< rows of dy
    SmallVector<Value> on; ///< per vector, the channels that exist; or empty
  };

  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tileC / b.lanes(); }
  int64_t tileBytes() const { return spec.tileK * spec.tileC * 4; }
  VectorType vectorType() { return b.vec(b.f32(), b.lanes()); }

  void emitTask(Value task);
  void emitChunk(Value group, Value kTile, Value cTile, Value sums,
                 Value chunk);
  SmallVector<Value> loadSums(Value sums, Value isFirst);
  SmallVector<Value> emitRows(const Place &place, ValueRange start);
  SmallVector<Value> emitRow(const Place &place, Value xRow, Value yRow,
                             ValueRange start);
  SmallVector<Value> emitPixels(const Place &place, Value x, Value y,
                                Value begin, Value end, bool isEdge,
                                ValueRange start);
  SmallVector<Value> edgeMasks(const Place &place, Value pixel);
  SmallVector<Value> multiply(Value x, Value y, ArrayRef<Value> masks,
                              ValueRange sums);
  void emitResult(Value group, Value kTile, Value cTile, Value sums);
  void storeScalars(Value filter, Value sums, Value channel, Value count);
  void storeTaps(Value filter, Value sums, Value channel, Value count);
  void storeSquare(Value filter, Value sums, Value channel, Value count,
                   Value tap);
  Value elementAt(Value filter, Value channel, Value tap);

  KernelBuilder &b;
  const KernelSpec &spec;
  SmallVector<Value> params;
  Value xBase, yBase, result, scratch;
};

} // namespace

KernelEmitter::KernelEmitter(KernelBuilder &b, const KernelSpec &spec)
    : b(b), spec(spec) {
  for (int64_t p = 0; p < NumParams; ++p)
    params.push_back(b.getParam(p));
  xBase = b.getBuffer(0);
  yBase = b.getBuffer(1);
  result = b.getBuffer(2);
  scratch = b.getScratch();
}

void KernelEmitter::emit() {
  b.forTasks([&](Value task) { emitTask(task); });
}

void KernelEmitter::emitTask(Value task) {
  Value kBlock = b.rem(task, param(KBlocks));
  Value rest = b.div(task, param(KBlocks));
  Value cBlock = b.rem(rest, param(CBlocks));
  Value group = b.div(rest, param(CBlocks));
  Value kBegin = b.mul(kBlock, param(BlockK));
  Value kEnd = b.minS(b.add(kBegin, param(BlockK)), param(KTiles));
  Value cBegin = b.mul(cBlock, param(BlockC));
  Value cEnd = b.minS(b.add(cBegin, param(BlockC)), param(CTiles));
  auto forBlock = [&](function_ref<void(Value, Value, Value)> body) {
    b.forLoop(kBegin, kEnd, b.cst(1), [&](Value kTile) {
      b.forLoop(cBegin, cEnd, b.cst(1), [&](Value cTile) {
        Value index = b.add(b.mul(b.sub(kTile, kBegin), param(BlockC)),
                            b.sub(cTile, cBegin));
        Value bytes = b.mul(b.mul(index, param(Taps)), tileBytes());
        body(kTile, cTile, b.offset(scratch, bytes));
      });
    });
  };
  b.forLoop(b.cst(0), param(Rows), param(ChunkRows), [&](Value chunk) {
    forBlock([&](Value kTile, Value cTile, Value sums) {
      emitChunk(group, kTile, cTile, sums, chunk);
    });
  });
  forBlock([&](Value kTile, Value cTile, Value sums) {
    emitResult(group, kTile, cTile, sums);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds the rows of a chunk to all taps of a tile.
void KernelEmitter::emitChunk(Value group, Value kTile, Value cTile, Value sums,
                              Value chunk) {
  Value one = b.cst(1), zero = b.cst(0);
  Place place;
  Value channel = b.mul(cTile, spec.tileC);
  // Merged rows occur only with one group.
  Value xElement = b.add(b.mul(group, param(RunChannels)), channel);
  Value k = b.add(b.mul(group, param(OutChannels)), b.mul(kTile, spec.tileK));
  place.x = b.offset(xBase, b.mul(xElement, 4));
  place.y = b.offset(yBase, b.mul(spec.depthwise ? channel : k, 4));
  place.first = chunk;
  place.last = b.minS(b.add(chunk, param(ChunkRows)), param(Rows));
  for (int64_t v = 0; v < vectors() && spec.masked; ++v) {
    Value left = b.sub(param(RunChannels), b.add(channel, v * b.lanes()));
    place.on.push_back(b.firstLanes(left, b.lanes()));
  }
  place.channel = channel;
  Value isFirst = b.eq(chunk, zero);
  Value tapsOfDepth = b.mul(param(KernelH), param(KernelW));
  b.forLoop(zero, param(KernelD), one, [&](Value kd) {
    place.depth = b.sub(b.mul(kd, param(DilationD)), param(PadD));
    b.forLoop(zero, param(KernelH), one, [&](Value kh) {
      place.row = b.sub(b.mul(kh, param(DilationH)), param(PadH));
      Value tap = b.add(b.mul(kd, tapsOfDepth), b.mul(kh, param(KernelW)));
      b.forLoop(zero, param(KernelW), one, [&](Value kw) {
        if (!spec.mergedRows)
          place.column = b.sub(b.mul(kw, param(DilationW)), param(PadW));
        Value at = b.offset(sums, b.mul(b.add(tap, kw), tileBytes()));
        // A chunk is a block of the sum: see VectorFold.h.
        SmallVector<Value> zeros(spec.tileK * vectors(),
                                 b.cstLike(vectorType(), 0));
        SmallVector<Value> values = emitRows(place, zeros);
        SmallVector<Value> before = loadSums(at, isFirst);
        for (auto [i, value] : llvm::enumerate(values))
          b.store(b.addF(before[i], value),
                  b.offset(at, static_cast<int64_t>(i) * b.lanes() * 4));
      });
    });
  });
}

/// Loads the sums: zeros before the first chunk, when the scratch memory holds
/// anything.
SmallVector<Value> KernelEmitter::loadSums(Value sums, Value isFirst) {
  SmallVector<Type> types(spec.tileK * vectors(), vectorType());
  return b.ifThenElse(
      isFirst, types,
      [&] {
        return SmallVector<Value>(types.size(), b.cstLike(vectorType(), 0));
      },
      [&] {
        SmallVector<Value> loaded;
        for (size_t i = 0; i < types.size(); ++i)
          loaded.push_back(
              b.load(b.offset(sums, static_cast<int64_t>(i) * b.lanes() * 4),
                     vectorType()));
        return loaded;
      });
}

SmallVector<Value> KernelEmitter::emitRows(const Place &place,
                                           ValueRange start) {
  Value zero = b.cst(0), one = b.cst(1);
  // This computes the place of the first row, from which the loop counts up.
  Value height = b.rem(place.first, param(OutHeight));
  Value rest = b.div(place.first, param(OutHeight));
  SmallVector<Value> carried{height, b.rem(rest, param(OutDepth)),
                             b.div(rest, param(OutDepth))};
  size_t counters = carried.size();
  carried.append(start.begin(), start.end());
  SmallVector<Value> results = b.forLoop(
      place.first, place.last, one, carried, [&](Value row, ValueRange now) {
        Value y = now[0], z = now[1], image = now[2];
        Value inY = b.add(b.mul(y, param(StrideH)), place.row);
        Value inZ = b.add(b.mul(z, param(StrideD)), place.depth);
        Value inside =
            b.andI(b.ult(inY, param(InHeight)), b.ult(inZ, param(InDepth)));
        Value xRow = b.add(b.mul(inZ, param(InHeight)), inY);
        Value xBytes = b.add(b.mul(image, param(XImageBytes)),
                             b.mul(xRow, param(XRowBytes)));
        Value yRow = b.offset(place.y, b.mul(row, param(YRowBytes)));
        ValueRange sums = now.drop_front(counters);
        SmallVector<Type> types = llvm::to_vector(sums.getTypes());
        SmallVector<Value> added = b.ifThenElse(
            inside, types,
            [&] {
              return emitRow(place, b.offset(place.x, xBytes), yRow, sums);
            },
            [&] { return SmallVector<Value>(sums); });
        Value nextY = b.add(y, one), wrapsY = b.eq(nextY, param(OutHeight));
        Value nextZ = b.add(z, one), wrapsZ = b.eq(nextZ, param(OutDepth));
        Value wrapsBoth = b.andI(wrapsY, wrapsZ);
        SmallVector<Value> next{
            b.select(wrapsY, zero, nextY),
            b.select(wrapsBoth, zero, b.select(wrapsY, nextZ, z)),
            b.select(wrapsBoth, b.add(image, one), image)};
        next.append(added);
        return next;
      });
  return SmallVector<Value>(ArrayRef<Value>(results).drop_front(counters));
}

SmallVector<Value> KernelEmitter::emitRow(const Place &place, Value xRow,
                                          Value yRow, ValueRange start) {
  Value zero = b.cst(0), width = param(OutWidth);
  if (!spec.mergedRows) {
    // The outputs whose tap lies in the row.
    Value stride = param(StrideW);
    Value ahead = b.maxS(b.sub(zero, place.column), zero);
    Value left = b.maxS(b.sub(param(InWidth), place.column), zero);
    Value begin = b.ceilDiv(ahead, stride);
    Value end = b.minS(b.ceilDiv(left, stride), width);
    Value x = b.offset(xRow, b.mul(place.column, param(XPixelBytes)));
    return emitPixels(place, x, yRow, begin, end, /*isEdge=*/false, start);
  }
  Value x = b.offset(xRow, b.mul(b.sub(zero, param(PadW)), param(XPixelBytes)));
  SmallVector<Value> sums =
      emitPixels(place, x, yRow, zero, param(InsideBegin), true, start);
  sums = emitPixels(place, x, yRow, param(InsideBegin), param(InsideEnd), false,
                    sums);
  return emitPixels(place, x, yRow, param(InsideEnd), width, true, sums);
}

/// Adds the outer products of outputs [begin, end) of a row. `x` and `y` are
/// the data that output 0 reads. At an edge the run of x exceeds the row's
/// ends.
SmallVector<Value> KernelEmitter::emitPixels(const Place &place, Value x,
                                             Value y, Value begin, Value end,
                                             bool isEdge, ValueRange start) {
  Value xStep = b.mul(param(StrideW), param(XPixelBytes));
  Value yStep = param(YPixelBytes);
  return b.forLoop(
      begin, end, b.cst(1), start, [&](Value pixel, ValueRange sums) {
        SmallVector<Value> masks(place.on);
        if (isEdge)
          masks = edgeMasks(place, pixel);
        return multiply(b.offset(x, b.mul(pixel, xStep)),
                        b.offset(y, b.mul(pixel, yStep)), masks, sums);
      });
}

/// Lane l of vector v is number channel + v * lanes + l of the run; numbers
/// left and right of the image are masked out.
SmallVector<Value> KernelEmitter::edgeMasks(const Place &place, Value pixel) {
  Value start = b.sub(b.mul(pixel, param(StrideW)), param(PadW));
  Value channels = param(XChannels);
  Value from = b.mul(b.sub(b.cst(0), start), channels);
  Value to = b.mul(b.sub(param(InWidth), start), channels);
  SmallVector<Value> masks;
  for (int64_t v = 0; v < vectors(); ++v) {
    Value first = b.add(place.channel, v * b.lanes());
    Value before = b.firstLanes(b.sub(from, first), b.lanes());
    Value all = b.cstLike(before.getType(), -1);
    Value mask = b.andI(b.firstLanes(b.sub(to, first), b.lanes()),
                        arith::XOrIOp::create(b, before, all));
    masks.push_back(spec.masked ? b.andI(mask, place.on[v]) : mask);
  }
  return masks;
}

/// Accumulator [k][v] is at k * vectors() + v.
SmallVector<Value> KernelEmitter::multiply(Value x, Value y,
                                           ArrayRef<Value> masks,
                                           ValueRange start) {
  SmallVector<Value> sums(start), row;
  auto loadVector = [&](Value base, int64_t v) {
    Value at = b.offset(base, v * b.lanes() * 4);
    return masks.empty() ? b.load(at, vectorType())
                         : b.maskedLoad(at, masks[v], vectorType());
  };
  for (int64_t v = 0; v < vectors(); ++v)
    row.push_back(loadVector(x, v));
  if (spec.depthwise) {
    for (int64_t v = 0; v < vectors(); ++v)
      sums[v] = b.fma(loadVector(y, v), row[v], sums[v]);
    return sums;
  }
  for (int64_t k = 0; k < spec.tileK; ++k) {
    Value scalar = b.load(b.offset(y, k * 4), b.f32());
    Value factor = b.broadcast(scalar, b.lanes());
    for (int64_t v = 0; v < vectors(); ++v) {
      Value &sum = sums[k * vectors() + v];
      sum = b.fma(factor, row[v], sum);
    }
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Channel `channel` of tap `tap` of the filter of one output channel.
Value KernelEmitter::elementAt(Value filter, Value channel, Value tap) {
  Value element = b.add(b.mul(channel, param(Taps)), tap);
  return b.offset(filter,
                  b.mul(element, runtime::dtypeBytes(spec.resultDtype)));
}

void KernelEmitter::emitResult(Value group, Value kTile, Value cTile,
                               Value sums) {
  Value first = b.mul(kTile, spec.tileK), channel = b.mul(cTile, spec.tileC);
  Value kCount = b.minS(b.sub(param(OutChannels), first), b.cst(spec.tileK));
  Value count = b.minS(b.sub(param(RunChannels), channel), b.cst(spec.tileC));
  Value filterElements = b.mul(param(RunChannels), param(Taps));
  b.forLoop(kCount, [&](Value k) {
    Value out = b.add(b.add(b.mul(group, param(OutChannels)), first), k);
    Value element = b.mul(out, filterElements);
    Value filter =
        b.offset(result, b.mul(element, runtime::dtypeBytes(spec.resultDtype)));
    Value row = b.offset(sums, b.mul(k, spec.tileC * 4));
    if (spec.mergedRows)
      storeScalars(filter, row, channel, count);
    else
      storeTaps(filter, row, channel, count);
  });
}

/// Number r of the run of tap t belongs to channel r % C of tap
/// t * RowTaps + r / C.
void KernelEmitter::storeScalars(Value filter, Value sums, Value channel,
                                 Value count) {
  Value allTaps = b.mul(param(Taps), param(RowTaps));
  b.forLoop(param(Taps), [&](Value tap) {
    Value row = b.offset(sums, b.mul(tap, tileBytes()));
    b.forLoop(count, [&](Value i) {
      Value number = b.add(channel, i);
      Value c = b.rem(number, param(XChannels));
      Value inRow = b.div(number, param(XChannels));
      Value element =
          b.add(b.add(b.mul(c, allTaps), inRow), b.mul(tap, param(RowTaps)));
      Value at = b.offset(
          filter, b.mul(element, runtime::dtypeBytes(spec.resultDtype)));
      Value sum = b.load(b.offset(row, b.mul(i, 4)), b.f32());
      b.storeConverted(spec.resultDtype, sum, at);
    });
  });
}

void KernelEmitter::storeTaps(Value filter, Value sums, Value channel,
                              Value count) {
  int64_t lanes = b.lanes();
  b.forLoop(b.cst(0), count, b.cst(lanes), [&](Value i) {
    Value row = b.offset(sums, b.mul(i, 4));
    Value first = b.add(channel, i), left = b.sub(count, i);
    b.ifThenElse(
        b.eq(param(Taps), b.cst(1)),
        [&] {
          b.storeConverted(spec.resultDtype, b.load(row, vectorType()),
                           elementAt(filter, first, b.cst(0)),
                           b.firstLanes(left, lanes));
        },
        [&] {
          b.forLoop(b.cst(0), param(Taps), b.cst(lanes), [&](Value tap) {
            storeSquare(filter, row, first, left, tap);
          });
        });
  });
}

/// Taps are innermost in the result: a square of taps and channels is
/// transposed in registers. Behind the last tap, arbitrary scratch memory is
/// read but not stored.
void KernelEmitter::storeSquare(Value filter, Value sums, Value channel,
                                Value count, Value tap) {
  int64_t lanes = b.lanes();
  SmallVector<Value> square;
  for (int64_t t = 0; t < lanes; ++t)
    square.push_back(b.load(b.offset(sums, b.mul(b.add(tap, t), tileBytes())),
                            vectorType()));
  square = b.transpose(square);
  Value taps = b.firstLanes(b.sub(param(Taps), tap), lanes);
  Value none = b.cstLike(taps.getType(), 0);
  for (int64_t c = 0; c < lanes; ++c) {
    Value exists = b.slt(b.cst(c), count);
    b.storeConverted(spec.resultDtype, square[c],
                     elementAt(filter, b.add(channel, c), tap),
                     b.select(exists, taps, none));
  }
}

void outer::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  KernelEmitter(b, spec).emit();
}
