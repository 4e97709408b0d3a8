//===- Selection.h - Values that are selected at run time -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_SELECTION_H
#define TARPON_LIB_IMPORT_SELECTION_H

#include "OnnxNode.h"

namespace tarpon {

/// A value and the sizes of its dimensions that depend on data.
struct SizedValue {
  mlir::Value value;
  RealSizes sizes;

  bool operator==(const SizedValue &) const = default;
};

/// Returns `whenTrue` or `whenFalse`, as a condition of one bool says at run
/// time. The size of a dimension in which they differ depends on it. Returns
/// null if they have different ranks or element types.
SizedValue selectValue(OnnxNode &node, mlir::Value condition,
                       const SizedValue &whenTrue, const SizedValue &whenFalse);

/// Returns a value with the sizes that it has in the graph.
SizedValue getSized(OnnxNode &node, mlir::Value value);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_SELECTION_H
