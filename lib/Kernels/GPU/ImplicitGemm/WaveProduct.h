//===- WaveProduct.h - What a wave multiplies in one step ----- -*- C++ -*-===//
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

  /// Emits what does not change from step to step. `thread` is i32.
  void prepare(Value thread);
  /// All sums, zero. Those of vector FMA are a vector of all columns for each
  /// row of tiles, others one of a matrix instruction for each tile.
  Values makeSums();
  /// The sums after one step, whose A and B start at byte `stage` of LDS.
  Values multiply(Value stage, const Values &sums);

  /// The run `index` of sums of a column of tiles: neighbouring channels.
  Value getRun(const Values &sums, int64_t column, int64_t index);
  /// The channel in the block that run `index` of this lane starts with.
  Value getRunChannel(int64_t index);
  /// The pixel in the block that a column of tiles has in this lane.
  Value getPixel(int64_t column);

private:
  using Op = WaveOp;

  /// Bytes of LDS at which a lane finds the chunks of a row of its first tile,
  /// by unit and chunk of the unit: what swizzles add differs. Tiles of fewer
  /// than eight rows need several sets of them.
  Values makeAddresses(Value firstRow, Value kGroup, int64_t start,
                       int64_t rowsPerTile);
  Value loadChunk(Value address, Value stage, int64_t offset);
  /// Unit `unit` of all tiles.
  Values loadUnits(const Values &addresses, Value stage, int64_t unit,
                   int64_t tiles, int64_t rowsPerTile);
  /// Operand `index` of the unit, as the instruction takes it.
  Value getOperand(Value unit, int64_t index);
  Value getSum(const Values &sums, int64_t row, int64_t column,
               int64_t element);
  void multiplyMatrices(const Values &a, const Values &b, Values &sums);
  void multiplyVectors(const Values &a, const Values &b, Values &sums);

  mlir::Type getSumType();
  mlir::Type getInputType();

  GpuKernelBuilder &b;
  Ints ints;
  const Tile &tile;
  const WaveOp &op;
  Value waveChannel, wavePixel, lane, rowGroup;
  Values addressesA, addressesB;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEPRODUCT_H
