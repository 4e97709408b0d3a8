//===- AttentionEmitter.cpp - Emits fused attention -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Common/MathFunctions.h"
#include "Host/ImplicitGemm/KernelEmitter.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::attention;

static constexpr int64_t kElementBytes = 4;
/// The steps of a product that are written out.
static constexpr int64_t kUnroll = 4;

int64_t attention::padRows(int64_t rows, const TargetInfo &target) {
  return llvm::alignTo(
      rows, std::max(target.lanes(), TileShape::choose(target).rows));
}

int64_t attention::getScratchBytes(const TargetInfo &target,
                                   const TileShape &tile, int64_t queryTiles,
                                   int64_t channelRows, int64_t resultRows,
                                   int64_t keyRows) {
  int64_t width = tile.queries(target);
  constexpr int64_t kStatistics = 2;
  int64_t elements =
      queryTiles * width * (channelRows + resultRows + kStatistics) +
      width * keyRows +
      target.lanes() * std::max({channelRows, resultRows, keyRows}) +
      keyRows * (channelRows + resultRows);
  return elements * kElementBytes;
}

namespace {

/// Rows of f32 in memory.
struct Rows {
  Value pointer, stride; ///< the stride in bytes
};

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &b, const AttentionKernel &kernel);
  void emitTask(Value task);

private:
  /// The lanes of one tile: its first query, and its places in the scratch.
  struct Tile {
    Value first, queries, sums, statistics;
  };
  /// The keys of one block that a tile sees.
  struct Block {
    Value first, end;
    Rows keys, values;
  };
  using Vectors = SmallVector<Value>;

  int64_t lanes() const { return b.lanes(); }
  int64_t rowBytes() const { return width() * kElementBytes; }
  /// The lanes of a tile.
  int64_t width() const { return kernel.tile.vectors * lanes(); }
  /// The rows of the register tile: with a single vector, more of them hide the
  /// latency of a multiply-add.
  int64_t rows() const {
    return vectors == 1 ? std::max(lanes(), kernel.tile.rows)
                        : kernel.tile.rows;
  }
  VectorType type() { return b.vec(b.f32(), lanes()); }
  Value param(int64_t index) { return b.getParam(index); }

  void divideScratch();
  Tile getTile(Value index);
  void forTiles(function_ref<void(const Tile &)> body);
  Vectors load(Value pointer);
  void store(ArrayRef<Value> values, Value pointer);

  void emitRow(Value columns, Value target,
               function_ref<Value(Value column, Value mask)> load);
  void transposeRows(Value columns, Value target,
                     function_ref<void(Value row, Value into)> copyRow);
  void beginTile(const Tile &tile);
  void turnSums(const Tile &tile, Value vector, Value pitch);
  void storeRow(Value from, Value start);
  void finishTile(const Tile &tile);
  void loadMask(const Tile &tile, const Block &block);

  Rows getRows(const BoundFlatTensor &tensor, bool isInPlace, Value firstKey,
               Value endKey, Value columns, Value copy, Value copyRows);
  void emitBlock(Value first, Value end);
  void emitTileBlock(const Tile &tile, const Block &block);
  void forVectorsOf(const Tile &tile, function_ref<void()> body);
  Vectors emitProduct(Value weights, Value steps, ArrayRef<Value> units,
                      Value unitStep, Vectors sums);
  Vectors multiplyKeys(const Tile &tile, const Block &block, Value first);
  Vectors emitScores(const Tile &tile, const Block &block, Vectors largest);
  Value hide(const Tile &tile, const Block &block, Value key, int64_t vector,
             Value score);
  Vectors emitPowers(const Block &block, ArrayRef<Value> largest, Vectors sums);
  void addValues(const Tile &tile, const Block &block, ArrayRef<Value> factors);

  KernelBuilder &b;
  const AttentionKernel &kernel;
  BoundFlatTensor query, key, value;
  std::optional<BoundFlatTensor> mask;
  VectorOutput::Bound out;
  Value scale;
  /// Places in the scratch.
  Value queryTiles, sumTiles, statisticTiles, scores, turned, keyCopy,
      valueCopy;
  /// The vectors of the current tile that have queries.
  int64_t vectors;
  /// The batch and head of the task, its first query, and its tiles.
  Value matrix, firstQuery, numTiles;
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

