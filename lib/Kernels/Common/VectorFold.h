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
};

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
