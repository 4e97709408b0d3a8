//===- SharedSteps.cpp - Workgroups that share the steps of k -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedSteps.h"

#include "ProductEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <utility>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

StepShares::StepShares(int64_t allBlocks, int64_t steps, int64_t mostGroups)
    : groups(std::min(mostGroups, allBlocks * steps)),
      turns(std::max<int64_t>(1, allBlocks / groups) - 1),
      blocks(allBlocks - turns * groups), least(blocks * steps / groups),
      longer(blocks * steps % groups) {}

int64_t StepShares::getGroup(int64_t step) const {
  int64_t inLonger = longer * (least + 1);
  return step < inLonger ? step / (least + 1)
                         : longer + (step - inLonger) / least;
}

/// A sum of 4 bytes for each result of the block.
static int64_t getBlockBytes(const Tile &tile) {
  return tile.getFields().blockM * tile.getFields().blockN * 4;
}

int64_t SharedSteps::getSumBytes(const StepShares &shares, const Tile &tile) {
  return 2 * shares.groups * getBlockBytes(tile);
}

int64_t SharedSteps::getCounterBytes(const StepShares &shares,
                                     const Tile &tile) {
  return shares.blocks * tile.threads() * 4;
}

SharedSteps::SharedSteps(LaunchBuilder &launch, const StepShares &shares,
                         int64_t steps, BufferSlot sums, BufferSlot counters)
    : sums(launch.addBuffer(sums)), counters(launch.addBuffer(counters)),
      groups(launch.addParam(shares.groups)),
      turns(launch.addParam(shares.turns)),
      least(launch.addParam(shares.least)),
      longer(launch.addParam(shares.longer)), stepsOfBlock(launch, steps),
      shortShare(launch, shares.least), longShare(launch, shares.least + 1) {}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// The steps of shared blocks that this workgroup has, and the number of its
/// turns: of whole blocks first, then of parts.
void ProductEmitter::prepareShare() {
  const SharedSteps &shared = *kernel.shared;
  Value group = ints.from(b.getBegin());
  Value least = ints.param(shared.least), longer = ints.param(shared.longer);
  share.group = group;
  share.begin = b.add(b.mul(group, least), b.minS(group, longer));
  Value isLonger = b.slt(group, longer);
  share.end = b.add(b.add(share.begin, least),
                    b.select(isLonger, ints.cst(1), ints.cst(0)));
  MagicDivisor::Bound steps = shared.stepsOfBlock.bind(b);
  share.firstBlock = steps.div(b, share.begin);
  Value last = steps.div(b, ints.sub(share.end, ints.cst(1)));
  share.turns = b.add(ints.param(shared.turns),
                      ints.add(b.sub(last, share.firstBlock), 1));
}

/// The block of a turn.
Value ProductEmitter::getSharedBlock(Value turn) {
  Value turns = ints.param(kernel.shared->turns);
  Value groups = ints.param(kernel.shared->groups);
  Value part =
      b.add(b.add(b.mul(turns, groups), share.firstBlock), b.sub(turn, turns));
  return b.select(b.slt(turn, turns), b.add(b.mul(turn, groups), share.group),
                  part);
}

void ProductEmitter::limitSteps(Block &block, Value turn) {
  Value turns = ints.param(kernel.shared->turns), steps = block.endStep;
  Value isWhole = b.slt(turn, turns);
  block.shared = b.add(share.firstBlock, b.sub(turn, turns));
  Value start = b.mul(block.shared, steps);
  Value first = b.maxS(zero, b.sub(share.begin, start));
  Value end = b.minS(steps, b.sub(share.end, start));
  block.firstStep = b.select(isWhole, zero, first);
  block.endStep = b.select(isWhole, steps, end);
}

