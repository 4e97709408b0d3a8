//===- StrassenEmitter.cpp - Emits a product by Strassen's scheme ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task has some tiles of rows and of columns of a block, at the same places
// of all blocks. If the depth is so long that the panels do not stay in the L2,
// it is cut, too, and the sums are kept from one cut to the next.
//
//===----------------------------------------------------------------------===//

#include "Strassen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::strassen;
using igemm::kLineBytes;
using igemm::kLineUnits;
using igemm::kUnitBytes;
using igemm::kUnroll;
using igemm::Param;

namespace {

class StrassenEmitter {
public:
  StrassenEmitter(KernelBuilder &b, const KernelSpec &spec);
  void emit();

private:
  /// The work between two changes of panels: tiles of rows and of columns, and
  /// lines of the depth.
  struct Block {
    Value firstTile, lastTile, firstColumns, lastColumns, firstLine, lastLine;
  };
  /// The prefetches of a product from the weights of the next one: the part
  /// from `first` on, by `advance` bytes per kUnroll steps.
  struct Ahead {
    Value first, advance;
  };

  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tile.tileN / b.lanes(); }
  VectorType vectorType() { return b.vec(b.f32(), b.lanes()); }
  /// The bytes that all tiles of the task's rows take as sums, for all blocks
  /// of the result and one tile of columns.
  Value sumBytes() {
    return b.mul(param(igemm::BlockM), spec.scheme.blocks() * spec.sumBytes());
  }
  Value panelBytes(Value lines) {
    return b.mul(lines, spec.tile.tileM * kLineBytes);
  }

  Value emitTask(Value task, Value packed);
  void emitPack(const Block &block);
  void emitRowSums(Value row, const Block &block, Value panel);
  Value emitSum(const Sum &sum, ArrayRef<Value> blocks);
  void emitColumns(const Block &block, Value columnTile);
  void clearSums(Value sums);
  void emitProducts(const Block &block, Value columnTile, Value sums);
  SmallVector<Value> multiply(Value panel, Value weights, Value lines,
                              const Ahead &ahead);
  SmallVector<Value> emitSteps(Value a, Value w, Value ahead,
                               ValueRange accumulators);
  void addToBlocks(ArrayRef<Value> product, Value number, Value sums);
  void store(const Block &block, Value columnTile, Value sums);
  void storeTile(Value part, Value tile, Value columnTile, Value sums);

  KernelBuilder &b;
  const KernelSpec &spec;
  SmallVector<Value> params;
  std::optional<igemm::ResultEmitter> results;
  Value input, weights, table, panels, allSums;
};

} // namespace

StrassenEmitter::StrassenEmitter(KernelBuilder &b, const KernelSpec &spec)
    : b(b), spec(spec) {
  for (int64_t p = 0; p < igemm::NumParams; ++p)
    params.push_back(b.getParam(p));
  input = b.getBuffer(0);
  weights = b.getBuffer(1);
  table = b.getBuffer(2);
  results.emplace(b, spec.tile, /*firstBuffer=*/3, /*scales=*/nullptr);
  panels = b.getScratch();
  allSums = b.offset(panels, b.mul(param(PointBytes), spec.scheme.rank()));
}

void StrassenEmitter::emit() {
  b.forLoop(b.getBegin(), b.getEnd(), b.cst(1), b.cst(-1),
            [&](Value task, ValueRange packed) -> SmallVector<Value> {
              return {emitTask(task, packed[0])};
            });
}

/// Returns the number of the rows that are packed now; `packed` were before.
/// Panels of a part of the depth are never kept.
Value StrassenEmitter::emitTask(Value task, Value packed) {
  // Neighbouring tasks share the rows: blocks of columns run fastest.
  Value columnBlock = b.rem(task, param(igemm::ChannelBlocks));
  Value rowBlock = b.div(task, param(igemm::ChannelBlocks));
  Value firstTile = b.mul(rowBlock, param(igemm::BlockM));
  Value firstColumns = b.mul(columnBlock, param(igemm::BlockN));
  Value isCut = b.slt(b.cst(1), param(igemm::KBlocks));
  Value isNew = b.cmp(KernelBuilder::Pred::ne, rowBlock, packed);
  b.forLoop(param(igemm::KBlocks), [&](Value cut) {
    Value firstLine = b.mul(cut, param(igemm::BlockLines));
    Block block = {firstTile,
                   b.minS(b.add(firstTile, param(igemm::BlockM)),
                          param(igemm::PixelTiles)),
                   firstColumns,
                   b.minS(b.add(firstColumns, param(igemm::BlockN)),
                          param(igemm::ChannelTiles)),
                   firstLine,
                   b.minS(b.add(firstLine, param(igemm::BlockLines)),
                          param(igemm::Lines))};
    b.ifThen(b.orI(isCut, isNew), [&] { emitPack(block); });
    b.forLoop(block.firstColumns, block.lastColumns, b.cst(1),
              [&](Value columnTile) { emitColumns(block, columnTile); });
  });
  return rowBlock;
}

