//===- AttentionShapes.h - The sizes of attention ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes that fused solvers of attention need, on any target. A
// matrix is what one batch and head has.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_ATTENTIONSHAPES_H
#define TARPON_LIB_KERNELS_COMMON_ATTENTIONSHAPES_H

#include "tarpon/Solver/Solver.h"

#include <optional>

namespace tarpon::attention {

struct Sizes {
  int64_t matrices, queries, keys, channels, resultChannels;

  explicit Sizes(const Problem &problem);
};

/// The mask of matrix `i` starts at (i / inner) % count of its own.
struct MaskMatrices {
  int64_t inner, count;

  /// Returns none if the dimensions in which the mask is not broadcast do not
  /// lie side by side.
  static std::optional<MaskMatrices> get(llvm::ArrayRef<int64_t> mask,
                                         llvm::ArrayRef<int64_t> scores);
};

/// The mask of a problem that checkProblem takes; one matrix if it has none.
struct Mask {
  MaskMatrices matrices = {1, 1};
  int64_t rows = 1; ///< 1, or as many as there are queries

  explicit Mask(const Problem &problem);
};

inline bool hasMask(const Problem &problem) { return problem.rootOperands > 3; }

/// Checks that the operands lie row by row, that the mask can be found in
/// memory, and that the result can be stored as vectors.
Applicability checkProblem(const Problem &problem);

} // namespace tarpon::attention

#endif // TARPON_LIB_KERNELS_COMMON_ATTENTIONSHAPES_H
