//===- RowWork.h - Rows that lanes fold together ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group of lanes, one wave or one workgroup, has a row of consecutive
// elements and reads it in vectors. The lanes' values are combined in an order
// that depends only on the sizes of the group and the vector, so that results
// are the same in every run: across the lanes of a wave as a butterfly, across
// waves one after the other, through LDS.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ROWWORK_H
#define TARPON_LIB_KERNELS_GPU_ROWWORK_H

#include "ElementWork.h"

namespace tarpon {

class GpuRowWork {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  /// `lanes` are those of the group: a wave's, or the workgroup's.
  GpuRowWork(LaunchBuilder &launch, const TargetInfo &target, int64_t numRows,
             int64_t lanes, int64_t vector);

  /// The number of lanes for rows of this many elements, such that each reads a
  /// few vectors.
  static int64_t chooseLanes(const TargetInfo &target, int64_t size,
                             int64_t vector);
  /// The group sizes of a GPU: the lanes of a wave, and of a workgroup.
  static std::vector<int64_t> getLaneChoices(const TargetInfo &target);

  int64_t tasks() const { return numTasks; }
  int64_t getVector() const { return vector; }
  int64_t getWorkgroup() const { return kWorkgroup; }
  /// The LDS of a kernel that combines up to `values` values at once.
  int64_t getLdsBytes(int64_t values) const;
  /// "wave64x8", "group8": the lanes and the vector.
  std::string symbolPart() const;

  /// Runs `body` for the row of this group.
  void emit(KernelBuilder &b, llvm::function_ref<void(Value row)> body) const;

  /// Runs `body` for this lane's parts of a row of `size` elements; `lanes` is
  /// that of the vector, or 1 for single elements at its end. Folds `soFar`,
  /// which are scalars.
  Values fold(
      KernelBuilder &b, Value size, Values soFar,
      llvm::function_ref<Values(Value i, int64_t lanes, mlir::ValueRange soFar)>
          body) const;
  void forElements(KernelBuilder &b, Value size,
                   llvm::function_ref<void(Value i, int64_t lanes)> body) const;

  /// Folds f32 scalars of all lanes of the group; all lanes get the result.
  Values combine(
      KernelBuilder &b, Values values,
      llvm::function_ref<Values(mlir::ValueRange left, mlir::ValueRange right)>
          fold) const;
  /// Runs `body` in one lane of the group.
  void once(KernelBuilder &b, llvm::function_ref<void()> body) const;

private:
  static constexpr int64_t kWorkgroup = 256;

  bool isWave() const { return lanes == waveSize; }
  Value getLane(KernelBuilder &b) const;

  int64_t waveSize, lanes, vector;
  int64_t rows; ///< parameter
  int64_t numTasks;
};

/// The sum of a vector's lanes as a fixed tree; of a scalar, itself.
mlir::Value sumLanes(KernelBuilder &b, mlir::Value value);
/// The same for their maximum.
mlir::Value maxLanes(KernelBuilder &b, mlir::Value value);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_ROWWORK_H