//===----------------------------------------------------------------------===//
// Sums of the input's blocks
//===----------------------------------------------------------------------===//

void StrassenEmitter::emitPack(const Block &block) {
  Value tileBytes = panelBytes(b.sub(block.lastLine, block.firstLine));
  b.forLoop(block.firstTile, block.lastTile, b.cst(1), [&](Value tile) {
    Value panel =
        b.offset(panels, b.mul(b.sub(tile, block.firstTile), tileBytes));
    Value first = b.mul(tile, spec.tile.tileM);
    b.forLoop(b.cst(spec.tile.tileM), [&](Value row) {
      emitRowSums(b.add(first, row), block,
                  b.offset(panel, b.mul(row, kLineBytes)));
    });
  });
}

/// Packs the sums for one row of each block. A row that a block lacks is
/// another one: what is computed from it is not stored.
void StrassenEmitter::emitRowSums(Value row, const Block &block, Value panel) {
  int64_t parts = spec.scheme.parts, lanes = b.lanes();
  Value lastRow = b.sub(param(igemm::OutPixels), 1);
  SmallVector<Value> rows;
  for (int64_t part = 0; part < parts; ++part) {
    Value inMatrix = b.add(row, b.mul(param(BlockRows), part));
    rows.push_back(b.offset(input, b.mul(b.minS(inMatrix, lastRow),
                                         param(igemm::InputPixelBytes))));
  }
  b.forLoop(block.firstLine, block.lastLine, b.cst(1), [&](Value line) {
    Value to = b.offset(panel, panelBytes(b.sub(line, block.firstLine)));
    for (int64_t unit = 0; unit < kLineUnits; unit += lanes) {
      Value at = b.add(b.mul(line, kLineBytes), unit * kUnitBytes);
      SmallVector<Value> blocks;
      for (int64_t i = 0; i < spec.scheme.blocks(); ++i) {
        Value part = b.mul(param(BlockDepthBytes), i % parts);
        blocks.push_back(
            b.load(b.offset(rows[i / parts], b.add(at, part)), vectorType()));
      }
      Value place = b.offset(to, unit * kUnitBytes);
      for (const Product &product : spec.scheme.products) {
        b.store(emitSum(product.left, blocks), place);
        place = b.offset(place, param(PointBytes));
      }
    }
  });
}

