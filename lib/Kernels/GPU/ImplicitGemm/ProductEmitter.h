//===- ProductEmitter.h - Emits the kernel that multiplies ---- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PRODUCTEMITTER_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PRODUCTEMITTER_H

#include "GPU/GpuInstructions.h"
#include "ProductKernel.h"
#include "WaveProduct.h"

namespace tarpon::gpuigemm {

class ProductEmitter {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  /// `result` is null if the sums are stored as they are.
  ProductEmitter(GpuKernelBuilder &b, const ProductKernel &kernel,
                 const ResultAccess *result);
  void emit();

private:
  /// The block of D that this workgroup computes, and its steps of k.
  struct Block {
    Value group, image; ///< the second of a batch, else 0
    Value channelBlock, pixelBlock, split;
    Value firstStep, endStep;
    Value shared; ///< its number among those whose steps are shared
  };
  /// The share of a workgroup, in all shared blocks.
  struct Share {
    Value group, begin, end;
    Value firstBlock, turns;
  };
  /// A coordinate that lies outside of every input, whatever is added to it.
  static constexpr int64_t kOutside = 1 << 30;
  /// A pixel whose chunks this lane loads, by the start of its window.
  struct WindowPixel {
    Values starts; ///< by dimension
    Value offset;  ///< bytes
    Value exists;
  };
  /// The values that a lane has loaded for one step.
  struct Staged {
    Values a, b;
    Values offsets; ///< of b, where padding must be told from data
    /// The cells of windows, of which a prologue makes b.
    Values cells;
    Value step;
  };
  struct Tap {
    Values starts; ///< by dimension, in pixels
    Value bytes, channel;
    Value isValid; ///< or null
  };

  // Preparation.
  /// The values that do not depend on the block.
  void prepareLane();
  /// The bytes of a row that this lane loads, and where they go in LDS.
  void placeLane();
  void prepareBlock(Value index);
  Block decodeBlock(Value index);
  void findFilter();
  WindowPixel makePixel(Value index);

  // One step.
  /// The offsets of this lane's chunks of the input, in bytes.
  Values getOffsets(Value step);
  /// `offsets` are those of the step.
  Staged load(Value step, const Values &offsets);
  /// Loads the cells of the windows around this lane's pixels.
  Values loadCells(Value step);
  /// Makes b of cells that were loaded. Emitted behind the product that their
  /// loads wait beside.
  void finishLoad(Staged &staged);
  /// Limits the step to the last one: data prefetched behind it is not used,
  /// but must exist.
  Value clampStep(Value step);
  Tap getTap(Value step);
  /// Returns true (i1) if the tap of a pixel lies in the input.
  Value isInside(const WindowPixel &pixel, const Tap &tap);
  Value getOffset(const WindowPixel &pixel, const Tap &tap);
  /// Converts chunks of B to the form of the matrix instruction.
  Value convert(Value chunk, Value offset);
  void storeToLds(const Staged &staged, Value stage);
  void storeChunk(Value chunk, Value address, int64_t offset);

