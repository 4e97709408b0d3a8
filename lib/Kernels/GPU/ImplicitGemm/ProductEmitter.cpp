//===- ProductEmitter.cpp - Emits the kernel that multiplies --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

/// An offset beyond every buffer, whether or not the uniform offset is added.
static constexpr int64_t kNowhere = std::numeric_limits<int32_t>::min();

ProductEmitter::ProductEmitter(GpuKernelBuilder &b, const ProductKernel &kernel,
                               const ResultAccess *result)
    : b(b), instructions(b.getInstructions()), ints(b), kernel(kernel),
      spec(kernel.spec), tile(spec.tile), result(result), wave(b, tile),
      copyForm(instructions.getCopyForm(b.getGpu())),
      loadBytes(spec.copies ? copyForm.bytes : kChunkBytes),
      depthDivisor(kernel.depthDivisor.bind(b)) {}

void ProductEmitter::emit() {
  if (int64_t waves = tile.getFields().wavesPerEu)
    b.setWavesPerEu(waves);
  thread = ints.from(b.getLane());
  zero = ints.cst(0);
  prepareLane();
  wave.prepare(thread);
  if (spec.sharesSteps)
    prepareShare();
  if (spec.sharesSteps && !spec.copies)
    return emitSharedSteps();
  if (spec.takesTurns)
    return emitTurns();
  prepareBlock(ints.from(b.getBegin()));
  if (spec.loadsEarly)
    prepareResults();
  Values sums = runSteps();
  if (!spec.loadsEarly)
    prepareResults();
  finish(sums);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void ProductEmitter::prepareBlock(Value index) {
  block = decodeBlock(index);
  findFilter();
  Value first = b.add(ints.mul(block.pixelBlock, tile.getFields().blockN), row);
  pixels.clear();
  for (int64_t i = 0; i < tile.loadsOfB(loadBytes); ++i)
    pixels.push_back(
        makePixel(ints.add(first, i * tile.rowsPerLoad(loadBytes))));
}

ProductEmitter::Block ProductEmitter::decodeBlock(Value index) {
  Block block;
  Value rest = spec.sharesSteps ? getSharedBlock(index) : index;
  std::tie(rest, block.channelBlock) =
      kernel.channelBlocks.bind(b).divRem(b, rest);
  std::tie(rest, block.pixelBlock) = kernel.pixelBlocks.bind(b).divRem(b, rest);
  block.split = zero;
  if (spec.split)
    std::tie(rest, block.split) = kernel.splits.bind(b).divRem(b, rest);
  block.group = spec.batched ? zero : rest;
  block.image = spec.batched ? rest : zero;
  block.firstStep = zero;
  block.endStep = ints.param(kernel.steps);
  if (spec.sharesSteps)
    limitSteps(block, index);
  if (!spec.split)
    return block;
  Value count = ints.param(kernel.stepsPerSplit);
  block.firstStep = b.mul(block.split, count);
  block.endStep = b.minS(b.add(block.firstStep, count), block.endStep);
  return block;
}

/// Loads an entry of this image's row.
static Value loadFromTable(KernelBuilder &b, Ints &ints, Value table,
                           Value image, int64_t columns, int64_t column) {
  Value at = ints.add(ints.mul(image, columns), column);
  return b.load(b.offset(table, ints.widen(ints.mul(at, 4))), b.getI32Type());
}

void ProductEmitter::findFilter() {
  Value index = block.group;
  if (spec.batched)
    index = loadFromTable(b, ints, b.getBuffer(kernel.tableBuffer), block.image,
                          kernel.tableColumns, 1);
  Value blocks = ints.from(kernel.channelBlocks.bind(b).getDivisor());
  Value at = b.add(b.mul(index, blocks), block.channelBlock);
  filterStart = ints.mul(b.mul(at, ints.param(kernel.steps)), tile.bytesOfA());
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

void ProductEmitter::prepareLane() {
  filter = instructions.bound(b, b.getBuffer(kernel.filterBuffer),
                              ints.param(kernel.filterBytes));
  input = instructions.bound(b, b.getBuffer(kernel.inputBuffer),
                             ints.param(kernel.inputBytes));
  for (const ProductKernel::Dimension &dimension : kernel.dimensions) {
    sizes.push_back(ints.param(dimension.size));
    dilations.push_back(ints.param(dimension.dilation));
    tapBytes.push_back(ints.param(dimension.tapBytes));
    tapDivisors.push_back(dimension.tap.bind(b));
  }
  channelBytes = ints.param(kernel.channelBytes);
  fill = b.broadcast(ints.param(kernel.fill), kChunkBytes / 4);
  if (kernel.prologue)
    prologue.emplace(kernel.prologue->bind(b));
  placeLane();
}

void ProductEmitter::placeLane() {
  int64_t pieces = kChunkBytes / loadBytes;
  Value piece = ints.rem(thread, tile.rowChunks() * pieces);
  row = ints.div(thread, tile.rowChunks() * pieces);
  chunk = ints.div(piece, pieces);
  inChunk = ints.mul(ints.rem(piece, pieces), loadBytes);
  Value swizzle =
      ints.rem(ints.div(row, tile.rowsPerLine()), tile.swizzledChunks());
  Value other = ints.exclusiveOr(chunk, swizzle);
  Value rowStart = ints.mul(row, tile.rowBytes());
  if (spec.copies && copyForm.inRow) {
    // The place is given, so that the lane finds the bytes that belong there.
    writeA = instructions.takeFirstLane(b, ints.mul(thread, loadBytes));
    chunk = other;
    Value inRow = b.add(ints.mul(chunk, kChunkBytes), inChunk);
    filterOffset = b.add(rowStart, inRow);
  } else {
    filterOffset = ints.mul(thread, kChunkBytes);
    writeA = b.add(rowStart, ints.mul(other, kChunkBytes));
  }
  chunkOffset = ints.mul(chunk, kChunkBytes);
}

ProductEmitter::WindowPixel ProductEmitter::makePixel(Value index) {
  WindowPixel pixel;
  pixel.offset = b.mul(block.group, ints.param(kernel.groupBytes));
  if (spec.batched)
    pixel.offset = loadFromTable(b, ints, b.getBuffer(kernel.tableBuffer),
                                 block.image, kernel.tableColumns, 0);
  if (loadBytes < kChunkBytes)
    pixel.offset = b.add(pixel.offset, inChunk);
  // With several taps per step, the channel depends on the tap.
  if (!spec.merged)
    pixel.offset = b.add(pixel.offset, chunkOffset);
  pixel.exists = b.slt(index, ints.param(kernel.pixels));
  if (spec.dense) {
    Value bytes = ints.param(kernel.dimensions[0].bytes);
    pixel.offset = b.add(pixel.offset, b.mul(index, bytes));
    return pixel;
  }
  Value rest = index;
  for (const ProductKernel::Dimension &dimension : kernel.dimensions) {
    Value place;
    std::tie(rest, place) = dimension.pixel.bind(b).divRem(b, rest);
    Value start = b.sub(b.mul(place, ints.param(dimension.stride)),
                        ints.param(dimension.pad));
    pixel.starts.push_back(start);
    pixel.offset =
        b.add(pixel.offset, b.mul(start, ints.param(dimension.bytes)));
  }
  pixel.offset =
      b.add(pixel.offset, b.mul(rest, ints.param(kernel.imageBytes)));
  // A pixel that does not exist lies outside of the input for every tap.
  pixel.starts[0] = b.select(pixel.exists, pixel.starts[0], ints.cst(kOutside));
  return pixel;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

ProductEmitter::Tap ProductEmitter::getTap(Value step) {
  Tap tap;
  Value index, inTap;
  if (spec.pointwise)
    std::tie(inTap, index) = std::pair(step, zero);
  else if (spec.merged)
    std::tie(index, inTap) =
        depthDivisor.divRem(b, b.add(ints.mul(step, tile.rowChunks()), chunk));
  else
    std::tie(inTap, index) = depthDivisor.divRem(b, step);
  int64_t stride = spec.merged ? kChunkBytes : tile.rowBytes();
  tap.channel = ints.mul(inTap, stride);
  tap.bytes = zero;
  for (size_t i = 0; i < tapDivisors.size(); ++i) {
    Value place = index;
    if (i + 1 < tapDivisors.size())
      std::tie(index, place) = tapDivisors[i].divRem(b, index);
    tap.starts.push_back(b.mul(place, dilations[i]));
    tap.bytes = b.add(tap.bytes, b.mul(place, tapBytes[i]));
    // There is nothing behind the last tap; that matters only in merged steps.
    if (spec.merged && i + 1 == tapDivisors.size())
      tap.isValid = b.slt(place, ints.from(tapDivisors[i].getDivisor()));
  }
  if (spec.merged)
    tap.bytes = b.add(tap.bytes, tap.channel);
  else
    tap.isValid = b.slt(b.add(tap.channel, chunkOffset), channelBytes);
  return tap;
}

Value ProductEmitter::isInside(const WindowPixel &pixel, const Tap &tap) {
  Value inside = tap.isValid;
  for (size_t i = 0; i < pixel.starts.size(); ++i) {
    Value isIn = b.ult(b.add(pixel.starts[i], tap.starts[i]), sizes[i]);
    inside = inside ? b.andI(inside, isIn) : isIn;
  }
  return inside;
}

Value ProductEmitter::getOffset(const WindowPixel &pixel, const Tap &tap) {
  Value inside = isInside(pixel, tap);
  return b.select(inside, b.add(pixel.offset, tap.bytes), ints.cst(kNowhere));
}

Value ProductEmitter::clampStep(Value step) {
  return b.minS(step, ints.sub(block.endStep, ints.cst(1)));
}

ProductEmitter::Values ProductEmitter::getOffsets(Value step) {
  // There would be one for each cell.
  if (prologue)
    return {};
  Tap tap = getTap(clampStep(step));
  Values offsets;
  for (const WindowPixel &pixel : pixels)
    offsets.push_back(getOffset(pixel, tap));
  return offsets;
}

ProductEmitter::Staged ProductEmitter::load(Value step, const Values &offsets) {
  Staged staged;
  staged.step = step;
  if (prologue)
    staged.cells = loadCells(step);
  step = clampStep(step);
  Value start = b.add(filterStart, ints.mul(step, tile.bytesOfA()));
  for (int64_t i = 0; i < tile.loadsOfA(); ++i)
    staged.a.push_back(instructions.loadBounded(
        b, filter, filterOffset,
        ints.add(start, i * tile.threads() * kChunkBytes)));
  if (prologue)
    return staged;
  // Values that all lanes share are recomputed here: carried from step to step,
  // they would end up in vector registers.
  Value channel = spec.merged ? zero : getTap(step).channel;
  for (Value offset : offsets)
    staged.b.push_back(instructions.loadBounded(b, input, offset, channel));
  if (tile.getOp().isInteger())
    staged.offsets = offsets;
  return staged;
}

//===----------------------------------------------------------------------===//
// Windows of a prologue
//===----------------------------------------------------------------------===//

/// Behind the last step, cells are neither loaded nor used.
ProductEmitter::Values ProductEmitter::loadCells(Value step) {
  Value channel = ints.mul(step, tile.rowBytes());
  Value exists = b.andI(b.slt(step, block.endStep),
                        b.slt(b.add(channel, chunkOffset), channelBytes));
  Values cells;
  for (const WindowPixel &pixel : pixels) {
    // Each lane adds up its own places: those of all cells, which lanes share,
    // would not fit scalar registers.
    Value y = pixel.starts[1], rowOffset = pixel.offset;
    for (int64_t row = 0; row < kernel.prologue->rows(); ++row) {
      Value x = pixel.starts[0], offset = rowOffset;
      Value isRow = b.andI(exists, b.ult(y, sizes[1]));
      for (int64_t i = 0; i < kernel.prologue->columns(); ++i) {
        Value isInside = b.andI(isRow, b.ult(x, sizes[0]));
        cells.push_back(instructions.loadBounded(
            b, input, b.select(isInside, offset, ints.cst(kNowhere)), channel));
        x = b.add(x, dilations[0]);
        offset = b.add(offset, tapBytes[0]);
      }
      y = b.add(y, dilations[1]);
      rowOffset = b.add(rowOffset, tapBytes[1]);
    }
  }
  return cells;
}

void ProductEmitter::finishLoad(Staged &staged) {
  if (!prologue)
    return;
  Type type = b.vec(b.getI32Type(), kChunkBytes / 4);
  auto compute = [&] {
    Value first = b.add(ints.mul(staged.step, tile.rowBytes()), chunkOffset);
    return prologue->compute(staged.cells, first, b.slt(first, channelBytes));
  };
  staged.b = b.ifThenElse(
      b.slt(staged.step, block.endStep), SmallVector<Type>(pixels.size(), type),
      compute, [&] { return Values(pixels.size(), b.cstLike(type, 0)); });
  staged.cells.clear();
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

Value ProductEmitter::convert(Value loaded, Value offset) {
  if (spec.isBiased())
    loaded = ints.exclusiveOr(
        loaded,
        b.cstLike(loaded.getType(), static_cast<double>(int32_t(0x80808080))));
  Value isInside = b.cmp(KernelBuilder::Pred::sge, offset, zero);
  return b.select(isInside, loaded, fill);
}

void ProductEmitter::storeChunk(Value loaded, Value address, int64_t offset) {
  Value pointer = b.offset(b.offset(b.getLds(), address), offset);
  LLVM::StoreOp::create(b, loaded, pointer, kChunkBytes);
}

void ProductEmitter::storeToLds(const Staged &staged, Value stage) {
  Value address = stage ? b.add(writeA, stage) : writeA;
  int64_t step = tile.rowsPerLoad() * tile.rowBytes();
  for (auto [i, loaded] : llvm::enumerate(staged.a))
    storeChunk(loaded, address, static_cast<int64_t>(i) * step);
  for (auto [i, loaded] : llvm::enumerate(staged.b)) {
    Value value = loaded;
    if (tile.getOp().isInteger())
      value = convert(value, staged.offsets[i]);
    storeChunk(value, address,
               tile.bytesOfA() + static_cast<int64_t>(i) * step);
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

ProductEmitter::Values ProductEmitter::flatten(const Carried &carried) const {
  Values all(carried.sums);
  const Staged &staged = carried.staged;
  for (const Values *part :
       {&staged.a, &staged.b, &staged.offsets, &carried.offsets})
    all.append(part->begin(), part->end());
  if (carried.stage)
    all.push_back(carried.stage);
  return all;
}

ProductEmitter::Carried ProductEmitter::unflatten(ValueRange values,
                                                  const Carried &like) const {
  Carried carried = like;
  Staged &staged = carried.staged;
  for (Values *part : {&carried.sums, &staged.a, &staged.b, &staged.offsets,
                       &carried.offsets}) {
    llvm::copy(values.take_front(part->size()), part->begin());
    values = values.drop_front(part->size());
  }
  if (carried.stage)
    carried.stage = values.front();
  return carried;
}

ProductEmitter::Values ProductEmitter::runSteps() {
  if (spec.copies)
    return runCopies();
  bool hasStages = tile.getFields().stages == 2;
  Carried carried;
  carried.sums = wave.makeSums();
  Value step = block.firstStep, second = ints.add(step, 1);
  carried.staged = load(step, getOffsets(step));
  finishLoad(carried.staged);
  carried.offsets = getOffsets(second);
  if (hasStages) {
    carried.stage = zero;
    storeToLds(carried.staged, /*stage=*/nullptr);
    carried.staged = load(second, carried.offsets);
    finishLoad(carried.staged);
    carried.offsets = getOffsets(ints.add(step, 2));
    b.barrier();
  }
  Values results =
      b.forLoop(block.firstStep, block.endStep, ints.cst(1), flatten(carried),
                [&](Value step, ValueRange values) {
                  Carried before = unflatten(values, carried);
                  return flatten(hasStages ? runTwoStages(step, before)
                                           : runOneStage(step, before));
                });
  return unflatten(results, carried).sums;
}

/// The data of the previous step's loads is stored to LDS after all waves have
/// finished that step.
ProductEmitter::Carried ProductEmitter::runOneStage(Value step,
                                                    const Carried &carried) {
  b.barrier();
  storeToLds(carried.staged, /*stage=*/nullptr);
  b.barrier();
  Carried after = carried;
  after.staged = load(ints.add(step, 1), carried.offsets);
  // Without fences LLVM would issue loads late, to save registers, and then
  // wait for them.
  instructions.fenceSchedule(b);
  after.offsets = getOffsets(ints.add(step, 2));
  after.sums = wave.multiply(/*stage=*/nullptr, carried.sums);
  finishLoad(after.staged);
  return after;
}

/// While one stage is multiplied, the data loaded during the previous step is
/// stored to the other stage, and the data of the step after the next is
/// loaded.
ProductEmitter::Carried ProductEmitter::runTwoStages(Value step,
                                                     const Carried &carried) {
  Carried after = carried;
  after.stage = b.sub(ints.cst(tile.stageBytes()), carried.stage);
  storeToLds(carried.staged, after.stage);
  after.staged = load(ints.add(step, 2), carried.offsets);
  instructions.fenceSchedule(b);
  after.offsets = getOffsets(ints.add(step, 3));
  after.sums = wave.multiply(carried.stage, carried.sums);
  finishLoad(after.staged);
  b.barrier();
  return after;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void ProductEmitter::prepareResults() {
  columns.clear();
  places.clear();
  channel = ints.mul(block.channelBlock, tile.getFields().blockM);
  Value first = ints.mul(block.pixelBlock, tile.getFields().blockN);
  for (int64_t i = 0; i < tile.columns(); ++i)
    columns.push_back(b.add(first, wave.getPixel(i)));
  if (!result)
    return;
  bound.emplace(result->bind(b));
  Value count = ints.param(kernel.pixels);
  Value firstPixel = b.mul(block.image, count);
  for (Value column : columns) {
    // Operands are loaded before it is known that the pixel exists.
    if (bound->hasPixelOperands())
      column = b.minS(column, ints.sub(count, ints.cst(1)));
    places.push_back(bound->getPixel(b.add(firstPixel, column), block.group,
                                     block.image, column));
  }
}

void ProductEmitter::loadOperands() {
  loaded.clear();
  // Channels that do not exist read others.
  Value last = ints.sub(ints.param(kernel.channels), ints.cst(tile.run()));
  for (int64_t run = 0; run < tile.runs(); ++run) {
    Value first = b.add(channel, wave.getRunChannel(run));
    if (!spec.wholeBlocks)
      first = b.minS(first, last);
    for (const ResultAccess::Bound::Pixel &place : places)
      loaded.push_back(bound->load(place, first));
  }
}

void ProductEmitter::finish(const Values &sums) {
  if (!spec.sharesSteps)
    return storeAll(sums);
  b.ifThen(combine(sums), [&] { storeAll(sums); });
}

Value ProductEmitter::getRun(const Values &sums, int64_t column, int64_t run) {
  if (spec.sharesSteps)
    return runs[run * tile.columns() + column];
  return wave.getRun(sums, column, run);
}

void ProductEmitter::storeAll(const Values &sums) {
  Value channels = ints.param(kernel.channels);
  for (int64_t run = 0; run < tile.runs(); ++run) {
    Value first = b.add(channel, wave.getRunChannel(run));
    auto store = [&] {
      if (spec.split)
        storeSums(sums, run, first);
      else
        storeResults(sums, run, first);
    };
    if (spec.wholeBlocks)
      store();
    else
      b.ifThen(b.slt(first, channels), store);
  }
}

/// The number of columns whose operands are loaded together: each load then
/// waits for memory while the others do. ptxas leaves them so, and they take
/// half of the registers that it has beside the sums.
size_t ProductEmitter::countColumnsLoaded() const {
  constexpr int64_t kMost = 8, kOthers = 40;
  const GpuTarget &gpu = b.getGpu();
  int64_t each = bound->countRegisters();
  if (gpu.vendor != GpuVendor::NVIDIA || each == 0)
    return kMost;
  int64_t all = gpu.vectorRegisters * gpu.waveSize * gpu.simdsPerUnit;
  int64_t sums = tile.sumsPerColumn() * tile.columns();
  int64_t left =
      std::min(gpu.maxVectorRegisters, all / tile.threads()) - sums - kOthers;
  return std::clamp<int64_t>(left / 2 / each, 1, kMost);
}

void ProductEmitter::storeResults(const Values &sums, int64_t run,
                                  Value first) {
  ResultAccess::Bound::Channels shared =
      bound->getChannels(block.group, first, block.image);
  Value count = ints.param(kernel.pixels);
  SmallVector<ResultAccess::Bound::Loaded> operands;
  if (spec.loadsEarly)
    operands.append(loaded.begin() + run * tile.columns(),
                    loaded.begin() + (run + 1) * tile.columns());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (operands.size() == i)
      for (const ResultAccess::Bound::Pixel &place :
           ArrayRef(places).slice(i).take_front(countColumnsLoaded()))
        operands.push_back(bound->load(place, first));
    bound->store(places[i], shared, operands[i],
                 getRun(sums, static_cast<int64_t>(i), run),
                 b.slt(columns[i], count));
  }
}

void ProductEmitter::storeSums(const Values &sums, int64_t run, Value first) {
  Value buffer = b.getBuffer(kernel.sumsBuffer);
  Value pitch = ints.param(kernel.sumsPitch);
  Value count = ints.param(kernel.pixels);
  Value start = b.mul(block.split, ints.param(kernel.allPixels));
  start = b.add(start, b.mul(block.image, count));
  Value groupStart = b.mul(block.group, ints.param(kernel.sumsOfGroup));
  for (auto [i, pixel] : llvm::enumerate(columns)) {
    Value element =
        b.add(b.mul(b.add(start, pixel), pitch), b.add(groupStart, first));
    Value values = wave.getRun(sums, static_cast<int64_t>(i), run);
    // Runs are padded there, and so is the store.
    b.ifThen(b.slt(pixel, count), [&] {
      b.store(values, b.offset(buffer, ints.widen(ints.mul(element, 4))));
    });
  }
}
