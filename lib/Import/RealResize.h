//===- RealResize.h - Resizes to sizes that depend on data ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_REALRESIZE_H
#define TARPON_LIB_IMPORT_REALRESIZE_H

#include "OnnxNode.h"

namespace tarpon {

/// A linear interpolation of one dimension, at the middles of its elements, to
/// a size that is known at run time.
struct RealResize {
  int64_t dim;
  /// The size of the dimension, as a value of i64 and one element.
  mlir::Value from;
  /// The size of the result likewise, and the most that it may be.
  mlir::Value to;
  int64_t most;
  /// True if the only element of a result is the first one of the input.
  bool startsAtFirst;

  /// Returns the floats `value`, resized.
  mlir::Value apply(OnnxNode &node, mlir::Value value) const;
};

/// Returns true if Resize leaves all slices of a dimension as they are whose
/// size depends on data, whatever it is. A size that the model names is no such
/// one.
bool keepsDimension(OnnxNode &node, int64_t dim);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_REALRESIZE_H
