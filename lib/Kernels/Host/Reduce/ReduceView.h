//===- ReduceView.h - A reduction as loops over memory ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_REDUCE_REDUCEVIEW_H
#define TARPON_LIB_KERNELS_HOST_REDUCE_REDUCEVIEW_H

#include "tarpon/Problem/Problem.h"

#include <array>
#include <optional>

namespace tarpon {

/// The dimensions of a reduction in the order of memory, with neighbours of one
/// kind merged. The innermost is reduced (rows) or kept (columns); around it
/// there are at most two that are kept and two that are reduced, which suffices
/// for all tensors of rank 5.
struct ReduceView {
  struct Dim {
    int64_t size = 1;
    /// The elements from one index to the next, in the operand and the result.
    int64_t from = 0, to = 0;
  };
  bool inRows = true;
  int64_t inner = 1;
  std::array<Dim, 2> kept, reduced;

  int64_t getOuter() const { return kept[0].size * kept[1].size; }
  /// The number of elements that are reduced to one of the result.
  int64_t getLength() const {
    return reduced[0].size * reduced[1].size * (inRows ? inner : 1);
  }

  /// Returns none if there are more dimensions, in blocked layouts, and if the
  /// result's order in memory is not that of the operand.
  static std::optional<ReduceView> get(const TensorDesc &operand,
                                       llvm::ArrayRef<int64_t> axes,
                                       bool keepDims, const TensorDesc &result);
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_REDUCE_REDUCEVIEW_H
