//===- KernelEmitter.cpp - Emits a Winograd kernel ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

Context::Context(KernelBuilder &b, const igemm::KernelSpec &output,
                 bool dilated)
    : b(b) {
  for (int64_t p = 0; p <= DilationW; ++p)
    params.push_back(p < NumParams || dilated
                         ? b.getParam(getFirstParam(output) + p)
                         : b.cst(1));
}

void Context::forParts(Value first, Value last, int64_t step,
                       PartBody body) const {
  Value tilesX = params[TilesX], tilesY = params[TilesY];
  Value firstRow = b.div(first, tilesX), lastRow = b.ceilDiv(last, tilesX);
  b.forLoop(firstRow, lastRow, b.cst(1), [&](Value row) {
    Value image = b.div(row, tilesY), y = b.rem(row, tilesY);
    Value start = b.mul(row, tilesX);
    Value from = b.maxS(first, start);
    Value to = b.minS(last, b.add(start, tilesX));
    b.forLoop(from, to, b.cst(step), [&](Value tile) {
      Value count = b.minS(b.cst(step), b.sub(to, tile));
      body(tile, count, image, y, b.sub(tile, start));
    });
  });
}

namespace {

class KernelEmitter {
public:
  KernelEmitter(KernelBuilder &b, const ProductSpec &spec,
                const Context &context, Value memory, TileSteps &steps);
  void emit();

private:
  /// The prefetches from the filter's next point during a panel's products: the
  /// part from `first` on, by `advance` bytes per kUnroll channels.
  struct Ahead {
    Value first, advance;
  };

  int64_t vectors() const { return spec.tileN / b.lanes(); }
  /// The bytes of a unit's and of a line's filters.
  int64_t stepBytes() const { return spec.tileN * igemm::kUnitBytes; }
  int64_t lineBytes() const { return igemm::kLineUnits * stepBytes(); }
  void emitTask(Value firstTile, Value lastTile, Value group,
                Value channelBlock);
  void emitMissingTiles(Value tiles);
  /// The operands of a register tile's products.
  struct Factors {
    Value panel, filter;
    Ahead ahead;
  };
  void emitProducts(const Factors &factors, Value destination);
  void emitIntegerProducts(const Factors &factors, Value destination);
  SmallVector<Value> emitSums(const Factors &factors, Value firstLine,
                              Value lastLine);
  Type sumType();
  using Visit = function_ref<void(Value sum, int64_t vector, Value place)>;
  void forSums(ValueRange sums, Value destination, Visit visit);
  SmallVector<Value> emitSteps(Value a, Value w, Value ahead,
                               ValueRange accumulators);

  /// Steps of the channels between two tests of the loop.
  static constexpr int64_t kUnroll = 4;
  KernelBuilder &b;
  const ProductSpec &spec;
  const Context &context;
  TileSteps &steps;
  PanelStrides strides;
  Value input, filter, filterPanelBytes, panels, products;
  /// The lines of integers whose sums fit 32 bits.
  Value exactLines;
};

} // namespace

KernelEmitter::KernelEmitter(KernelBuilder &b, const ProductSpec &spec,
                             const Context &context, Value memory,
                             TileSteps &steps)
    : b(b), spec(spec), context(context), steps(steps),
      strides(b, context, spec) {
  input = b.getBuffer(0);
  filter = b.getBuffer(1);
  filterPanelBytes = b.mul(context[Lines], lineBytes());
  if (spec.isInteger()) {
    filterPanelBytes = b.add(filterPanelBytes, stepBytes());
    exactLines = b.load(filter, b.i64());
    filter = b.offset(filter, kFilterHeadBytes);
  }
  panels = memory;
  products = b.offset(panels, b.mul(strides.pointBytes, spec.points));
}

void KernelEmitter::emit() {
  Value note = b.getScratch();
  b.forTasks([&](Value task) {
    Value channelBlock = b.rem(task, context[ChannelBlocks]);
    Value tiles = b.div(task, context[ChannelBlocks]);
    Value group = b.div(tiles, context[TileBlocks]);
    Value first = b.mul(b.rem(tiles, context[TileBlocks]), context[BlockTiles]);
    Value last = b.minS(b.add(first, context[BlockTiles]), context[Tiles]);
    // The previous task's panels may be those of this one. Blocks count from 1
    // in the note, which is 0 when a launch begins.
    Value number = b.add(tiles, 1);
    Value kept = b.load(note, b.i64());
    b.ifThen(b.cmp(KernelBuilder::Pred::ne, number, kept), [&] {
      steps.emitInput(b.offset(input, b.mul(group, context[InputGroupBytes])),
                      first, last, panels);
      emitMissingTiles(b.sub(last, first));
      b.store(number, note);
    });
    emitTask(first, last, group, channelBlock);
  });
}