AttentionEmitter::AttentionEmitter(KernelBuilder &b,
                                   const AttentionKernel &kernel)
    : b(b), kernel(kernel), query(kernel.query.bind(b)),
      key(kernel.key.bind(b)), value(kernel.value.bind(b)),
      out(kernel.output.bind(b)), scale(b.getFloatParam(kernel.scale)),
      vectors(kernel.tile.vectors) {
  if (kernel.mask)
    mask = kernel.mask->bind(b);
  divideScratch();
}

void AttentionEmitter::divideScratch() {
  Value tiles = b.div(param(kernel.queryBlock), width());
  Value next = b.getScratch();
  auto take = [&](Value bytes) {
    Value place = next;
    next = b.offset(next, bytes);
    return place;
  };
  Value channelRows = param(kernel.channelRows),
        resultRows = param(kernel.resultRows), keyRows = param(kernel.keyRows);
  queryTiles = take(b.mul(b.mul(tiles, channelRows), rowBytes()));
  sumTiles = take(b.mul(b.mul(tiles, resultRows), rowBytes()));
  statisticTiles = take(b.mul(tiles, 2 * rowBytes()));
  scores = take(b.mul(keyRows, rowBytes()));
  Value columns = b.maxS(b.maxS(channelRows, resultRows), keyRows);
  turned = take(b.mul(columns, lanes() * kElementBytes));
  keyCopy = take(b.mul(b.mul(keyRows, channelRows), kElementBytes));
  valueCopy = next;
}

AttentionEmitter::Tile AttentionEmitter::getTile(Value index) {
  auto at = [&](Value start, Value rows) {
    return b.offset(start, b.mul(b.mul(index, rows), rowBytes()));
  };
  return {b.add(firstQuery, b.mul(index, width())),
          at(queryTiles, param(kernel.channelRows)),
          at(sumTiles, param(kernel.resultRows)), at(statisticTiles, b.cst(2))};
}

void AttentionEmitter::forTiles(function_ref<void(const Tile &)> body) {
  b.forLoop(numTiles, [&](Value index) { body(getTile(index)); });
}

AttentionEmitter::Vectors AttentionEmitter::load(Value pointer) {
  Vectors loaded;
  for (int64_t v = 0; v < vectors; ++v)
    loaded.push_back(
        b.load(b.offset(pointer, v * lanes() * kElementBytes), type()));
  return loaded;
}

void AttentionEmitter::store(ArrayRef<Value> values, Value pointer) {
  for (auto [v, stored] : llvm::enumerate(values))
    b.store(stored, b.offset(pointer, static_cast<int64_t>(v) * lanes() *
                                          kElementBytes));
}

//===----------------------------------------------------------------------===//
// Rows become lanes, and lanes rows
//===----------------------------------------------------------------------===//

/// Stores `load` of all columns as f32.
void AttentionEmitter::emitRow(
    Value columns, Value target,
    function_ref<Value(Value column, Value mask)> load) {
  forVectors(b, b.cst(0), columns, lanes(), [&](Value i, Value tail) {
    Value place = b.offset(target, b.mul(i, kElementBytes));
    Value loaded = load(i, tail);
    if (tail)
      b.maskedStore(loaded, place, tail);
    else
      b.store(loaded, place);
  });
}

