//===- ProductCopies.cpp - Steps with asynchronous copies -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages of LDS are a ring: while one is multiplied, the data of the steps
// behind is on its way to the others. A workgroup that takes blocks in turn
// goes on around the ring: it starts the copies of the next block's first steps
// before it stores the results of one.
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"

#include <tuple>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

//===----------------------------------------------------------------------===//
// Steps with asynchronous copies
//===----------------------------------------------------------------------===//

void ProductEmitter::copyStep(Value step, Value stage) {
  if (copyForm.inRow)
    return copyStepInRows(step, stage);
  Value exists = b.slt(step, block.endStep);
  // A warpgroup's products hide a branch; mma.sync and copies share a block, in
  // which ptxas orders them.
  if (tile.getOp().kind == WaveOp::Kind::Wgmma)
    b.ifThen(exists, [&] {
      Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
      copyStep(step, stage, yes);
    });
  else
    copyStep(step, stage, exists);
  instructions.commitCopies(b);
}

void ProductEmitter::copyStep(Value step, Value stage, Value exists) {
  Value lds = b.offset(b.offset(b.getLds(), writeA), stage);
  int64_t rows = tile.rowsPerLoad() * tile.rowBytes();
  Value start = b.add(filterStart, ints.mul(step, tile.bytesOfA()));
  Value from = b.offset(b.getBuffer(kernel.filterBuffer),
                        ints.widen(b.add(start, filterOffset)));
  for (int64_t i = 0; i < tile.loadsOfA(); ++i)
    copyRows(tile.getFields().blockM, i, [&] {
      instructions.copyToLds(b, b.offset(lds, i * rows),
                             b.offset(from, i * tile.threads() * kChunkBytes),
                             exists, spec.sharesFilter);
    });
  Tap tap = getTap(step);
  if (!spec.merged)
    tap.bytes = b.add(tap.bytes, tap.channel);
  // One comparison of the coordinate is for all of that.
  Value isValid = b.andI(exists, tap.isValid);
  tap.starts[0] = b.select(isValid, tap.starts[0], ints.cst(kOutside));
  tap.isValid = Value();
  for (auto [i, pixel] : llvm::enumerate(pixels)) {
    Value offset = ints.widen(b.add(pixel.offset, tap.bytes));
    Value inside =
        spec.covered ? b.andI(isValid, pixel.exists) : isInside(pixel, tap);
    auto index = static_cast<int64_t>(i);
    copyRows(tile.getFields().blockN, index, [&] {
      instructions.copyToLds(b, b.offset(lds, tile.bytesOfA() + index * rows),
                             b.offset(b.getBuffer(kernel.inputBuffer), offset),
                             inside, spec.sharesPixels);
    });
  }
}

void ProductEmitter::copyStepInRows(Value step, Value stage) {
  // Waits count copies, of which each step has the same number.
  step = b.maxS(clampStep(step), block.firstStep);
  Value lds = b.offset(b.offset(b.getLds(), writeA), stage);
  int64_t bytes = tile.threads() * loadBytes;
  Value start = b.add(filterStart, ints.mul(step, tile.bytesOfA()));
  // The filter's bytes lie as those of LDS, so that one place is for several.
  int64_t sharers = GpuInstructions::kMostFurther / bytes + 1;
  for (int64_t i = 0; i < tile.loadsOfA(loadBytes); ++i) {
    int64_t further = i % sharers * bytes, first = i * bytes - further;
    instructions.copyRow(b, b.offset(lds, first), filter, filterOffset,
                         ints.add(start, first), further);
  }
  Tap tap = getTap(step);
  Value channel = spec.merged ? zero : tap.channel;
  int64_t place = tile.bytesOfA();
  for (const WindowPixel &pixel : pixels) {
    instructions.copyRow(b, b.offset(lds, place), input, getOffset(pixel, tap),
                         channel, /*further=*/0);
    place += bytes;
  }
}

int64_t ProductEmitter::copiesPerStep() const {
  return tile.loadsOfA(loadBytes) + tile.loadsOfB(loadBytes);
}

void ProductEmitter::copyRows(int64_t rows, int64_t index,
                              function_ref<void()> copy) {
  int64_t left = rows - index * tile.rowsPerLoad();
  if (left >= tile.rowsPerLoad())
    return copy();
  b.ifThen(b.slt(thread, ints.cst(left * tile.rowChunks())), copy);
}

int64_t ProductEmitter::stepsAhead() const {
  return tile.getFields().stages - 1;
}

Value ProductEmitter::getNextStage(Value stage) {
  Value next = ints.add(stage, tile.stageBytes());
  Value isLast = b.eq(next, ints.cst(tile.ldsBytes()));
  return b.select(isLast, zero, next);
}

