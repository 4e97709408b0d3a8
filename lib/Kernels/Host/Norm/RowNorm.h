//===- RowNorm.h - Statistics of consecutive elements -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variances are sums of squared distances from a mean, not differences of sums
// of squares, which cancel if the mean is large. A row is processed in chunks
// that stay in the first-level cache for their second pass, so that memory is
// read once; chunks are combined as in Chan, Golub and LeVeque, "Algorithms for
// Computing the Sample Variance" (1983), equation 2.1.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_NORM_ROWNORM_H
#define TARPON_LIB_KERNELS_HOST_NORM_ROWNORM_H

#include "Common/VectorFold.h"

namespace tarpon {

/// Scalars of f32: the mean, and the sum of squared distances from it.
struct Moments {
  mlir::Value mean, squares;
};

/// The moments of `count` (at least 1) elements from `start` on.
Moments emitRowMoments(KernelBuilder &b, const BoundFlatTensor &in,
                       mlir::Value start, mlir::Value count);

/// 1 / sqrt(squares / count + epsilon), of scalars or vectors.
mlir::Value emitInverseDeviation(KernelBuilder &b, mlir::Value squares,
                                 mlir::Value inverseCount, mlir::Value epsilon);

/// Scale and bias of a normalisation; missing ones count as 1 and 0. Captured
/// by value.
class AffineOperands {
public:
  /// Takes root operands `first` and the next one, if they exist.
  AffineOperands(LaunchBuilder &launch, const Problem &problem, int first = 1);
  std::string symbolPart() const;

  struct Bound {
    std::optional<BoundFlatTensor> scale, bias;
    /// Returns null if there is none.
    mlir::Value loadScale(KernelBuilder &b, mlir::Value offset, int64_t lanes,
                          mlir::Value mask = nullptr) const;
    mlir::Value loadBias(KernelBuilder &b, mlir::Value offset, int64_t lanes,
                         mlir::Value mask = nullptr) const;
  };
  Bound bind(KernelBuilder &b) const;

private:
  std::optional<FlatTensor> scale, bias;
};

/// Mean and inverse deviation as results 1 and 2, if the problem has them.
class SavedStatistics {
public:
  SavedStatistics(LaunchBuilder &launch, const Problem &problem);
  std::string symbolPart() const { return mean ? "saved" : ""; }
  /// Stores scalars or vectors of f32 at an offset; does nothing without
  /// results.
  void store(KernelBuilder &b, mlir::Value offset, mlir::Value meanValue,
             mlir::Value inverse, mlir::Value mask = nullptr) const;

private:
  std::optional<FlatTensor> mean, deviation;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_NORM_ROWNORM_H