/// Writes zeros where the last panel has more rows than there are tiles: those
/// rows are multiplied too, and products of denormal numbers are slow.
void KernelEmitter::emitMissingTiles(Value tiles) {
  Value rows = b.rem(tiles, spec.tileM);
  Value last = b.mul(b.div(tiles, spec.tileM), strides.panelBytes);
  Value zero = b.cstLike(b.vec(b.f32(), kLineChannels), 0);
  b.ifThen(b.slt(b.cst(0), rows), [&] {
    b.forLoop(b.cst(spec.points), [&](Value point) {
      Value panel =
          b.offset(panels, b.add(b.mul(point, strides.pointBytes), last));
      b.forLoop(context[Lines], [&](Value line) {
        Value at = b.offset(panel, b.mul(line, spec.tileM * kLineBytes));
        b.forLoop(rows, b.cst(spec.tileM), b.cst(1), [&](Value row) {
          b.store(zero, b.offset(at, b.mul(row, kLineBytes)));
        });
      });
    });
  });
}

void KernelEmitter::emitTask(Value firstTile, Value lastTile, Value group,
                             Value channelBlock) {
  int64_t points = spec.points;
  Value tilePanels = b.ceilDiv(b.sub(lastTile, firstTile), b.cst(spec.tileM));
  Value firstChannels = b.mul(channelBlock, context[BlockN]);
  Value lastChannels =
      b.minS(b.add(firstChannels, context[BlockN]), context[ChannelTiles]);
  // One point's filter comes from memory, or the last-level cache, once for all
  // panels. Each panel of the previous point prefetches a part of it: if the
  // first panel prefetched all of it, it would wait, most of all where threads
  // share a memory. Behind the last point is the next tile of channels; behind
  // the last tile, nothing useful.
  Value advance = b.ceilDiv(b.cst(kUnroll * stepBytes()), tilePanels);
  Value partBytes =
      b.mul(b.mul(context[Lines], igemm::kLineUnits / kUnroll), advance);
  b.forLoop(firstChannels, lastChannels, b.cst(1), [&](Value channelTile) {
    Value index = b.add(b.mul(group, context[ChannelTiles]), channelTile);
    Value filterTile =
        b.offset(filter, b.mul(b.mul(index, points), filterPanelBytes));
    b.forLoop(b.cst(points), [&](Value point) {
      Value filterPanel = b.offset(filterTile, b.mul(point, filterPanelBytes));
      Value inputPanels = b.offset(panels, b.mul(point, strides.pointBytes));
      Value destination = b.offset(products, b.mul(point, stepBytes()));
      b.forLoop(tilePanels, [&](Value tilePanel) {
        Value row = b.mul(tilePanel, spec.tileM);
        Value part = b.add(filterPanelBytes, b.mul(tilePanel, partBytes));
        Factors factors = {
            b.offset(inputPanels, b.mul(tilePanel, strides.panelBytes)),
            filterPanel,
            {b.offset(filterPanel, part), advance}};
        Value place = b.offset(destination, b.mul(row, spec.tileBytes()));
        if (spec.isInteger())
          emitIntegerProducts(factors, place);
        else
          emitProducts(factors, place);
      });
    });
    steps.emitOutput(products, firstTile, lastTile, group,
                     b.mul(channelTile, spec.tileN));
  });
}

/// Multiplies one register tile: tileM tiles by tileN channels at one point.
void KernelEmitter::emitProducts(const Factors &factors, Value destination) {
  forSums(emitSums(factors, b.cst(0), context[Lines]), destination,
          [&](Value sum, int64_t, Value place) { b.store(sum, place); });
}

/// Sums of as many lines as are exact become numbers, which are added up in
/// memory.
void KernelEmitter::emitIntegerProducts(const Factors &factors,
                                        Value destination) {
  VectorType type = b.vec(b.f32(), b.lanes());
  Value scales = b.offset(factors.filter, b.mul(context[Lines], lineBytes()));
  b.forLoop(b.cst(0), context[Lines], exactLines, [&](Value first) {
    Value last = b.minS(b.add(first, exactLines), context[Lines]);
    SmallVector<Value> sums = emitSums(factors, first, last);
    SmallVector<Value> scale;
    for (int64_t v = 0; v < vectors(); ++v)
      scale.push_back(
          b.load(b.offset(scales, v * b.lanes() * igemm::kUnitBytes), type));
    auto toNumber = [&](Value sum) {
      return Value(arith::SIToFPOp::create(b, type, sum));
    };
    b.ifThenElse(
        b.eq(first, b.cst(0)),
        [&] {
          forSums(sums, destination, [&](Value sum, int64_t v, Value place) {
            b.store(b.mulF(toNumber(sum), scale[v]), place);
          });
        },
        [&] {
          forSums(sums, destination, [&](Value sum, int64_t v, Value place) {
            b.store(b.fma(toNumber(sum), scale[v], b.load(place, type)), place);
          });
        });
  });
}

