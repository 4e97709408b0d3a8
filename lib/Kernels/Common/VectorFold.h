//===- VectorFold.h - Reductions over consecutive elements ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fold runs over a range in vectors, with several independent accumulators,
// so that additions do not wait for each other. The order is fixed: the same
// range gives the same bits.
//
// Long sums are taken in blocks. With blocks of B terms, the sum of n terms is
// off by at most (B + n / B) * 2^-24 of the sum of their magnitudes, where one
// running sum may be off by n * 2^-24 (Higham, "Accuracy and Stability of
// Numerical Algorithms", 2002, section 4.2; Castaldo, Whaley and
// Chronopoulos, "Reducing Floating Point Error in Dot Product Using the
// Superblock Family of Algorithms", SIAM J. Sci. Comput. 31(2), 2008).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_VECTORFOLD_H
#define TARPON_LIB_KERNELS_COMMON_VECTORFOLD_H

#include "VectorAccess.h"

#include <functional>

namespace tarpon {

/// The steps that fold elements into vectors.
struct FoldSteps {
  using Values = llvm::SmallVector<mlir::Value>;

  /// The neutral elements: one vector for each value that is folded at the same
  /// time.
  Values neutral;
  /// Folds the elements from `i` on into `soFar`. `mask` is null for a whole
  /// vector; lanes outside of it must not change `soFar`.
  std::function<Values(mlir::Value i, mlir::Value mask, mlir::ValueRange soFar)>
      step;
  /// Combines two accumulators.
  std::function<Values(mlir::ValueRange left, mlir::ValueRange right)> combine;
  /// False where blocks cost more than they gain: combining takes as long as a
  /// step.
  bool inBlocks = true;
};

/// The terms of a block of a long sum.
inline constexpr int64_t kFoldBlock = 64;

/// Folds `body` over begin, begin + step, ... in blocks, which start with
/// `neutral` and are combined in order.
llvm::SmallVector<mlir::Value> emitBlockedFold(
    KernelBuilder &b, mlir::Value begin, mlir::Value end, int64_t step,
    mlir::ValueRange neutral,
    llvm::function_ref<FoldSteps::Values(mlir::Value i, mlir::ValueRange soFar)>
        body,
    llvm::function_ref<FoldSteps::Values(mlir::ValueRange left,
                                         mlir::ValueRange right)>
        combine);

/// Sums up the `width` values of term(0), term(1), ..., term(count - 1), which
/// are f32 or vectors of it, together with what is rounded off: any number of
/// terms costs an error of about 2^-23 of the sum of their magnitudes (Kahan,
/// "Further Remarks on Reducing Truncation Errors", CACM 8(1), 1965; Higham,
/// equation 4.8).
FoldSteps::Values emitCompensatedSum(
    KernelBuilder &b, mlir::Value count, mlir::Type type, int64_t width,
    llvm::function_ref<FoldSteps::Values(mlir::Value index)> term);

/// Folds the elements from `begin` to `end`. Returns vectors, whose lanes the
/// caller combines.
llvm::SmallVector<mlir::Value> emitFold(KernelBuilder &b, mlir::Value begin,
                                        mlir::Value end, const FoldSteps &steps,
                                        int64_t accumulators = 4);

/// The sum of `term(i, mask)` over a range, as a scalar; lanes outside of the
/// mask are ignored.
mlir::Value
emitSum(KernelBuilder &b, mlir::Value begin, mlir::Value end,
        llvm::function_ref<mlir::Value(mlir::Value i, mlir::Value mask)> term);

/// `value` where the mask is on (everywhere if it is null), otherwise
/// `otherwise`.
mlir::Value selectLanes(KernelBuilder &b, mlir::Value mask, mlir::Value value,
                        mlir::Value otherwise);

/// Converts an i64 to f32.
mlir::Value emitToFloat(KernelBuilder &b, mlir::Value integer);

/// Runs the items of a range of tasks, of `perTask` items each, but no more
/// than `items`; both are parameters.
void forItems(KernelBuilder &b, int64_t items, int64_t perTask,
              llvm::function_ref<void(mlir::Value item)> body);

/// The number of items, of this many elements each, that a task should have.
int64_t getItemsPerTask(int64_t elements);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_VECTORFOLD_H
