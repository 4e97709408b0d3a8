//===- WaveProduct.h - One step of a wave's product -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads A and B of a step from LDS, and adds their product to the sums.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEPRODUCT_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEPRODUCT_H

#include "Ints.h"
#include "Tile.h"

namespace tarpon::gpuigemm {

class WaveProduct {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  WaveProduct(GpuKernelBuilder &b, const Tile &tile);

  /// Emits the values that do not change from step to step. `thread` is i32.
  void prepare(Value thread);
  /// Returns all sums as zero. Those of vector FMA are one vector of all
  /// columns for each row of tiles, others one vector of a matrix instruction
  /// for each tile.
  Values makeSums();
  /// Waits for the sums of the last step.
  void finish();
  /// The sums after one step, whose A and B start at byte `stage` of LDS.
  /// `work` is emitted where matrix instructions can hide it.
  Values multiply(Value stage, const Values &sums,
                  llvm::function_ref<void()> work = {});

  /// Run `index` of the sums of a column: neighbouring channels.
  Value getRun(const Values &sums, int64_t column, int64_t index);
  /// The channel in the block at which run `index` of this lane starts.
  Value getRunChannel(int64_t index);
  /// This lane's pixel in the block for a column.
  Value getPixel(int64_t column);

private:
  using Op = WaveOp;

  /// Bytes of LDS at which a lane finds the chunks of a row of its first tile,
  /// by unit and chunk of the unit, since swizzles differ. Tiles of fewer than
  /// eight rows need several sets of addresses.
  Values makeAddresses(Value firstRow, Value kGroup, int64_t start,
                       int64_t rowsPerTile);
  Value loadChunk(Value address, Value stage, int64_t offset);
  /// Loads unit `unit` of all tiles.
  Values loadUnits(const Values &addresses, Value stage, int64_t unit,
                   int64_t tiles, int64_t rowsPerTile);
  /// Operand `index` of the unit, in the form of the instruction.
  Value getOperand(Value unit, int64_t index);
  Value getSum(const Values &sums, int64_t row, int64_t column,
               int64_t element);
  /// The sums after a step of a warpgroup.
  Values multiplyGroups(Value stage, const Values &sums,
                        llvm::function_ref<void()> work);
  void multiplyMatrices(const Values &a, const Values &b, Values &sums);
  void multiplyVectors(const Values &a, const Values &b, Values &sums);

  mlir::Type getSumType();
  mlir::Type getInputType();

  GpuKernelBuilder &b;
  Ints ints;
  const Tile &tile;
  const WaveOp &op;
  Value waveChannel, wavePixel, rowGroup, lanePixel;
  Values addressesA, addressesB;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEPRODUCT_H
