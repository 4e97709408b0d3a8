//===- AttentionCopies.cpp - Rows of attention come to LDS ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuattention;

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

AttentionEmitter::Rows AttentionEmitter::getRows(int64_t buffer, Value count,
                                                 Value end, int64_t columns,
                                                 int64_t padded,
                                                 int64_t numRows) {
  Value bytes = ints.mul(count, columns * op.elementBytes());
  Value offset = b.mul(ints.widen(matrix), ints.widen(bytes));
  return {b.offset(b.getBuffer(buffer), offset), end, columns, padded, numRows};
}

AttentionEmitter::Chunk AttentionEmitter::getChunk(const Rows &rows,
                                                   int64_t index) {
  int64_t perRow = rows.padded * op.elementBytes() / kChunkBytes;
  int64_t all = rows.numRows * perRow, first = index * tile.threads();
  Chunk chunk;
  if (tile.sharesColumns(rows.padded)) {
    chunk.row = ints.div(thread, perRow);
    chunk.column = ints.rem(thread, perRow);
    chunk.further = first / perRow;
  } else {
    Value number = ints.add(thread, first);
    chunk.row = ints.div(number, perRow);
    chunk.column = ints.rem(number, perRow);
  }
  if (first + tile.threads() > all)
    chunk.exists = b.slt(thread, ints.cst(all - first));
  return chunk;
}

void AttentionEmitter::withChunk(const Chunk &chunk,
                                 function_ref<void()> body) {
  if (chunk.exists)
    b.ifThen(chunk.exists, body);
  else
    body();
}

Value AttentionEmitter::getPlace(const Rows &rows, Value firstRow,
                                 const Chunk &chunk) {
  return b.add(
      ints.mul(b.add(firstRow, chunk.row), rows.columns * op.elementBytes()),
      ints.mul(chunk.column, kChunkBytes));
}

Value AttentionEmitter::isColumn(const Rows &rows, const Chunk &chunk) {
  if (rows.padded == rows.columns)
    return nullptr;
  int64_t chunks = rows.columns * op.elementBytes() / kChunkBytes;
  return b.slt(chunk.column, ints.cst(chunks));
}

