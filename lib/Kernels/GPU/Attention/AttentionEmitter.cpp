//===- AttentionEmitter.cpp - Emits fused attention -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuattention;

AttentionEmitter::AttentionEmitter(GpuKernelBuilder &b,
                                   const AttentionKernel &kernel)
    : b(b), kernel(kernel), tile(kernel.tile), op(tile.getOp()),
      instructions(b.getInstructions()), ints(b), out(kernel.output.bind(b)) {
  if (kernel.mask)
    mask = kernel.mask->bind(b);
}

Type AttentionEmitter::getElement() {
  return op.dtype == runtime::DType::F16 ? Type(b.getF16Type())
                                         : b.getBF16Type();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The lanes of an operand with the instruction's columns, and of ldmatrix's
/// transposed one with its k, follow each other; those of one with its rows do,
/// but for mma.sync, which has half of them in an instruction
/// (WaveProduct.cpp).
void AttentionEmitter::prepareLane() {
  thread = ints.from(b.getLane());
  Value lane = ints.rem(thread, op.waveSize);
  Value wave = ints.div(thread, op.waveSize);
  rowGroup =
      tile.isMmaSync() ? ints.rem(lane, op.rowGroups()) : ints.div(lane, op.n);
  int64_t groupBytes = op.inputElements * op.elementBytes();
  Value group =
      ints.mul(ints.rem(ints.div(lane, op.n), op.kGroups), groupBytes);
  Value row = ints.rem(lane, op.m), rowBytes = group;
  if (tile.isMmaSync()) {
    row = b.add(ints.rem(lane, op.m / 2),
                ints.mul(ints.div(lane, op.m), op.m / 2));
    rowBytes =
        ints.mul(ints.rem(ints.div(lane, op.m / 2), op.kGroups), groupBytes);
  }
  Value column = ints.rem(lane, op.n);
  keyAddress = b.add(ints.mul(row, tile.keyPitch()), rowBytes);
  valueAddress = ints.add(
      b.add(ints.mul(tile.isMmaSync() ? column : row, tile.valuePitch()),
            group),
      tile.keyBytes());
  Value inGroup = b.add(ints.mul(wave, tile.waveQueries()), column);
  queryAddress = b.add(ints.mul(inGroup, tile.keyPitch()), group);
}

/// The last blocks of queries, which see the most keys, come first.
void AttentionEmitter::prepareTask() {
  queries = ints.param(kernel.queries);
  keys = ints.param(kernel.keys);
  factor = b.getFloatParam(kernel.factor);
  Value task = ints.from(b.getBegin()), blocks = ints.param(kernel.blocks);
  matrix = b.div(task, blocks);
  Value block = b.rem(task, blocks);
  if (kernel.causal)
    block = b.sub(ints.sub(blocks, ints.cst(1)), block);
  firstQuery = ints.mul(block, tile.queries());
  Value end = keys;
  if (kernel.causal) {
    Value endQuery = b.minS(ints.add(firstQuery, tile.queries()), queries);
    end = b.add(endQuery, ints.param(kernel.ahead));
  }
  int64_t keyBlock = tile.getFields().keyBlock;
  endBlock = ints.div(ints.add(end, keyBlock - 1), keyBlock);
  Value endRow = b.minS(keys, ints.mul(endBlock, keyBlock));
  keyRows = getRows(kernel.key, keys, endRow, tile.getChannels(),
                    tile.paddedChannels(), keyBlock);
  valueRows = getRows(kernel.value, keys, endRow, tile.getResultChannels(),
                      tile.paddedResultChannels(), keyBlock);
}

/// Columns behind the last query compute anything that is a number.
void AttentionEmitter::prepareColumns() {
  Value lane = ints.rem(thread, op.waveSize);
  Value wave = ints.div(thread, op.waveSize);
  Value column =
      tile.isMmaSync() ? ints.div(lane, op.rowGroups()) : ints.rem(lane, op.n);
  Value first =
      b.add(firstQuery, b.add(ints.mul(wave, tile.waveQueries()), column));
  Value part, rows;
  if (mask) {
    part = b.rem(b.div(matrix, ints.param(kernel.maskInner)),
                 ints.param(kernel.maskCount));
    rows = ints.param(kernel.maskRows);
  }
  for (int64_t i = 0; i < columns(); ++i) {
    Value query = ints.add(first, op.getColumn(i));
    queryOf.push_back(query);
    Value seen = ints.add(b.add(query, ints.param(kernel.ahead)), 1);
    limits.push_back(kernel.causal ? b.minS(seen, keys) : keys);
    if (!mask)
      continue;
    Value row = b.minS(query, ints.sub(rows, ints.cst(1)));
    Value index = b.add(b.mul(part, rows), row);
    maskRows.push_back(b.mul(ints.widen(index), ints.widen(keys)));
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value AttentionEmitter::loadOperand(Value address, int64_t offset,
                                    bool transposed) {
  VectorType type = b.vec(getElement(), op.inputElements);
  Value pointer = b.offset(b.offset(b.getLds(), address), offset);
  if (tile.isMmaSync())
    return b.bitcast(instructions.loadFragment(b, pointer, transposed), type);
  int64_t bytes = op.inputElements * op.elementBytes();
  return LLVM::LoadOp::create(
      b, type, pointer,
      static_cast<unsigned>(std::min<int64_t>(bytes, kChunkBytes)));
}

Value AttentionEmitter::multiply(Value left, Value right, Value sum) {
  return instructions.multiply(b, {op.m, op.n, op.k}, left, right, sum);
}

/// The next operand is loaded before the current one's products, past which the
/// scheduler of ptxas does not move it.
void AttentionEmitter::addProducts(
    int64_t steps, int64_t rows,
    function_ref<Value(int64_t step, int64_t row)> left,
    function_ref<Value(int64_t step, int64_t tile)> right, Values &sums) {
  int64_t tiles = tile.getFields().queryTiles;
  Value next = left(0, 0);
  for (int64_t i = 0; i < steps * rows; ++i) {
    Value current = next;
    if (i + 1 < steps * rows)
      next = left((i + 1) / rows, (i + 1) % rows);
    for (int64_t t = 0; t < tiles; ++t) {
      Value &sum = sums[i % rows * tiles + t];
      sum = multiply(current, right(i / rows, t), sum);
    }
  }
}

/// The scores of a block: [tile of keys][tile of queries].
AttentionEmitter::Values AttentionEmitter::multiplyKeys(Value stage) {
  int64_t tiles = tile.getFields().queryTiles;
  Values scores(tile.keyTiles() * tiles,
                b.cstLike(b.vec(b.f32(), op.outputElements), 0));
  Value address = b.add(keyAddress, stage);
  addProducts(
      tile.channelSteps(), tile.keyTiles(),
      [&](int64_t step, int64_t row) {
        return loadOperand(address, row * op.m * tile.keyPitch() +
                                        step * op.k * op.elementBytes());
      },
      [&](int64_t step, int64_t t) { return operands[step * tiles + t]; },
      scores);
  return scores;
}

/// `probabilities` are operands: [step][tile of queries].
void AttentionEmitter::addValues(Value stage, const Values &probabilities,
                                 Values &sums) {
  int64_t tiles = tile.getFields().queryTiles;
  // How far apart steps of keys are, and tiles of channels.
  int64_t step = op.k * op.elementBytes(), row = op.m * tile.valuePitch();
  if (!tile.transposesValues()) {
    step = op.k * tile.valuePitch();
    row = op.m * op.elementBytes();
  }
  Value address = b.add(valueAddress, stage);
  addProducts(
      tile.keySteps(), tile.resultTiles(),
      [&](int64_t i, int64_t j) {
        return loadOperand(address, i * step + j * row, /*transposed=*/true);
      },
      [&](int64_t i, int64_t t) { return probabilities[i * tiles + t]; }, sums);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// The lane's scores of a column, from the first tile of keys to the last.
AttentionEmitter::Values AttentionEmitter::takeColumn(const Values &sums,
                                                      int64_t column) {
  int64_t tiles = tile.getFields().queryTiles;
  int64_t first = column % op.columnsPerLane * op.elementsPerColumn();
  Values scores;
  for (int64_t row = 0; row < tile.keyTiles(); ++row)
    for (int64_t e = 0; e < op.elementsPerColumn(); ++e)
      scores.push_back(vector::ExtractOp::create(
          b, sums[row * tiles + column / op.columnsPerLane], first + e));
  return scores;
}

/// The key in the block of a lane's score, less what its group adds.
int64_t AttentionEmitter::getKey(int64_t index) const {
  return index / op.elementsPerColumn() * op.m +
         op.getOutputRow(0, index % op.elementsPerColumn());
}

Value AttentionEmitter::loadMask(Value firstKey, int64_t index, int64_t column,
                                 bool hides) {
  Value key = ints.add(firstKey, getKey(index));
  if (hides)
    key = b.minS(key, ints.sub(keys, ints.cst(1)));
  return mask->load(b, b.add(maskRows[column], ints.widen(key)), /*lanes=*/1);
}

/// Scales the products, adds the mask, and hides keys that the query does not
/// see, or that are none.
void AttentionEmitter::finishScores(Values &scores, Value firstKey,
                                    int64_t column, bool hides) {
  Value left = b.sub(limits[column], firstKey);
  Value least = b.cstF(-std::numeric_limits<double>::infinity());
  for (auto [i, score] : llvm::enumerate(scores)) {
    auto index = static_cast<int64_t>(i);
    score = b.mulF(score, factor);
    if (mask)
      score = b.addF(score, loadMask(firstKey, index, column, hides));
    if (hides)
      score = b.select(b.slt(ints.cst(getKey(index)), left), score, least);
  }
}

/// Folds the values of all lanes that have a column.
Value AttentionEmitter::combine(Value value,
                                function_ref<Value(Value, Value)> fold) {
  for (int64_t group = 1; group < op.rowGroups(); group *= 2) {
    Value other = gpu::ShuffleOp::create(
                      b, value, static_cast<int32_t>(group * tile.groupLanes()),
                      static_cast<int32_t>(op.waveSize), gpu::ShuffleMode::XOR)
                      .getShuffleResult();
    value = fold(value, other);
  }
  return value;
}

/// The exponential of a difference of scores: an instruction of every GPU.
Value AttentionEmitter::power(Value difference) {
  if (mask)
    difference = b.mulF(difference, b.cstF(std::numbers::log2e));
  return math::Exp2Op::create(b, difference);
}

/// Multiplies the results of a tile's columns.
void AttentionEmitter::scaleSums(Values &sums, int64_t queryTile,
                                 ArrayRef<Value> factors) {
  Values elements;
  for (int64_t e = 0; e < op.outputElements; ++e)
    elements.push_back(factors[e / op.elementsPerColumn()]);
  VectorType type = b.vec(b.f32(), op.outputElements);
  Value scale = vector::FromElementsOp::create(b, type, elements);
  for (int64_t row = 0; row < tile.resultTiles(); ++row) {
    Value &sum = sums[row * tile.getFields().queryTiles + queryTile];
    sum = b.mulF(sum, scale);
  }
}

/// A group's keys and those of the other one, in the order of the groups: the
/// operand of an instruction whose lanes have all k.
Value AttentionEmitter::exchange(Value part) {
  auto type = cast<VectorType>(part.getType());
  int64_t elements = type.getNumElements();
  VectorType words = b.vec(b.getI32Type(), elements * op.elementBytes() / 4);
  Value mine = b.bitcast(part, words);
  Values others;
  for (int64_t i = 0; i < words.getNumElements(); ++i)
    others.push_back(
        gpu::ShuffleOp::create(b, vector::ExtractOp::create(b, mine, i),
                               static_cast<int32_t>(tile.groupLanes()),
                               static_cast<int32_t>(op.waveSize),
                               gpu::ShuffleMode::XOR)
            .getShuffleResult());
  Value other = vector::FromElementsOp::create(b, words, others);
  Value isFirst = b.eq(rowGroup, ints.cst(0));
  SmallVector<int64_t> lanes(2 * words.getNumElements());
  std::iota(lanes.begin(), lanes.end(), 0);
  Value both = b.shuffle(b.select(isFirst, mine, other),
                         b.select(isFirst, other, mine), lanes);
  return b.bitcast(both, b.vec(type.getElementType(), 2 * elements));
}

/// An operand has the elements of all columns of the lane: mma.sync's are in
/// pairs, those of both columns in turn.
AttentionEmitter::Values
AttentionEmitter::makeOperands(MutableArrayRef<Values> columns) {
  int64_t perStep = tile.scoresPerStep();
  int64_t pair = columns.size() > 1 ? 2 : perStep;
  Values made;
  for (int64_t step = 0; step < tile.keySteps(); ++step) {
    SmallVector<Value *> places;
    for (int64_t i = 0; i < perStep; i += pair)
      for (Values &column : columns)
        for (int64_t j = 0; j < pair; ++j)
          places.push_back(&column[step * perStep + i + j]);
    Values elements;
    for (Value *place : places)
      elements.push_back(*place);
    auto count = static_cast<int64_t>(elements.size());
    VectorType type = b.vec(b.f32(), count);
    Value wide = vector::FromElementsOp::create(b, type, elements);
    Value part = arith::TruncFOp::create(b, b.vec(getElement(), count), wide);
    made.push_back(count < op.inputElements ? exchange(part) : part);
    if (tile.getForm().parts == 1)
      continue;
    Value rest = b.subF(wide, arith::ExtFOp::create(b, type, part));
    for (auto [i, place] : llvm::enumerate(places))
      *place = vector::ExtractOp::create(b, rest, static_cast<int64_t>(i));
  }
  return made;
}

//===----------------------------------------------------------------------===//
// Blocks of keys
//===----------------------------------------------------------------------===//

/// The least finite number: a difference to it is a number, also that of scores
/// of minus infinity.
AttentionEmitter::State AttentionEmitter::makeState() {
  State state;
  state.sums.assign(tile.resultTiles() * tile.getFields().queryTiles,
                    b.cstLike(b.vec(b.f32(), op.outputElements), 0));
  state.largest.assign(columns(), b.cstF(std::numeric_limits<float>::lowest()));
  state.weights.assign(columns(), b.cstF(0));
  return state;
}

AttentionEmitter::State
AttentionEmitter::addBlock(Value block, const State &before, bool hides) {
  Value stage = getStage(block);
  Values scores = multiplyKeys(stage);
  Value firstKey = b.add(ints.mul(block, tile.getFields().keyBlock),
                         ints.mul(rowGroup, tile.groupRows()));
  // One instruction; a NaN that it drops comes back as a power.
  auto larger = [&](Value x, Value y) -> Value {
    return LLVM::MaxNumOp::create(b, x, y);
  };
  State state = before;
  SmallVector<SmallVector<Values>> powersOf; // each tile's columns
  for (int64_t t = 0; t < tile.getFields().queryTiles; ++t) {
    Values factors;
    SmallVector<Values> ofTile;
    for (int64_t i = 0; i < op.columnsPerLane; ++i) {
      int64_t column = t * op.columnsPerLane + i;
      Values powers = takeColumn(scores, column);
      finishScores(powers, firstKey, column, hides);
      Value most = powers[0];
      for (Value score : ArrayRef(powers).drop_front())
        most = larger(most, score);
      most = larger(combine(most, larger), before.largest[column]);
      for (Value &score : powers)
        score = power(b.subF(score, most));
      Value weight = powers[0];
      for (Value added : ArrayRef(powers).drop_front())
        weight = b.addF(weight, added);
      factors.push_back(power(b.subF(before.largest[column], most)));
      state.largest[column] = most;
      state.weights[column] =
          b.fma(before.weights[column], factors.back(), weight);
      ofTile.push_back(powers);
    }
    scaleSums(state.sums, t, factors);
    powersOf.push_back(ofTile);
  }
  for (int64_t part = 0; part < tile.getForm().parts; ++part) {
    Values probabilities(tile.keySteps() * tile.getFields().queryTiles);
    for (auto [t, columns] : llvm::enumerate(powersOf))
      for (auto [step, operand] : llvm::enumerate(makeOperands(columns)))
        probabilities[step * tile.getFields().queryTiles + t] = operand;
    addValues(stage, probabilities, state.sums);
  }
  return state;
}

AttentionEmitter::State AttentionEmitter::forBlocks(Value first, Value end,
                                                    const State &before,
                                                    bool hides) {
  Values carried = before.sums;
  llvm::append_range(carried, before.largest);
  llvm::append_range(carried, before.weights);
  size_t numSums = before.sums.size(), numColumns = before.largest.size();
  auto unpack = [&](ValueRange values) {
    State state;
    state.sums.assign(values.begin(), values.begin() + numSums);
    values = values.drop_front(numSums);
    state.largest.assign(values.begin(), values.begin() + numColumns);
    state.weights.assign(values.begin() + numColumns, values.end());
    return state;
  };
  Values after = b.forLoop(
      first, end, ints.cst(1), carried, [&](Value block, ValueRange values) {
        if (isAsync()) {
          instructions.waitForCopies(b, /*left=*/0, /*copies=*/0);
          b.barrier();
          startBlock(ints.add(block, 1));
        } else {
          loadBlock(block);
        }
        State state = addBlock(block, unpack(values), hides);
        Values next = state.sums;
        llvm::append_range(next, state.largest);
        llvm::append_range(next, state.weights);
        return next;
      });
  return unpack(after);
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

void AttentionEmitter::storeColumn(const State &state, int64_t column) {
  Value row = b.add(b.mul(ints.widen(matrix), ints.widen(queries)),
                    ints.widen(queryOf[column]));
  Value start = b.mul(row, tile.getResultChannels());
  int64_t run = tile.run(), tiles = tile.getFields().queryTiles;
  int64_t first = column % op.columnsPerLane * op.elementsPerColumn();
  for (int64_t i = 0; i < tile.resultTiles(); ++i)
    for (int64_t e = 0; e < op.elementsPerColumn(); e += run) {
      Values elements;
      for (int64_t j = 0; j < run; ++j)
        elements.push_back(vector::ExtractOp::create(
            b, state.sums[i * tiles + column / op.columnsPerLane],
            first + e + j));
      Value channel = ints.add(ints.mul(rowGroup, tile.groupRows()),
                               i * op.m + op.getOutputRow(0, e));
      auto storeRun = [&] {
        VectorPlace place;
        place.channel = ints.widen(channel);
        place.offset = b.add(start, place.channel);
        place.lanesAreChannels = true;
        place.lanes = run;
        Value value = run == 1 ? elements[0]
                               : Value(vector::FromElementsOp::create(
                                     b, b.vec(b.f32(), run), elements));
        out.store(b, place, value);
      };
      if (tile.paddedResultChannels() == tile.getResultChannels())
        storeRun();
      else
        b.ifThen(b.slt(channel, ints.cst(tile.getResultChannels())), storeRun);
    }
}

/// Divides by the sums of probabilities, and stores.
void AttentionEmitter::store(const State &before) {
  State state = before;
  Values inverses;
  for (Value weight : state.weights) {
    Value sum = combine(weight, [&](Value x, Value y) { return b.addF(x, y); });
    inverses.push_back(b.divF(b.cstF(1), sum));
  }
  for (int64_t t = 0; t < tile.getFields().queryTiles; ++t)
    scaleSums(
        state.sums, t,
        ArrayRef(inverses).slice(t * op.columnsPerLane, op.columnsPerLane));
  for (int64_t column = 0; column < columns(); ++column)
    b.ifThen(b.slt(queryOf[column], queries),
             [&] { storeColumn(state, column); });
}

/// Keys are hidden in the last blocks only.
void AttentionEmitter::emit() {
  prepareLane();
  prepareTask();
  prepareColumns();
  loadQueries();
  Value whole = keys;
  if (kernel.causal)
    whole = ints.add(b.add(firstQuery, ints.param(kernel.ahead)), 1);
  Value wholeBlocks = ints.div(whole, tile.getFields().keyBlock);
  State state =
      forBlocks(ints.cst(0), wholeBlocks, makeState(), /*hides=*/false);
  store(forBlocks(wholeBlocks, endBlock, state, /*hides=*/true));
}

void AttentionKernel::emit(KernelBuilder &b) const {
  AttentionEmitter(static_cast<GpuKernelBuilder &>(b), *this).emit();
}
