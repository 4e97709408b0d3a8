//===- SmoothResize.h - Resizes that average --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_SMOOTHRESIZE_H
#define TARPON_LIB_IMPORT_SMOOTHRESIZE_H

#include "OnnxNode.h"
#include "tarpon/IR/ResizedDim.h"

namespace tarpon {

/// An antialiased resize of one dimension, in the mode linear or cubic.
struct SmoothResize : ResizedDim {
  bool isCubic;
  double cubicA;
  bool excludeOutside;

  /// Returns `value` with this dimension resized, in f32 at least.
  mlir::Value apply(OnnxNode &node, mlir::Value value, int64_t dim) const;

private:
  void addRow(int64_t place, llvm::MutableArrayRef<double> row) const;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_SMOOTHRESIZE_H
