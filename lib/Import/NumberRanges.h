//===- NumberRanges.h - Bounds of values that depend on data ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shape may be computed from numbers of the graph, as the size of an image
// from the corners of a box that was clipped. Interval arithmetic tells between
// which numbers all elements of a value lie.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_NUMBERRANGES_H
#define TARPON_LIB_IMPORT_NUMBERRANGES_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"

namespace tarpon {

/// The bounds of all elements of a value that are no NaN; infinite where
/// nothing is known.
struct NumberRange {
  double least, most;
};

/// The bounds of the values of a graph, each of which is computed once.
class NumberRanges {
public:
  /// Returns the bounds of a value of numbers. `limits` has those of sizes,
  /// which are 0 or more.
  NumberRange find(mlir::Value value,
                   const llvm::DenseMap<mlir::Value, int64_t> &limits);

private:
  llvm::DenseMap<mlir::Value, NumberRange> known;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_NUMBERRANGES_H