Value AttentionEmitter::getTarget(const Chunk &chunk, Value lds,
                                  int64_t pitch) {
  Value first = b.add(lds, b.add(ints.mul(chunk.row, pitch),
                                 ints.mul(chunk.column, kChunkBytes)));
  return b.offset(b.offset(b.getLds(), first), chunk.further * pitch);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void AttentionEmitter::startCopy(const Rows &rows, Value firstRow, Value lds,
                                 int64_t pitch) {
  for (int64_t i = 0; i < countChunks(rows); ++i) {
    Chunk chunk = getChunk(rows, i);
    Value row = ints.add(b.add(firstRow, chunk.row), chunk.further);
    Value exists = b.slt(row, rows.end);
    if (Value inside = isColumn(rows, chunk))
      exists = b.andI(exists, inside);
    Value from =
        b.offset(rows.start, ints.widen(getPlace(rows, firstRow, chunk)));
    withChunk(chunk, [&] {
      instructions.copyToLds(b, getTarget(chunk, lds, pitch),
                             b.offset(from, getFurther(rows, chunk)), exists,
                             /*isShared=*/false);
    });
  }
}

AttentionEmitter::Values AttentionEmitter::loadRows(const Rows &rows,
                                                    Value firstRow) {
  // Outside of any buffer, and so are all rows behind it.
  constexpr int64_t kOutside = std::numeric_limits<int32_t>::min();
  Value bytes = ints.mul(rows.end, rows.columns * op.elementBytes());
  BoundedBuffer buffer = instructions.bound(b, rows.start, bytes);
  Values loaded;
  for (int64_t i = 0; i < countChunks(rows); ++i) {
    Chunk chunk = getChunk(rows, i);
    Value place = getPlace(rows, firstRow, chunk);
    if (Value inside = isColumn(rows, chunk))
      place = b.select(inside, place, ints.cst(kOutside));
    loaded.push_back(instructions.loadBounded(
        b, buffer, place, ints.cst(getFurther(rows, chunk))));
  }
  return loaded;
}

void AttentionEmitter::storeRows(const Rows &rows, const Values &loaded,
                                 Value lds, int64_t pitch) {
  for (auto [i, value] : llvm::enumerate(loaded)) {
    Chunk chunk = getChunk(rows, static_cast<int64_t>(i));
    withChunk(chunk, [&, value = value] {
      LLVM::StoreOp::create(b, value, getTarget(chunk, lds, pitch),
                            kChunkBytes);
    });
  }
}

/// Moves each bit of the key to its place.
Value AttentionEmitter::getKeyPlace(Value key) {
  std::map<int64_t, int64_t> moved; // the bits, by how far they move
  auto numBits = static_cast<int64_t>(llvm::Log2_64(tile.getFields().keyBlock));
  for (int64_t bit = 0; bit < numBits; ++bit) {
    auto place = static_cast<int64_t>(
        llvm::Log2_64(tile.getKeyPlace(int64_t(1) << bit)));
    moved[place - bit] |= int64_t(1) << bit;
  }
  Value place;
  for (auto [distance, bits] : moved) {
    Value part = b.andI(key, ints.cst(bits));
    part = distance >= 0 ? ints.mul(part, int64_t(1) << distance)
                         : ints.div(part, int64_t(1) << -distance);
    place = place ? b.orI(place, part) : part;
  }
  return place;
}

/// A lane has channels of one key, and stores each to a row of its own.
void AttentionEmitter::storeTransposed(const Rows &rows, const Values &loaded,
                                       Value lds, int64_t pitch) {
  int64_t elements = kChunkBytes / op.elementBytes();
  for (auto [i, value] : llvm::enumerate(loaded)) {
    Chunk chunk = getChunk(rows, static_cast<int64_t>(i));
    Value to = b.add(
        lds, b.add(ints.mul(chunk.column, elements * pitch),
                   ints.mul(getKeyPlace(ints.add(chunk.row, chunk.further)),
                            op.elementBytes())));
    Value parts = b.bitcast(value, b.vec(getElement(), elements));
    withChunk(chunk, [&] {
      Value pointer = b.offset(b.getLds(), to);
      for (int64_t e = 0; e < elements; ++e)
        LLVM::StoreOp::create(b, vector::ExtractOp::create(b, parts, e),
                              b.offset(pointer, e * pitch),
                              static_cast<unsigned>(op.elementBytes()));
    });
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value AttentionEmitter::getStage(Value block) {
  return ints.mul(ints.rem(block, tile.getStages()), tile.stageBytes());
}

/// A block behind the last one is all zeros, so that groups of copies count
/// alike.
void AttentionEmitter::startBlock(Value block) {
  Value stage = getStage(block);
  Value first = ints.mul(block, tile.getFields().keyBlock);
  startCopy(keyRows, first, stage, tile.keyPitch());
  startCopy(valueRows, first, ints.add(stage, tile.keyBytes()),
            tile.valuePitch());
  instructions.commitCopies(b);
}

/// Loads while other waves still read the block before.
void AttentionEmitter::loadBlock(Value block) {
  Value first = ints.mul(block, tile.getFields().keyBlock);
  Values keys = loadRows(keyRows, first), values = loadRows(valueRows, first);
  b.barrier();
  storeRows(keyRows, keys, ints.cst(0), tile.keyPitch());
  Value lds = ints.cst(tile.keyBytes());
  if (tile.transposesValues())
    storeTransposed(valueRows, values, lds, tile.valuePitch());
  else
    storeRows(valueRows, values, lds, tile.valuePitch());
  b.barrier();
}

/// Queries pass through LDS into the registers of the waves that have them.
void AttentionEmitter::loadQueries() {
  Rows rows = getRows(kernel.query, queries, queries, tile.getChannels(),
                      tile.paddedChannels(), tile.queries());
  Value lds = ints.cst(tile.queryOffset());
  if (isAsync()) {
    startCopy(rows, firstQuery, lds, tile.keyPitch());
    instructions.commitCopies(b);
    startBlock(ints.cst(0));
    instructions.waitForCopies(b, /*left=*/1, /*copies=*/0);
  } else {
    storeRows(rows, loadRows(rows, firstQuery), lds, tile.keyPitch());
  }
  b.barrier();
  for (int64_t step = 0; step < tile.channelSteps(); ++step)
    for (int64_t i = 0; i < tile.getFields().queryTiles; ++i)
      operands.push_back(loadOperand(
          queryAddress, tile.queryOffset() + i * op.n * tile.keyPitch() +
                            step * op.k * op.elementBytes()));
}
