//===- ReduceView.h - A reduction as loops over memory ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REDUCE_REDUCEVIEW_H
#define TARPON_KERNELS_REDUCE_REDUCEVIEW_H

#include "tarpon/Problem/Problem.h"

#include <array>
#include <optional>

namespace tarpon {

/// The dimensions of a reduction in the order of memory, neighbours of one kind
/// made one. The innermost is reduced (rows) or kept (columns); around it there
/// are at most two that are kept and two that are reduced, which all tensors of
/// rank 5 have.
struct ReduceView {
  struct Dim {
    int64_t size = 1;
    /// Elements from one index to the next, in the operand and the result.
    int64_t from = 0, to = 0;
  };
  bool inRows = true;
  int64_t inner = 1;
  std::array<Dim, 2> kept, reduced;

  int64_t getOuter() const { return kept[0].size * kept[1].size; }
  /// Elements that make one of the result.
  int64_t getLength() const {
    return reduced[0].size * reduced[1].size * (inRows ? inner : 1);
  }

  /// None where there are more dimensions, in blocked layouts, and where the
  /// result does not lie in the order of the operand.
  static std::optional<ReduceView> get(const TensorDesc &operand,
                                       llvm::ArrayRef<int64_t> axes,
                                       bool keepDims, const TensorDesc &result);
};

} // namespace tarpon

#endif // TARPON_KERNELS_REDUCE_REDUCEVIEW_H
