//===- Reference.h - The parts of the reference solver ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per group of operations. Each plans scalar loops over the places
// of the result that follow the operation's definition word by word: every
// other solver is compared with them.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REFERENCE_REFERENCE_H
#define TARPON_KERNELS_REFERENCE_REFERENCE_H

#include "Common/TensorAccess.h"

namespace tarpon::reference {

#define TARPON_PLAN(OP, FUNCTION) SolutionPlan FUNCTION(const Problem &problem);
#include "Plans.def"
SolutionPlan planElementwise(const Problem &problem);

/// Accesses operand `index` of a problem by places in `indexShape`.
TensorAccess accessOperand(LaunchBuilder &launch, const Problem &problem,
                           int64_t index, llvm::ArrayRef<int64_t> indexShape);

/// Adds a real-valued parameter in the compute type of `kind`.
int64_t addReal(LaunchBuilder &launch, ComputeKind kind, double value);
mlir::Value getReal(KernelBuilder &b, ComputeKind kind, int64_t param);

/// Emits a multiplication and an addition: in integers, minus the zero points,
/// if `quantized`, otherwise in the compute type.
mlir::Value emitMultiplyAdd(KernelBuilder &b, bool quantized,
                            const BoundTensor &lhs, mlir::Value lhsOffset,
                            const BoundTensor &rhs, mlir::Value rhsOffset,
                            mlir::Value sum);

/// The elements of a tensor along dimension `dim`, from index `first` on;
/// `offset` is that of the other indices.
struct Run {
  const BoundTensor &tensor;
  mlir::Value offset;
  int64_t dim;
  mlir::Value first;

  mlir::Value offsetOf(KernelBuilder &b, int64_t index) const;
};

/// The number of independent sums of the reference of a convolution or a matrix
/// product: an addition of floats waits two to four cycles for the previous
/// one. A power of two.
inline constexpr int64_t kNumPartialSums = 8;

using PartialSums = llvm::SmallVector<mlir::Value>;

/// Partial sums of no terms.
PartialSums startSums(KernelBuilder &b, bool quantized, ComputeKind kind);

/// Adds the term of first + i to sum i.
using AddTerms =
    llvm::function_ref<PartialSums(mlir::Value first, mlir::ValueRange sums)>;

/// Adds the terms of 0, ..., count - 1 to `sums`: to all of them at once, and
/// those left at the end one by one to the first.
PartialSums emitSums(KernelBuilder &b, mlir::Value count, mlir::ValueRange sums,
                     AddTerms add);

/// Adds to sum i the product of the elements i of two runs.
PartialSums emitProducts(KernelBuilder &b, bool quantized, const Run &lhs,
                         const Run &rhs, mlir::ValueRange sums);

/// Adds up all partial sums.
mlir::Value addUp(KernelBuilder &b, bool quantized, mlir::ValueRange sums);

/// Converts the exact integer sum to a real number.
mlir::Value emitScaled(KernelBuilder &b, mlir::Value sum, mlir::Value lhsScale,
                       mlir::Value rhsScale);

} // namespace tarpon::reference

#endif // TARPON_KERNELS_REFERENCE_REFERENCE_H