void ProductEmitter::emitSharedSteps() {
  b.forLoop(zero, share.turns, ints.cst(1), [&](Value turn) {
    prepareBlock(turn);
    Values sums = runSteps();
    prepareResults();
    finish(sums);
  });
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

int64_t ProductEmitter::pieceSums() const {
  return std::min<int64_t>(4, tile.run());
}

/// A run's sums, in vectors of at most 16 bytes.
ProductEmitter::Values ProductEmitter::takePieces(const Values &sums) {
  int64_t size = pieceSums();
  Values pieces;
  for (int64_t run = 0; run < tile.runs(); ++run)
    for (int64_t column = 0; column < tile.columns(); ++column) {
      Value whole = wave.getRun(sums, column, run);
      for (int64_t at = 0; at < tile.run(); at += size) {
        SmallVector<int64_t> lanes;
        for (int64_t i = 0; i < size; ++i)
          lanes.push_back(at + i);
        pieces.push_back(b.shuffle(whole, whole, lanes));
      }
    }
  return pieces;
}

void ProductEmitter::joinPieces(ValueRange pieces) {
  int64_t each = tile.run() / pieceSums();
  runs.clear();
  for (; !pieces.empty(); pieces = pieces.drop_front(each)) {
    Values elements;
    for (Value piece : pieces.take_front(each))
      for (int64_t i = 0; i < pieceSums(); ++i)
        elements.push_back(vector::ExtractOp::create(b, piece, i));
    VectorType type = b.vec(elements[0].getType(), tile.run());
    runs.push_back(vector::FromElementsOp::create(b, type, elements));
  }
}

/// The place of this lane's first piece of a part of a block: its head, whose
/// steps are the first ones, or another.
Value ProductEmitter::getPart(Value group, Value isHead) {
  Value part =
      b.add(ints.mul(group, 2), b.select(isHead, ints.cst(1), ints.cst(0)));
  int64_t pieceBytes = 4 * pieceSums();
  int64_t bytes = 4 * tile.getFields().blockM * tile.getFields().blockN;
  Value at = b.add(ints.mul(part, bytes), ints.mul(thread, pieceBytes));
  return b.offset(b.getBuffer(kernel.shared->sums), ints.widen(at));
}

void ProductEmitter::storePieces(const Values &pieces) {
  Value first = getPart(share.group, b.eq(block.firstStep, zero));
  int64_t row = tile.threads() * 4 * pieceSums();
  for (auto [i, piece] : llvm::enumerate(pieces))
    b.store(piece, b.offset(first, static_cast<int64_t>(i) * row));
}

//===----------------------------------------------------------------------===//
// Combination
//===----------------------------------------------------------------------===//

/// The workgroup that has a step of the shared blocks.
Value ProductEmitter::getGroupOf(Value step) {
  Value longer = ints.param(kernel.shared->longer);
  Value least = ints.param(kernel.shared->least);
  Value inLonger = b.mul(longer, ints.add(least, 1));
  Value further = b.maxS(zero, b.sub(step, inLonger));
  return b.select(
      b.slt(step, inLonger), kernel.shared->longShare.bind(b).div(b, step),
      b.add(longer, kernel.shared->shortShare.bind(b).div(b, further)));
}

/// This lane's counter of the block.
Value ProductEmitter::getCounter() {
  Value at = b.add(ints.mul(block.shared, tile.threads()), thread);
  return b.offset(b.getBuffer(kernel.shared->counters),
                  ints.widen(ints.mul(at, 4)));
}

/// Looks for a while if the others (i32, how many) arrive, and returns 1 (i32)
/// then. What has the head of a block has nothing else to do.
Value ProductEmitter::awaitOthers(Value others) {
  constexpr int64_t kLooks = 16;
  StringRef scope = instructions.getDeviceScope();
  Value counter = getCounter(), yes = ints.cst(1);
  auto look = [&]() -> Values {
    Value count = LLVM::LoadOp::create(
        b, zero.getType(), counter, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
    return {b.select(b.eq(count, others), yes, zero)};
  };
  return b.forLoop(zero, ints.cst(kLooks), yes, zero,
                   [&](Value, ValueRange arrived) {
                     return b.ifThenElse(
                         b.eq(arrived[0], yes), yes.getType(),
                         [&] { return Values{yes}; }, look);
                   })[0];
}

/// Counts this lane, and returns 1 (i32) if as many as `others` (i32) have been
/// counted before, in which case the counter is zero again. Their stores before
/// can then be read.
Value ProductEmitter::countArrival(Value others) {
  StringRef scope = instructions.getDeviceScope();
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, scope);
  Value before = LLVM::AtomicRMWOp::create(
      b, LLVM::AtomicBinOp::uinc_wrap, getCounter(), others,
      LLVM::AtomicOrdering::monotonic, scope, /*alignment=*/4);
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, scope);
  return b.select(b.eq(before, others), ints.cst(1), zero);
}