/// Makes lanes of the rows of a tile: `copyRow` copies the columns of one, as
/// f32; [column][lane] is stored at `target`. Columns are filled up to whole
/// vectors with anything.
void AttentionEmitter::transposeRows(
    Value columns, Value target,
    function_ref<void(Value row, Value into)> copyRow) {
  Value pitch =
      b.mul(b.mul(b.ceilDiv(columns, b.cst(lanes())), lanes()), kElementBytes);
  b.forLoop(b.cst(vectors), [&](Value vector) {
    b.forLoop(b.cst(lanes()), [&](Value lane) {
      copyRow(b.add(b.mul(vector, lanes()), lane),
              b.offset(turned, b.mul(lane, pitch)));
    });
    Value lanesAt = b.mul(vector, lanes() * kElementBytes);
    b.forLoop(b.cst(0), columns, b.cst(lanes()), [&](Value column) {
      Value from = b.offset(turned, b.mul(column, kElementBytes));
      Vectors square;
      for (int64_t i = 0; i < lanes(); ++i)
        square.push_back(b.load(b.offset(from, b.mul(pitch, i)), type()));
      Value to = b.offset(b.offset(target, lanesAt), b.mul(column, rowBytes()));
      for (auto [i, row] : llvm::enumerate(b.transpose(square)))
        b.store(row, b.offset(to, static_cast<int64_t>(i) * rowBytes()));
    });
  });
}

/// Transposes the queries, which are scaled, and clears the sums.
void AttentionEmitter::beginTile(const Tile &tile) {
  Value channels = param(kernel.channels), count = param(kernel.queries);
  Value factor = b.broadcast(scale, lanes());
  transposeRows(channels, tile.queries, [&](Value row, Value into) {
    // Lanes without a query repeat the last one.
    Value position = b.minS(b.add(tile.first, row), b.sub(count, 1));
    Value at = b.mul(b.add(b.mul(matrix, count), position), channels);
    emitRow(channels, into, [&](Value i, Value tail) {
      return b.mulF(query.load(b, b.add(at, i), lanes(), tail), factor);
    });
  });
  // The least finite number: a difference to it is a number, also that of
  // scores of minus infinity.
  Value least = b.cstLike(type(), std::numeric_limits<float>::lowest());
  Value zero = b.cstLike(type(), 0);
  store(Vectors(vectors, least), tile.statistics);
  store(Vectors(vectors, zero), b.offset(tile.statistics, rowBytes()));
  b.forLoop(param(kernel.resultRows), [&](Value row) {
    store(Vectors(vectors, zero), b.offset(tile.sums, b.mul(row, rowBytes())));
  });
}

/// Divides the sums of a vector's queries by those of their probabilities, and
/// makes rows of them, `pitch` bytes apart.
void AttentionEmitter::turnSums(const Tile &tile, Value vector, Value pitch) {
  Value lanesAt = b.mul(vector, lanes() * kElementBytes);
  Value sum =
      b.load(b.offset(b.offset(tile.statistics, lanesAt), rowBytes()), type());
  Value inverse = b.divF(b.cstLike(type(), 1), sum);
  Value columns = param(kernel.resultChannels);
  b.forLoop(b.cst(0), columns, b.cst(lanes()), [&](Value column) {
    Value from =
        b.offset(b.offset(tile.sums, lanesAt), b.mul(column, rowBytes()));
    Vectors square;
    for (int64_t i = 0; i < lanes(); ++i)
      square.push_back(
          b.mulF(b.load(b.offset(from, i * rowBytes()), type()), inverse));
    Value to = b.offset(turned, b.mul(column, kElementBytes));
    for (auto [i, row] : llvm::enumerate(b.transpose(square)))
      b.store(row, b.offset(to, b.mul(pitch, static_cast<int64_t>(i))));
  });
}

void AttentionEmitter::storeRow(Value from, Value start) {
  forVectors(b, b.cst(0), param(kernel.resultChannels), lanes(),
             [&](Value i, Value tail) {
               VectorPlace place;
               place.offset = b.add(start, i);
               place.channel = i;
               place.lanesAreChannels = true;
               place.lanes = lanes();
               place.mask = tail;
               Value at = b.offset(from, b.mul(i, kElementBytes));
               out.store(b, place, b.load(at, type()));
             });
}