void ProductEmitter::startCopies(Value stage) {
  for (int64_t i = 0; i < stepsAhead(); ++i) {
    copyStep(ints.add(block.firstStep, i), stage);
    stage = getNextStage(stage);
  }
}

/// Waits until all data of a step has arrived, behind which there are as many
/// steps' copies as `left`, and all waves have done what is before.
void ProductEmitter::awaitStep(int64_t left) {
  instructions.waitForCopies(b, left, copiesPerStep());
  if (tile.getOp().kind == WaveOp::Kind::Wgmma)
    instructions.fenceCopies(b);
  b.barrier();
}

/// Behind the barrier, the previous step's stage is free.
ProductEmitter::Values ProductEmitter::multiplyInOrder(Value step,
                                                       const Values &sums,
                                                       Value read,
                                                       Value write) {
  awaitStep(stepsAhead() - 1);
  return wave.multiply(read, sums,
                       [&] { copyStep(ints.add(step, stepsAhead()), write); });
}

/// The next step is awaited while this one's products run, so that they wait
/// neither for a barrier nor for the fence of copies, which takes until further
/// copies have arrived. Behind the barrier all waves have done with the
/// previous step, whose stage is free.
ProductEmitter::Values ProductEmitter::multiplyAhead(Value step,
                                                     const Values &sums,
                                                     Value read, Value write) {
  Values after = wave.multiply(read, sums);
  awaitStep(stepsAhead() - 2);
  copyStep(ints.add(step, stepsAhead()), write);
  return after;
}

ProductEmitter::Values ProductEmitter::multiplyCopies(Value &stage) {
  Values carried = wave.makeSums();
  carried.push_back(stage);
  for (int64_t i = 0; i < stepsAhead(); ++i)
    stage = getNextStage(stage);
  carried.push_back(stage);
  if (tile.stepsUnderWay() > 0)
    awaitStep(stepsAhead() - 1);
  Values results =
      b.forLoop(block.firstStep, block.endStep, ints.cst(1), carried,
                [&](Value step, ValueRange values) {
                  Value read = values[values.size() - 2], write = values.back();
                  Values sums(values.drop_back(2));
                  Values after = tile.stepsUnderWay() > 0
                                     ? multiplyAhead(step, sums, read, write)
                                     : multiplyInOrder(step, sums, read, write);
                  after.push_back(getNextStage(read));
                  after.push_back(getNextStage(write));
                  return after;
                });
  wave.finish();
  stage = results[results.size() - 2];
  results.truncate(results.size() - 2);
  return results;
}

ProductEmitter::Values ProductEmitter::runCopies() {
  startCopies(zero);
  if (spec.loadsEarly)
    loadOperands();
  Value stage = zero;
  Values sums = multiplyCopies(stage);
  awaitLeftovers();
  return sums;
}

void ProductEmitter::awaitLeftovers() {
  // Otherwise they might arrive in LDS that belongs to another workgroup.
  if (copyForm.inRow)
    instructions.waitForCopies(b, 0, copiesPerStep());
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

ProductEmitter::Values ProductEmitter::flattenSource() const {
  Values values = {filterStart};
  for (const WindowPixel &pixel : pixels) {
    llvm::append_range(values, pixel.starts);
    values.append({pixel.offset, pixel.exists});
  }
  return values;
}

void ProductEmitter::unflattenSource(ValueRange values) {
  auto take = [&] {
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  filterStart = take();
  for (WindowPixel &pixel : pixels) {
    for (Value &start : pixel.starts)
      start = take();
    pixel.offset = take();
    pixel.exists = take();
  }
}

void ProductEmitter::emitTurns() {
  Value count, groups, first;
  if (spec.sharesSteps) {
    std::tie(first, count, groups) = std::tuple(zero, share.turns, ints.cst(1));
  } else {
    count = ints.param(kernel.blocks);
    groups = ints.param(kernel.groups);
    first = ints.from(b.getBegin());
  }
  prepareBlock(first);
  startCopies(zero);
  Values carried = flattenSource();
  carried.push_back(zero);
  b.forLoop(first, count, groups, carried, [&](Value index, ValueRange values) {
    Value stage = values.back();
    unflattenSource(values);
    Block current = block = decodeBlock(index);
    if (spec.loadsEarly) {
      prepareResults();
      loadOperands();
    }
    Values sums = multiplyCopies(stage);
    // The last steps have copied zeros, or nothing, to the next stages.
    instructions.waitForCopies(b, 0, copiesPerStep());
    Value next = b.add(index, groups);
    Value exists = b.slt(next, count);
    prepareBlock(b.minS(next, ints.sub(count, ints.cst(1))));
    block.endStep = b.select(exists, block.endStep, block.firstStep);
    startCopies(stage);
    Values after = flattenSource();
    after.push_back(stage);
    block = current;
    if (!spec.loadsEarly)
      prepareResults();
    finish(sums);
    return after;
  });
  awaitLeftovers();
}
