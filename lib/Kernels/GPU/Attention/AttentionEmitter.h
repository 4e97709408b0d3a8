//===- AttentionEmitter.h - Emits fused attention ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are i32, as in the tiled engine. A column is one query of a lane:
// columnsPerLane of them in each tile.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONEMITTER_H
#define TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONEMITTER_H

#include "AttentionKernel.h"
#include "GPU/GpuInstructions.h"
#include "GPU/ImplicitGemm/Ints.h"

namespace tarpon::gpuattention {

class AttentionEmitter {
public:
  AttentionEmitter(GpuKernelBuilder &b, const AttentionKernel &kernel);
  void emit();

private:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  /// Rows of one batch and head in global memory.
  struct Rows {
    Value start;         ///< pointer
    Value end;           ///< rows from there on read as zeros
    int64_t columns = 0; ///< that exist
    int64_t padded = 0;  ///< that LDS has
    int64_t numRows = 0; ///< that are copied at a time
  };
  /// The values that the loop over blocks of keys carries.
  struct State {
    Values sums;    ///< of the result: [tile of channels][tile of queries]
    Values largest; ///< score of each column
    Values weights; ///< the lane's part of a column's sum of probabilities
  };
  /// 16 bytes of a row that this lane copies. Where a lane always has the same
  /// column, `row` is that of its first chunk, and this one is further rows
  /// behind it, which cost no instruction.
  struct Chunk {
    Value row, column; ///< in chunks
    int64_t further = 0;
    Value exists; ///< null if all lanes have one
  };

  //===--------------------------------------------------------------------===//
  // Copies; AttentionCopies.cpp
  //===--------------------------------------------------------------------===//
  bool isAsync() const { return kernel.tile.getStages() > 1; }
  Rows getRows(int64_t buffer, Value count, Value end, int64_t columns,
               int64_t padded, int64_t numRows);
  int64_t countChunks(const Rows &rows) const {
    return tile.countChunks(rows.numRows, rows.padded);
  }
  Chunk getChunk(const Rows &rows, int64_t index);
  void withChunk(const Chunk &chunk, llvm::function_ref<void()> body);
  /// Bytes of the first chunk from the first row on, and those of the further
  /// rows.
  Value getPlace(const Rows &rows, Value firstRow, const Chunk &chunk);
  int64_t getFurther(const Rows &rows, const Chunk &chunk) const {
    return chunk.further * rows.columns * op.elementBytes();
  }
  /// Where a chunk goes to in LDS: a pointer.
  Value getTarget(const Chunk &chunk, Value lds, int64_t pitch);
  /// True for columns that exist; null where all do.
  Value isColumn(const Rows &rows, const Chunk &chunk);
  /// Starts to copy rows to LDS, `pitch` bytes apart.
  void startCopy(const Rows &rows, Value firstRow, Value lds, int64_t pitch);
  /// The same in two parts, for GPUs without asynchronous copies.
  Values loadRows(const Rows &rows, Value firstRow);
  void storeRows(const Rows &rows, const Values &loaded, Value lds,
                 int64_t pitch);
  void storeTransposed(const Rows &rows, const Values &loaded, Value lds,
                       int64_t pitch);
  Value getKeyPlace(Value key);
  /// Copies keys and values of a block to a stage.
  void startBlock(Value block);
  void loadBlock(Value block);
  void loadQueries();

  //===--------------------------------------------------------------------===//
  // Products and probabilities
  //===--------------------------------------------------------------------===//
  int64_t columns() const {
    return kernel.tile.getFields().queryTiles *
           kernel.tile.getOp().columnsPerLane;
  }
  mlir::Type getElement();
  void prepareLane();
  void prepareTask();
  void prepareColumns();
  Value getStage(Value block);
  Value loadOperand(Value address, int64_t offset, bool transposed = false);
  Value multiply(Value left, Value right, Value sum);
  /// Adds left(step, row) * right(step, tile) to sums[row][tile].
  void addProducts(int64_t steps, int64_t rows,
                   llvm::function_ref<Value(int64_t, int64_t)> left,
                   llvm::function_ref<Value(int64_t, int64_t)> right,
                   Values &sums);
  Values multiplyKeys(Value stage);
  void addValues(Value stage, const Values &probabilities, Values &sums);
  Values takeColumn(const Values &sums, int64_t column);
  Value combine(Value value, llvm::function_ref<Value(Value, Value)> fold);
  Value power(Value difference);
  void finishScores(Values &scores, Value firstKey, int64_t column, bool hides);
  Value loadMask(Value firstKey, int64_t index, int64_t column, bool hides);
  int64_t getKey(int64_t index) const;
  void scaleSums(Values &sums, int64_t tile, llvm::ArrayRef<Value> factors);
  /// The operands of the second product for a tile of queries. What they do not
  /// have of the probabilities is left in the columns.
  Values makeOperands(llvm::MutableArrayRef<Values> columns);
  Value exchange(Value part);
  State makeState();
  State addBlock(Value block, const State &before, bool hides);
  State forBlocks(Value first, Value end, const State &before, bool hides);
  void store(const State &state);
  void storeColumn(const State &state, int64_t column);

  GpuKernelBuilder &b;
  const AttentionKernel &kernel;
  const AttentionTile &tile;
  const gpuigemm::WaveOp &op;
  const GpuInstructions &instructions;
  gpuigemm::Ints ints;
  VectorOutput::Bound out;

  Value thread, rowGroup;
  /// Where a lane finds operands: bytes from the first row on.
  Value keyAddress, valueAddress, queryAddress;
  /// The parameters; the queries and keys of a batch and head.
  Value queries, keys, factor;
  Value matrix, firstQuery;
  Values queryOf; ///< of each column
  Values limits;  ///< of each column: the keys that it sees
  Value endBlock; ///< of the keys that the workgroup sees
  Rows keyRows, valueRows;
  Values operands; ///< queries: [step][tile]
  std::optional<BoundFlatTensor> mask;
  Values maskRows; ///< of each column: its row's first element (i64)
};

} // namespace tarpon::gpuattention

#endif // TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONEMITTER_H