void AttentionEmitter::finishTile(const Tile &tile) {
  Value columns = param(kernel.resultChannels), count = param(kernel.queries);
  Value pitch = b.mul(param(kernel.resultRows), kElementBytes);
  b.forLoop(b.cst(vectors), [&](Value vector) {
    turnSums(tile, vector, pitch);
    Value first = b.add(tile.first, b.mul(vector, lanes()));
    Value end = b.minS(b.sub(count, first), b.cst(lanes()));
    b.forLoop(end, [&](Value lane) {
      Value row = b.add(b.mul(matrix, count), b.add(first, lane));
      storeRow(b.offset(turned, b.mul(lane, pitch)), b.mul(row, columns));
    });
  });
}

/// Puts the mask to where the scores will be stored.
void AttentionEmitter::loadMask(const Tile &tile, const Block &block) {
  Value part =
      b.rem(b.div(matrix, param(kernel.maskInner)), param(kernel.maskCount));
  Value positions = param(kernel.maskRows), keys = param(kernel.keys);
  transposeRows(
      b.sub(block.end, block.first), scores, [&](Value row, Value into) {
        Value position = b.minS(b.add(tile.first, row), b.sub(positions, 1));
        Value at = b.add(b.mul(b.add(b.mul(part, positions), position), keys),
                         block.first);
        emitRow(b.sub(block.end, block.first), into, [&](Value i, Value tail) {
          return mask->load(b, b.add(at, i), lanes(), tail);
        });
      });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds `steps` outer products to the register tile. Row r of the tile reads
/// its number of step i at units[r] + i * unitStep.
AttentionEmitter::Vectors
AttentionEmitter::emitProduct(Value weights, Value steps, ArrayRef<Value> units,
                              Value unitStep, Vectors sums) {
  igemm::OuterProduct product(b, igemm::Arith::F32, DType::F32, vectors);
  auto emitSteps = [&](Value from, Value to, int64_t unroll) {
    sums = b.forLoop(
        from, to, b.cst(unroll), sums, [&](Value first, ValueRange before) {
          Vectors next(before);
          for (int64_t i = 0; i < unroll; ++i) {
            Value step = b.add(first, i), at = b.mul(step, unitStep);
            product.emit(
                b.offset(b.offset(weights, b.mul(first, rowBytes())),
                         i * rowBytes()),
                [&](int64_t row) {
                  return b.load(b.offset(units[row], at), b.f32());
                },
                next);
          }
          return next;
        });
  };
  Value whole = b.mul(b.div(steps, kUnroll), kUnroll);
  emitSteps(b.cst(0), whole, kUnroll);
  emitSteps(whole, steps, 1);
  return sums;
}

/// A key behind the end, or one that the queries do not see, is minus infinity.
Value AttentionEmitter::hide(const Tile &tile, const Block &block, Value key,
                             int64_t vector, Value score) {
  Value least = b.cstLike(type(), -std::numeric_limits<double>::infinity());
  score = b.select(b.slt(key, block.end), score, least);
  if (!kernel.causal)
    return score;
  // Lane l is the query at first + l, which sees the keys up to there.
  Value first = b.add(b.add(tile.first, param(kernel.ahead)), vector * lanes());
  return b.select(b.firstLanes(b.sub(key, first), lanes()), least, score);
}

/// The products of the queries with the keys of a register tile, from `first`
/// on; keys behind the end repeat the last one.
AttentionEmitter::Vectors AttentionEmitter::multiplyKeys(const Tile &tile,
                                                         const Block &block,
                                                         Value first) {
  Vectors units;
  Value last = b.sub(block.end, 1);
  for (int64_t r = 0; r < rows(); ++r) {
    Value row = b.sub(b.minS(b.add(first, r), last), block.first);
    units.push_back(
        b.offset(block.keys.pointer, b.mul(row, block.keys.stride)));
  }
  return emitProduct(tile.queries, param(kernel.channels), units,
                     b.cst(kElementBytes),
                     Vectors(rows() * vectors, b.cstLike(type(), 0)));
}

/// Stores the scores of a block, and returns the largest of them and of those
/// before.
AttentionEmitter::Vectors AttentionEmitter::emitScores(const Tile &tile,
                                                       const Block &block,
                                                       Vectors largest) {
  return b.forLoop(
      block.first, block.end, b.cst(rows()), largest,
      [&](Value first, ValueRange before) {
        Vectors sums = multiplyKeys(tile, block, first), next(before);
        for (int64_t r = 0; r < rows(); ++r) {
          Value row = b.add(first, r);
          Value place =
              b.offset(scores, b.mul(b.sub(row, block.first), rowBytes()));
          Vectors added = mask ? load(place) : Vectors();
          for (int64_t v = 0; v < vectors; ++v) {
            Value &sum = sums[r * vectors + v];
            sum = hide(tile, block, row, v, mask ? b.addF(sum, added[v]) : sum);
            next[v] = b.maxF(sum, next[v]);
          }
          store(ArrayRef(sums).slice(r * vectors, vectors), place);
        }
        return next;
      });
}

/// Replaces the scores by exp(score - largest), and adds them to `sums`. Each
/// vector has a loop of its own, whose constants stay in registers.
AttentionEmitter::Vectors AttentionEmitter::emitPowers(const Block &block,
                                                       ArrayRef<Value> largest,
                                                       Vectors sums) {
  Value count = b.sub(block.end, block.first), zero = b.cstLike(type(), 0);
  for (auto [v, sum] : llvm::enumerate(sums)) {
    Value column =
        b.offset(scores, static_cast<int64_t>(v) * lanes() * kElementBytes);
    Vectors added = b.forLoop(
        b.cst(0), count, b.cst(1), zero, [&](Value row, ValueRange soFar) {
          Value place = b.offset(column, b.mul(row, rowBytes()));
          Value score = b.load(place, type());
          Value power = expOfNegative(Real(b, b.subF(score, largest[v])));
          b.store(power, place);
          return Vectors{b.addF(soFar.front(), power)};
        });
    sum = b.addF(sum, added.front());
  }
  return sums;
}

/// sums = factors * sums + probabilities * values.
void AttentionEmitter::addValues(const Tile &tile, const Block &block,
                                 ArrayRef<Value> factors) {
  Value channels = param(kernel.resultChannels);
  b.forLoop(b.cst(0), channels, b.cst(rows()), [&](Value first) {
    Value place = b.offset(tile.sums, b.mul(first, rowBytes()));
    Vectors units, sums;
    for (int64_t r = 0; r < rows(); ++r) {
      // Rows behind the last channel are not stored.
      Value channel = b.minS(b.add(first, r), b.sub(channels, 1));
      units.push_back(
          b.offset(block.values.pointer, b.mul(channel, kElementBytes)));
      for (auto [sum, factor] :
           llvm::zip_equal(load(b.offset(place, r * rowBytes())), factors))
        sums.push_back(b.mulF(sum, factor));
    }
    sums = emitProduct(scores, b.sub(block.end, block.first), units,
                       block.values.stride, sums);
    for (int64_t r = 0; r < rows(); ++r)
      store(ArrayRef(sums).slice(r * vectors, vectors),
            b.offset(place, r * rowBytes()));
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The rows of a block of keys or values, which are copied as f32 unless they
/// are read in place.
Rows AttentionEmitter::getRows(const BoundFlatTensor &tensor, bool isInPlace,
                               Value firstKey, Value endKey, Value columns,
                               Value copy, Value copyColumns) {
  Value start =
      b.mul(b.add(b.mul(matrix, param(kernel.keys)), firstKey), columns);
  if (isInPlace)
    return {tensor.pointerTo(b, start), b.mul(columns, kElementBytes)};
  Value pitch = b.mul(copyColumns, kElementBytes);
  b.forLoop(b.sub(endKey, firstKey), [&](Value row) {
    Value at = b.add(start, b.mul(row, columns));
    emitRow(columns, b.offset(copy, b.mul(row, pitch)),
            [&](Value i, Value tail) {
              return tensor.load(b, b.add(at, i), lanes(), tail);
            });
  });
  return {copy, pitch};
}

/// Emits the body for each number of vectors that may have queries.
void AttentionEmitter::forVectorsOf(const Tile &tile,
                                    function_ref<void()> body) {
  int64_t most = kernel.tile.vectors;
  Value count =
      b.ceilDiv(b.sub(param(kernel.queries), tile.first), b.cst(lanes()));
  count = b.minS(count, b.cst(most));
  for (vectors = 1; vectors < most; ++vectors)
    b.ifThen(b.eq(count, b.cst(vectors)), body);
  b.ifThen(b.eq(count, b.cst(most)), body);
}

void AttentionEmitter::emitTileBlock(const Tile &tile, const Block &block) {
  if (mask)
    loadMask(tile, block);
  Value sumsAt = b.offset(tile.statistics, rowBytes());
  Vectors before = load(tile.statistics);
  Vectors largest = emitScores(tile, block, before);
  store(largest, tile.statistics);
  Vectors factors, sums;
  for (auto [old, most, sum] : llvm::zip_equal(before, largest, load(sumsAt))) {
    factors.push_back(expOfNegative(Real(b, b.subF(old, most))));
    sums.push_back(b.mulF(sum, factors.back()));
  }
  store(emitPowers(block, largest, sums), sumsAt);
  addValues(tile, block, factors);
}

/// A block of keys passes by the tiles.
void AttentionEmitter::emitBlock(Value first, Value end) {
  Block block = {first, end,
                 getRows(key, kernel.keysInPlace, first, end,
                         param(kernel.channels), keyCopy,
                         param(kernel.channelRows)),
                 getRows(value, kernel.valuesInPlace, first, end,
                         param(kernel.resultChannels), valueCopy,
                         param(kernel.resultRows))};
  forTiles([&](const Tile &tile) {
    Block seen = block;
    if (kernel.causal)
      seen.end =
          b.minS(end, b.add(b.add(tile.first, width()), param(kernel.ahead)));
    b.ifThen(b.slt(first, seen.end),
             [&] { forVectorsOf(tile, [&] { emitTileBlock(tile, seen); }); });
  });
}

void AttentionEmitter::emitTask(Value task) {
  Value queries = param(kernel.queries), most = param(kernel.queryBlock);
  matrix = b.div(task, param(kernel.blocks));
  firstQuery = b.mul(b.rem(task, param(kernel.blocks)), most);
  Value endQuery = b.minS(b.add(firstQuery, most), queries);
  numTiles = b.ceilDiv(b.sub(endQuery, firstQuery), b.cst(width()));
  forTiles([&](const Tile &tile) { beginTile(tile); });
  Value end = param(kernel.keys);
  if (kernel.causal)
    end = b.minS(end, b.add(endQuery, param(kernel.ahead)));
  Value step = param(kernel.keyBlock);
  b.forLoop(b.cst(0), end, step, [&](Value first) {
    emitBlock(first, b.minS(b.add(first, step), end));
  });
  forTiles([&](const Tile &tile) { finishTile(tile); });
}

void AttentionKernel::emit(KernelBuilder &b) const {
  AttentionEmitter emitter(b, *this);
  b.forTasks([&](Value task) { emitter.emitTask(task); });
}
