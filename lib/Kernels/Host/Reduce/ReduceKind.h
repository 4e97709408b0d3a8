//===- ReduceKind.h - The arithmetic of a reduction -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_REDUCE_REDUCEKIND_H
#define TARPON_LIB_KERNELS_HOST_REDUCE_REDUCEKIND_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Problem/OpKind.h"

#include <optional>

namespace tarpon {

/// A reduction on scalars or vectors of f32. One value is folded, two for the
/// logarithm of a sum of exponentials: the largest element so far, and the sum
/// relative to it.
class ReduceKind {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// The kind of an operation, or none.
  static std::optional<ReduceKind> get(OpKind op);

  Values getNeutral(KernelBuilder &b, mlir::Type type) const;
  /// Folds one more element into `soFar`.
  Values step(KernelBuilder &b, mlir::Value x, mlir::ValueRange soFar) const;
  Values combine(KernelBuilder &b, mlir::ValueRange left,
                 mlir::ValueRange right) const;
  /// Returns true if sums are taken in blocks. The logarithm of a sum of
  /// exponentials, where that would cost up to a third of the time, has the
  /// relative error of the sum as its absolute one.
  bool isBlocked() const { return kind != LogSumExp; }
  /// Combines the lanes, as a fixed tree.
  Values combineLanes(KernelBuilder &b, mlir::ValueRange vectors) const;
  /// The result; `inverseCount` has the type of the values.
  mlir::Value finish(KernelBuilder &b, mlir::ValueRange values,
                     mlir::Value inverseCount) const;

private:
  enum Kind : uint8_t {
    Sum,
    Mean,
    Max,
    Min,
    Prod,
    L1,
    L2,
    SumSquare,
    LogSum,
    LogSumExp
  };
  explicit ReduceKind(Kind kind) : kind(kind) {}
  Kind kind;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_REDUCE_REDUCEKIND_H
