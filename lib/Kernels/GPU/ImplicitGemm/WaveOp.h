//===- WaveOp.h - The product of one wave -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One product D (m x n) += A (m x k) * B (k x n) of a wave: a matrix
// instruction of the target, or fused multiply-adds of its lanes if it has none
// for the dtype. Kernels only see lanes, elements and depths.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEOP_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEOP_H

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/MatrixLayout.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon::gpuigemm {

using runtime::DType;

/// The bytes that one lane loads or stores at a time, in LDS and global memory.
inline constexpr int64_t kChunkBytes = 16;

struct WaveOp {
  enum class Kind : uint8_t {
    Mfma,
    Wmma,
    /// NVIDIA's mma.sync, twice: an instruction has half of the channels. Its
    /// rows are pixels and its columns channels, of which a lane holds pairs.
    MmaSync,
    /// NVIDIA's wgmma: a wave here is a group of four, which multiplies
    /// matrices in LDS. Rows and columns are as those of mma.sync.
    Wgmma,
    Fma, ///< lane (i, j) of an m x n grid computes D[i, j]; m * n is the wave
  };

  Kind kind;
  DType dtype;
  int64_t waveSize;
  int64_t m, n, k;
  /// The elements of A (and of B) in one lane, and the number of groups of
  /// lanes that hold different k.
  int64_t inputElements, kGroups;
  /// The elements of D in one lane, and the number of columns that they are
  /// in, column by column.
  int64_t outputElements, columnsPerLane;
  /// The cycles for which the product occupies the unit.
  int64_t cycles;
  /// True if the elements of B are unsigned bytes; those of A never are.
  bool unsignedB;
  /// The layout of an instruction of MatrixLayout.h; else null.
  const MatrixLayout *layout;
  /// True if the elements are f32 that the instruction takes for TF32. Filters
  /// are rounded when they are packed, pixels by the kernel's lanes; wgmma,
  /// which reads them from LDS, ignores their lower bits.
  bool isTf32 = false;

  int64_t elementBytes() const { return runtime::dtypeBytes(dtype); }
  /// The number of groups of lanes that hold different rows of a column of D.
  int64_t rowGroups() const { return waveSize * columnsPerLane / n; }
  int64_t elementsPerColumn() const { return outputElements / columnsPerLane; }
  /// A lane loads its elements of k in units of whole chunks, which are the
  /// operands of `opsPerUnit` products: the order of k is free, as long as A
  /// and B agree.
  int64_t unitBytes() const;
  int64_t unitChunks() const { return unitBytes() / kChunkBytes; }
  int64_t opsPerUnit() const;
  /// The bytes of k that the units of all groups cover.
  int64_t depthBytes() const { return kGroups * unitBytes(); }

  /// The row of D of element `element` of a column of a lane in row group
  /// `group`.
  int64_t getOutputRow(int64_t group, int64_t element) const;
  /// The pixel of D, of the wave's tile, of column `index` of the lane that
  /// holds pixel 0.
  int64_t getColumn(int64_t index) const;
  bool isInteger() const { return dtype == DType::I8; }
  /// The most neighbouring channels that a lane stores at once: 16 bytes of
  /// f16, or of bytes on GPUs that lose more by narrow stores than by
  /// registers.
  int64_t longestRun() const {
    bool isNvidia = kind == Kind::MmaSync || kind == Kind::Wgmma;
    return isInteger() && isNvidia ? 16 : 8;
  }
  std::string name() const;
};

/// The target's product of that dtype and m, the deepest if there are several;
/// none if there is none. U8 has a product of its own with mma.sync, and that
/// of I8 otherwise.
std::optional<WaveOp> findWaveOp(const GpuTarget &gpu, DType dtype, int64_t m);

/// The values of m that findWaveOp knows for a dtype, the largest first.
std::vector<int64_t> getWaveOpSizes(const GpuTarget &gpu, DType dtype);

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_WAVEOP_H
