//===- TransposeTiles.cpp - Matrix transposition in registers -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransposeTiles.h"

using namespace mlir;
using namespace tarpon;

namespace {
/// One tile: its place, and the part of it that lies in the matrix.
struct Tile {
  Value row, column;
  Value rows, columns; ///< null for a whole tile
};
} // namespace

/// The mask for row (or column) `index` of a tile's loads (or stores), of which
/// `count` exist, each `length` long.
static Value lineMask(KernelBuilder &b, int64_t index, Value count,
                      Value length) {
  if (!count)
    return Value();
  Value exists = b.slt(b.cst(index), count);
  return b.firstLanes(b.select(exists, length, b.cst(0)), b.lanes());
}

static void emitTile(KernelBuilder &b, const TransposedMatrix &m,
                     const Tile &tile) {
  int64_t lanes = b.lanes();
  Value from =
      b.add(m.sourceStart, b.add(b.mul(tile.row, m.sourceStride), tile.column));
  Value to =
      b.add(m.targetStart, b.add(b.mul(tile.column, m.targetStride), tile.row));
  SmallVector<Value> lines;
  for (int64_t i = 0; i < lanes; ++i)
    lines.push_back(m.source.load(b, b.add(from, b.mul(m.sourceStride, i)),
                                  lanes,
                                  lineMask(b, i, tile.rows, tile.columns)));
  lines = b.transpose(lines);
  for (int64_t i = 0; i < lanes; ++i)
    m.target.store(b, lines[i], b.add(to, b.mul(m.targetStride, i)),
                   lineMask(b, i, tile.columns, tile.rows));
}

void tarpon::emitTranspose(KernelBuilder &b, const TransposedMatrix &matrix,
                           Value firstRow, Value lastRow, Value firstColumn,
                           Value lastColumn) {
  Value step = b.cst(b.lanes());
  b.forLoop(firstRow, lastRow, step, [&](Value row) {
    b.forLoop(firstColumn, lastColumn, step, [&](Value column) {
      Value rows = b.sub(lastRow, row), columns = b.sub(lastColumn, column);
      Value isWhole = b.andI(b.cmp(KernelBuilder::Pred::sge, rows, step),
                             b.cmp(KernelBuilder::Pred::sge, columns, step));
      b.ifThenElse(
          isWhole,
          [&] { emitTile(b, matrix, {row, column, Value(), Value()}); },
          [&] { emitTile(b, matrix, {row, column, rows, columns}); });
    });
  });
}
