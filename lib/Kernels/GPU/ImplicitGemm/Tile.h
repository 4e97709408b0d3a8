//===- Tile.h - Divides a product among a GPU's lanes -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup computes a block of D, channels by pixels; its waves share the
// block, and A and B of a step of k in LDS.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_TILE_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_TILE_H

#include "WaveOp.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon::gpuigemm {

/// The perf config, by the names of its fields in snake case.
struct TileFields {
  int64_t blockM, blockN, blockK; ///< of a workgroup; blockK in elements
  int64_t waveM, waveN;           ///< of a wave
  int64_t inst;                   ///< m of the WaveOp
  int64_t stages; ///< of LDS: 1 or 2, and more with asynchronous copies
  /// A block's steps are divided among that many workgroups. 0: workgroups that
  /// take turns have as many steps as each other; see SharedSteps.h.
  int64_t splitK;
  int64_t swizzle; ///< 1: chunks of LDS lie so that no banks conflict
  /// At least that many fit a SIMD, unless registers would be kept in memory;
  /// 0: as it comes.
  int64_t wavesPerEu;
  /// 0: a workgroup has one block; otherwise that many workgroups for each
  /// compute unit take blocks in turn, and copy data of the next one while they
  /// store the results of one.
  int64_t groupsPerUnit;

  bool sharesSteps() const { return splitK == 0; }
  /// The number of equal parts of a block that workgroups take whole.
  int64_t wholeSplits() const { return sharesSteps() ? 1 : splitK; }

  PerfConfig toConfig() const;
  /// Returns none, with the reason, if a field is missing or there are others.
  static std::optional<TileFields> fromConfig(const PerfConfig &config,
                                              std::string *reason = nullptr);
};

/// The most stages of LDS on a GPU.
int64_t getMostStages(const GpuTarget &gpu);

/// A tile with the sizes that follow from it.
class Tile {
public:
  /// Returns none, with the reason, if the target cannot run it.
  static std::optional<Tile> make(const GpuTarget &gpu, DType dtype,
                                  const TileFields &fields,
                                  std::string *reason = nullptr);

  const WaveOp &getOp() const { return op; }
  const TileFields &getFields() const { return fields; }

  int64_t waves() const {
    return fields.blockM / fields.waveM * (fields.blockN / fields.waveN);
  }
  int64_t threads() const { return waves() * op.waveSize; }
  /// The number of steps whose products may still run while those of the next
  /// one start. A stage more is read then, of which two leave none to fill.
  int64_t stepsUnderWay() const {
    return op.kind == WaveOp::Kind::Wgmma && fields.stages > 2 ? 1 : 0;
  }
  /// The number of a wave's products along each side.
  int64_t tilesM() const { return fields.waveM / op.m; }
  int64_t tilesN() const { return fields.waveN / op.n; }
  /// The number of a wave's pixels in one lane.
  int64_t columns() const { return tilesN() * op.columnsPerLane; }

  /// The bytes of one row of A or B in LDS.
  int64_t rowBytes() const { return fields.blockK * op.elementBytes(); }
  int64_t rowChunks() const { return rowBytes() / kChunkBytes; }
  /// The number of rows that the lanes of a workgroup load at a time, with so
  /// many bytes in each.
  int64_t rowsPerLoad(int64_t bytes = kChunkBytes) const {
    return threads() * bytes / rowBytes();
  }
  int64_t loadsOfA(int64_t bytes = kChunkBytes) const {
    return countLoads(fields.blockM, bytes);
  }
  int64_t loadsOfB(int64_t bytes = kChunkBytes) const {
    return countLoads(fields.blockN, bytes);
  }
  int64_t bytesOfA() const { return fields.blockM * rowBytes(); }
  int64_t stageBytes() const {
    return (fields.blockM + fields.blockN) * rowBytes();
  }
  int64_t ldsBytes() const { return fields.stages * stageBytes(); }
  int64_t unitsPerStep() const { return rowBytes() / op.depthBytes(); }

  /// The chunk of LDS that holds chunk c of a row is c ^ getSwizzle(row), which
  /// repeats every eight rows. LDS serves eight lanes at a time: their chunks
  /// are in different banks if they read one chunk of eight rows, or write
  /// neighbouring chunks.
  int64_t getSwizzle(int64_t row) const;
  /// The number of rows whose chunks lie side by side in the 128 bytes of all
  /// banks, and the number of a row's chunks that are exchanged.
  int64_t rowsPerLine() const;
  int64_t swizzledChunks() const;

  /// The sums of one pixel that a lane holds, and the number of neighbouring
  /// channels among them, which are stored at once.
  int64_t sumsPerColumn() const { return fields.waveM / op.rowGroups(); }
  int64_t run() const { return std::min(op.longestRun(), sumsPerColumn()); }
  int64_t runs() const { return sumsPerColumn() / run(); }
  /// The channel in the wave's tile of sum `index` of a lane in row group
  /// `group`. The order of the channels in the rows of A is free, and chosen
  /// for long runs.
  int64_t getChannel(int64_t group, int64_t index) const;
  /// The channel of the wave's tile in each row of A in LDS.
  std::vector<int64_t> getRowChannels() const;

  /// The estimated registers per lane.
  int64_t estimateRegisters() const;
  /// The registers that a lane may have.
  int64_t mostRegisters(const GpuTarget &gpu) const;
  /// "m128n128k64_w64x64_mfma32x32x8_s1_z1_e2".
  std::string name() const;

private:
  int64_t countLoads(int64_t rows, int64_t bytes) const {
    int64_t each = rowsPerLoad(bytes);
    return (rows + each - 1) / each;
  }

  Tile(const WaveOp &op, const TileFields &fields, int64_t copyBytes)
      : op(op), fields(fields), copyBytes(copyBytes) {}

  WaveOp op;
  TileFields fields;
  /// The bytes of a lane's copy to LDS; 0 if the GPU has none.
  int64_t copyBytes;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_TILE_H
