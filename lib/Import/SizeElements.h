//===- SizeElements.h - Integers that shapes are computed from --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shape that holds a size that depends on data is a value of the graph. For
// each of its elements, interval arithmetic (R. E. Moore, Interval Analysis,
// 1966) over the operations that compute it tells between which numbers it
// lies, so that tensors can have the most that their sizes may be.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_SIZEELEMENTS_H
#define TARPON_LIB_IMPORT_SIZEELEMENTS_H

#include "NumberRanges.h"

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tarpon {

/// One integer, from `least` to `most`.
struct SizeElement {
  int64_t least, most;
  /// The size that it is, of i64 and one element; null if it is known, or
  /// something else.
  mlir::Value size;

  bool isKnown() const { return least == most; }
};

/// The sizes of a graph that depend on data.
class SizeElements {
public:
  using List = llvm::SmallVector<SizeElement>;

  /// Records that `size` is from 0 to `most`. Returns it, or an earlier size
  /// that is computed alike, which is the same size.
  mlir::Value add(mlir::Value size, int64_t most);

  bool empty() const { return limits.empty(); }

  /// Returns what is known of the elements of a value of integers; none if they
  /// are many, or may be any.
  std::optional<List> find(mlir::Value value);

private:
  /// The most that a size may be, and the sizes in the order of their creation.
  llvm::DenseMap<mlir::Value, int64_t> limits;
  llvm::SmallVector<mlir::Value> sizes;
  /// The bounds of what is no such arithmetic.
  NumberRanges ranges;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_SIZEELEMENTS_H