Type KernelEmitter::sumType() {
  return b.vec(spec.isInteger() ? Type(b.getI32Type()) : b.f32(), b.lanes());
}

/// The sums over the channels of some lines, by tile and vector of channels.
SmallVector<Value> KernelEmitter::emitSums(const Factors &factors,
                                           Value firstLine, Value lastLine) {
  Value zero = b.cst(0), one = b.cst(1);
  SmallVector<Value> start(spec.tileM * vectors(), b.cstLike(sumType(), 0));
  return b.forLoop(
      firstLine, lastLine, one, start, [&](Value line, ValueRange lineSums) {
        Value a = b.offset(factors.panel, b.mul(line, spec.tileM * kLineBytes));
        Value w = b.offset(factors.filter, b.mul(line, lineBytes()));
        Value stepsBefore = b.mul(line, igemm::kLineUnits / kUnroll);
        Value next = b.offset(factors.ahead.first,
                              b.mul(stepsBefore, factors.ahead.advance));
        return b.forLoop(
            zero, b.cst(igemm::kLineUnits / kUnroll), one, lineSums,
            [&](Value step, ValueRange inner) {
              return emitSteps(
                  b.offset(a, b.mul(step, kUnroll * igemm::kUnitBytes)),
                  b.offset(w, b.mul(step, kUnroll * stepBytes())),
                  b.offset(next, b.mul(step, factors.ahead.advance)), inner);
            });
      });
}

/// Runs `visit` for each sum and its place among the products.
void KernelEmitter::forSums(ValueRange sums, Value destination, Visit visit) {
  for (int64_t p = 0; p < spec.tileM; ++p)
    for (int64_t v = 0; v < vectors(); ++v)
      visit(sums[p * vectors() + v], v,
            b.offset(destination,
                     p * spec.tileBytes() + v * b.lanes() * igemm::kUnitBytes));
}

/// kUnroll units; `a` and `w` point to the first one in the panels.
SmallVector<Value> KernelEmitter::emitSteps(Value a, Value w, Value ahead,
                                            ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  // With several panels, steps need fewer prefetches than this emits:
  // duplicates hit the cache, and a loop with the exact number took longer.
  for (int64_t at = 0; at < kUnroll * stepBytes(); at += kLineBytes)
    LLVM::Prefetch::create(b, b.offset(ahead, at), /*rw=*/0, /*hint=*/2,
                           /*cache=*/1);
  igemm::OuterProduct product(b, spec.arith, runtime::DType::F32, vectors());
  for (int64_t step = 0; step < kUnroll; ++step) {
    auto loadUnit = [&](int64_t p) {
      return b.load(b.offset(a, p * kLineBytes + step * igemm::kUnitBytes),
                    product.unitType());
    };
    product.emit(b.offset(w, step * stepBytes()), loadUnit, sums);
  }
  return sums;
}

void winograd::emitTasks(KernelBuilder &b, const ProductSpec &spec,
                         const Context &context, Value memory,
                         TileSteps &steps) {
  KernelEmitter(b, spec, context, memory, steps).emit();
}

namespace {
class WinogradSteps final : public TileSteps {
public:
  WinogradSteps(KernelBuilder &b, const KernelSpec &spec,
                const Context &context, const Scratch &scratch)
      : before(b, spec, context, scratch), behind(b, spec, context, scratch) {}

  void emitInput(Value input, Value first, Value last, Value panels) override {
    before.emit(input, first, last, panels);
  }
  void emitOutput(Value products, Value first, Value last, Value group,
                  Value channel) override {
    behind.emit(products, first, last, group, channel);
  }

private:
  InputTransform before;
  OutputTransform behind;
};
} // namespace

/// Fills the line that is read in place of pixels outside of the image.
static void emitZeros(KernelBuilder &b, const KernelSpec &spec, Value line) {
  Value zeros = b.cstLike(b.vec(b.f32(), kLineChannels), 0);
  if (spec.product.isInteger())
    zeros = b.broadcast(
        arith::TruncIOp::create(b, b.getI8Type(), b.getParam(igemm::FillByte)),
        kLineBytes);
  b.store(zeros, line);
}

void winograd::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  Context context(b, spec.output, spec.dilated);
  ScratchLayout layout(spec.transform);
  Scratch scratch;
  scratch.zeros = b.offset(b.getScratch(), kNoteBytes);
  scratch.between = b.offset(scratch.zeros, kLineBytes);
  scratch.staging = b.offset(scratch.between, layout.betweenBytes);
  emitZeros(b, spec, scratch.zeros);
  WinogradSteps steps(b, spec, context, scratch);
  emitTasks(b, spec.product, context,
            b.offset(scratch.staging, layout.stagingBytes), steps);
}