Value StrassenEmitter::emitSum(const Sum &sum, ArrayRef<Value> blocks) {
  Value total = blocks[sum.front().block];
  for (const Term &term : ArrayRef(sum).drop_front())
    total = term.sign > 0 ? b.addF(total, blocks[term.block])
                          : b.subF(total, blocks[term.block]);
  return total;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void StrassenEmitter::emitColumns(const Block &block, Value columnTile) {
  // Without cuts, each tile of columns is stored before the next one begins.
  Value index = b.select(b.eq(param(igemm::KBlocks), b.cst(1)), b.cst(0),
                         b.sub(columnTile, block.firstColumns));
  Value sums = b.offset(allSums, b.mul(index, sumBytes()));
  b.ifThen(b.eq(block.firstLine, b.cst(0)), [&] { clearSums(sums); });
  emitProducts(block, columnTile, sums);
  b.ifThen(b.eq(block.lastLine, param(igemm::Lines)),
           [&] { store(block, columnTile, sums); });
}

void StrassenEmitter::clearSums(Value sums) {
  Value zero = b.cstLike(vectorType(), 0);
  b.forLoop(b.cst(0), sumBytes(), b.cst(b.lanes() * kUnitBytes),
            [&](Value at) { b.store(zero, b.offset(sums, at)); });
}

void StrassenEmitter::emitProducts(const Block &block, Value columnTile,
                                   Value sums) {
  int64_t lineBytes = kLineUnits * spec.tile.tileN * kUnitBytes;
  Value lines = b.sub(block.lastLine, block.firstLine);
  Value tiles = b.sub(block.lastTile, block.firstTile);
  Value pointWeights = b.mul(param(igemm::Lines), lineBytes);
  Value first = b.offset(
      weights, b.add(b.mul(b.mul(columnTile, spec.scheme.rank()), pointWeights),
                     b.mul(block.firstLine, lineBytes)));
  // The weights of a product are read from memory once for all rows; each tile
  // of rows prefetches a part of the next product's.
  Value advance =
      b.ceilDiv(b.cst(kUnroll * spec.tile.tileN * kUnitBytes), tiles);
  Value partBytes = b.mul(b.mul(lines, kLineUnits / kUnroll), advance);
  b.forLoop(b.cst(spec.scheme.rank()), [&](Value number) {
    Value panel = b.offset(panels, b.mul(number, param(PointBytes)));
    Value own = b.offset(first, b.mul(number, pointWeights));
    b.forLoop(tiles, [&](Value tile) {
      Ahead ahead = {b.offset(own, b.add(pointWeights, b.mul(tile, partBytes))),
                     advance};
      SmallVector<Value> product = multiply(
          b.offset(panel, b.mul(tile, panelBytes(lines))), own, lines, ahead);
      addToBlocks(
          product, number,
          b.offset(sums, b.mul(tile, spec.scheme.blocks() * spec.sumBytes())));
    });
  });
}

SmallVector<Value> StrassenEmitter::multiply(Value panel, Value own,
                                             Value lines, const Ahead &ahead) {
  int64_t stepBytes = spec.tile.tileN * kUnitBytes;
  constexpr int64_t kStepsPerLine = kLineUnits / kUnroll;
  SmallVector<Value> start(spec.tile.tileM * vectors(),
                           b.cstLike(vectorType(), 0));
  return b.forLoop(
      b.cst(0), lines, b.cst(1), start, [&](Value line, ValueRange lineSums) {
        Value a = b.offset(panel, panelBytes(line));
        Value w = b.offset(own, b.mul(line, kLineUnits * stepBytes));
        Value next = b.offset(ahead.first,
                              b.mul(b.mul(line, kStepsPerLine), ahead.advance));
        return b.forLoop(b.cst(0), b.cst(kStepsPerLine), b.cst(1), lineSums,
                         [&](Value step, ValueRange sums) {
                           return emitSteps(
                               b.offset(a, b.mul(step, kUnroll * kUnitBytes)),
                               b.offset(w, b.mul(step, kUnroll * stepBytes)),
                               b.offset(next, b.mul(step, ahead.advance)),
                               sums);
                         });
      });
}

/// kUnroll steps of the depth; `a` and `w` point to the first one.
SmallVector<Value> StrassenEmitter::emitSteps(Value a, Value w, Value ahead,
                                              ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  int64_t stepBytes = spec.tile.tileN * kUnitBytes;
  for (int64_t at = 0; at < kUnroll * stepBytes; at += kLineBytes)
    LLVM::Prefetch::create(b, b.offset(ahead, at), /*rw=*/0, /*hint=*/2,
                           /*cache=*/1);
  igemm::OuterProduct outer(b, igemm::Arith::F32, runtime::DType::F32,
                            vectors());
  for (int64_t step = 0; step < kUnroll; ++step) {
    auto loadUnit = [&](int64_t p) {
      return b.load(b.offset(a, p * kLineBytes + step * kUnitBytes), b.f32());
    };
    outer.emit(b.offset(w, step * stepBytes), loadUnit, sums);
  }
  return sums;
}

/// Adds a tile's product to the blocks of the result that the table names.
void StrassenEmitter::addToBlocks(ArrayRef<Value> product, Value number,
                                  Value sums) {
  Value bounds = b.offset(table, b.mul(number, kBoundsBytes));
  Value first = b.load(bounds, b.i64());
  Value last = b.load(b.offset(bounds, kBoundsBytes / 2), b.i64());
  b.forLoop(first, last, b.cst(kEntryBytes), [&](Value entry) {
    Value at = b.offset(table, entry);
    Value to = b.offset(sums, b.mul(b.load(at, b.i64()), spec.sumBytes()));
    Value sign =
        b.broadcast(b.load(b.offset(at, kEntryBytes / 2), b.f32()), b.lanes());
    for (Value vector : product) {
      b.store(b.fma(sign, vector, b.load(to, vectorType())), to);
      to = b.offset(to, b.lanes() * kUnitBytes);
    }
  });
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

void StrassenEmitter::store(const Block &block, Value columnTile, Value sums) {
  int64_t blocks = spec.scheme.blocks();
  b.forLoop(block.firstTile, block.lastTile, b.cst(1), [&](Value tile) {
    Value ofTile = b.offset(
        sums, b.mul(b.sub(tile, block.firstTile), blocks * spec.sumBytes()));
    b.forLoop(b.cst(blocks), [&](Value part) {
      storeTile(part, tile, columnTile,
                b.offset(ofTile, b.mul(part, spec.sumBytes())));
    });
  });
}

void StrassenEmitter::storeTile(Value part, Value tile, Value columnTile,
                                Value sums) {
  int64_t parts = spec.scheme.parts, tileM = spec.tile.tileM;
  Value rowInBlock = b.mul(tile, tileM);
  Value row = b.add(b.mul(b.div(part, parts), param(BlockRows)), rowInBlock);
  Value rows = b.minS(b.sub(param(BlockRows), rowInBlock),
                      b.sub(param(igemm::OutPixels), row));
  Value columnInBlock = b.mul(columnTile, spec.tile.tileN);
  Value column =
      b.add(b.mul(b.rem(part, parts), param(BlockColumns)), columnInBlock);
  Value columns = b.minS(b.sub(param(BlockColumns), columnInBlock),
                         b.sub(param(igemm::OutChannels), column));
  Value exists = b.andI(b.slt(b.cst(0), rows), b.slt(b.cst(0), columns));
  b.ifThen(exists, [&] {
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < tileM * vectors(); ++i)
      loaded.push_back(
          b.load(b.offset(sums, i * b.lanes() * kUnitBytes), vectorType()));
    results->emit(
        loaded, nullptr,
        {b.cst(0), row, b.minS(rows, b.cst(tileM)), column, columns, tileM});
  });
}

void strassen::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  StrassenEmitter(b, spec).emit();
}