  // All steps.
  /// The values that are carried from one step to the next.
  struct Carried {
    Values sums;
    Staged staged;
    /// The offsets of the next step's loads: computed during the previous
    /// step's product, so that loads can be issued at once.
    Values offsets;
    Value stage; ///< of LDS that is multiplied; null if there is one only
  };
  Values runSteps();
  Carried runOneStage(Value step, const Carried &carried);
  Carried runTwoStages(Value step, const Carried &carried);
  /// While one stage is multiplied, all others are filled.
  Values runCopies();
  /// Starts the copies of the block's first steps, from a stage on.
  void startCopies(Value stage);
  /// Multiplies, from a stage on, which afterwards is the one behind.
  Values multiplyCopies(Value &stage);
  void awaitStep(int64_t left);
  /// Multiply the step in a stage (its first byte, i32), and start to fill
  /// another one.
  Values multiplyInOrder(Value step, const Values &sums, Value read,
                         Value write);
  Values multiplyAhead(Value step, const Values &sums, Value read, Value write);
  /// The number of steps whose copies are under way while one is multiplied.
  int64_t stepsAhead() const;
  Value getNextStage(Value stage);
  /// All blocks of a workgroup that takes turns.
  void emitTurns();
  /// The values of the block that copies depend on, one after another.
  Values flattenSource() const;
  void unflattenSource(mlir::ValueRange values);
  /// Starts the copies of a step to a stage (its first byte, i32), if there is
  /// such a step, and commits them.
  void copyStep(Value step, Value stage);
  /// Starts the copies of a step that `exists` (i1), or of zeros.
  void copyStep(Value step, Value stage, Value exists);
  /// The same where copies are in rows; behind the last step, of that one.
  void copyStepInRows(Value step, Value stage);
  int64_t copiesPerStep() const;
  /// Waits for copies in rows that lie behind the last step.
  void awaitLeftovers();
  /// Emits one of the copies of a side of `rows` rows, for the lanes that have
  /// a row in it.
  void copyRows(int64_t rows, int64_t index, llvm::function_ref<void()> copy);

  Values flatten(const Carried &carried) const;
  /// The inverse of flatten; `like` has as many values.
  Carried unflatten(mlir::ValueRange values, const Carried &like) const;

  // The end.
  /// Emits the places of this lane's results.
  void prepareResults();
  /// Loads the operands of all results.
  void loadOperands();
  void finish(const Values &sums);
  void storeAll(const Values &sums);
  Value getRun(const Values &sums, int64_t column, int64_t run);
  size_t countColumnsLoaded() const;
  /// Stores a run of each of the lane's pixels.
  void storeResults(const Values &sums, int64_t run, Value first);
  void storeSums(const Values &sums, int64_t run, Value first);

  // Shared steps.
  void prepareShare();
  Value getSharedBlock(Value turn);
  void limitSteps(Block &block, Value turn);
  /// All blocks and parts of a workgroup that copies through registers.
  void emitSharedSteps();
  int64_t pieceSums() const;
  Values takePieces(const Values &sums);
  /// Sets `runs`.
  void joinPieces(mlir::ValueRange pieces);
  Value getPart(Value group, Value isHead);
  void storePieces(const Values &pieces);
  Value getGroupOf(Value step);
  Value getCounter();
  Value awaitOthers(Value others);
  Value countArrival(Value others);
  Value meet(const Values &own, Value isHead, Value others);
  Values addParts(const Values &own, Value firstGroup, Value others);
  /// Sets `runs` to the sums of all steps and returns true (i1), or false if
  /// another workgroup will do so.
  Value combine(const Values &sums);

  GpuKernelBuilder &b;
  const GpuInstructions &instructions;
  Ints ints;
  const ProductKernel &kernel;
  const ProductSpec &spec;
  const Tile &tile;
  const ResultAccess *result;
  WaveProduct wave;
  CopyForm copyForm;
  int64_t loadBytes; ///< of a lane at a time

  Value thread, zero;
  Block block;
  Share share;
  BoundedBuffer filter, input;
  std::optional<Prologue::Bound> prologue;
  Value filterOffset, filterStart;
  /// The chunk of a row from which this lane loads, its offset and that of the
  /// lane's bytes in it.
  Value chunk, chunkOffset, inChunk, row;
  mlir::SmallVector<WindowPixel> pixels;
  Value writeA;
  MagicDivisor::Bound depthDivisor;
  mlir::SmallVector<MagicDivisor::Bound> tapDivisors;
  Values sizes, dilations, tapBytes;
  Value channelBytes, fill;

  /// The block's first channel, and this lane's pixels.
  Value channel;
  Values columns;
  std::optional<ResultAccess::Bound> bound;
  mlir::SmallVector<ResultAccess::Bound::Pixel> places;
  /// By run and pixel, if they are loaded before the steps.
  mlir::SmallVector<ResultAccess::Bound::Loaded> loaded;
  /// The sums by run and pixel, if those of several workgroups were added.
  Values runs;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PRODUCTEMITTER_H