/// Returns 1 (i32) if the parts of all others can be read, with this lane's own
/// in registers or, where it is not among the first two, stored.
Value ProductEmitter::meet(const Values &own, Value isHead, Value others) {
  StringRef scope = instructions.getDeviceScope();
  Value yes = ints.cst(1);
  Value arrived = b.ifThenElse(
      isHead, yes.getType(), [&] { return Values{awaitOthers(others)}; },
      [&] { return Values{zero}; })[0];
  auto take = [&]() -> Values {
    LLVM::StoreOp::create(b, zero, getCounter(), /*alignment=*/4,
                          /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false,
                          LLVM::AtomicOrdering::monotonic, scope);
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, scope);
    return {yes};
  };
  auto give = [&]() -> Values {
    storePieces(own);
    return {countArrival(others)};
  };
  return b.ifThenElse(b.eq(arrived, yes), yes.getType(), take, give)[0];
}

/// Adds up the parts of all workgroups in their order: as the sum of the first
/// two does not depend on theirs, these keep their own part.
ProductEmitter::Values
ProductEmitter::addParts(const Values &own, Value firstGroup, Value others) {
  Type type = own[0].getType();
  bool isInteger = tile.getOp().isInteger();
  Value neutral = b.cstLike(type, isInteger ? 0.0 : -0.0);
  Value place = b.sub(share.group, firstGroup);
  Value keeps = b.slt(place, ints.cst(2));
  Values sums;
  for (Value piece : own)
    sums.push_back(b.select(keeps, piece, neutral));
  Value count = b.select(keeps, others, ints.add(others, 1));
  int64_t row = tile.threads() * 4 * pieceSums();
  return b.forLoop(
      zero, count, ints.cst(1), sums, [&](Value index, ValueRange before) {
        Value isBehind = b.andI(keeps, b.slt(place, ints.add(index, 1)));
        Value part = b.select(isBehind, ints.add(index, 1), index);
        Value first = getPart(b.add(firstGroup, part), b.eq(part, zero));
        // Each load of a batch waits for memory while the others do.
        constexpr size_t kBatch = 16;
        Values after, loaded;
        for (auto [i, sum] : llvm::enumerate(before)) {
          for (size_t next = loaded.size();
               i % kBatch == 0 && next < std::min(i + kBatch, own.size());
               ++next)
            loaded.push_back(b.load(
                b.offset(first, static_cast<int64_t>(next) * row), type));
          after.push_back(isInteger ? b.add(sum, loaded[i])
                                    : b.addF(sum, loaded[i]));
        }
        return after;
      });
}

Value ProductEmitter::combine(const Values &sums) {
  Values own = takePieces(sums);
  Value steps = ints.param(kernel.steps);
  Value isWhole = b.eq(b.sub(block.endStep, block.firstStep), steps);
  SmallVector<Type> types(own.size(), own[0].getType());
  types.push_back(zero.getType());
  Value yes = ints.cst(1);
  auto withFlag = [](Values values, Value flag) {
    values.push_back(flag);
    return values;
  };
  auto addUp = [&] {
    Value start = b.mul(block.shared, steps);
    Value first = getGroupOf(start);
    Value last = getGroupOf(ints.sub(b.add(start, steps), yes));
    Value others = b.sub(last, first);
    Value isLast = meet(own, b.eq(block.firstStep, zero), others);
    return b.ifThenElse(
        b.eq(isLast, yes), types,
        [&] { return withFlag(addParts(own, first, others), yes); },
        [&] { return withFlag(own, zero); });
  };
  Values all =
      b.ifThenElse(isWhole, types, [&] { return withFlag(own, yes); }, addUp);
  joinPieces(ValueRange(all).drop_back());
  return b.eq(all.back(), yes);
}
