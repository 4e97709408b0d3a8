//===- RealSizes.h - Sizes that depend on data, passed on -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slices that count of a value whose size depends on data lie in front.
// Operators that compute each slice along that dimension by itself leave it
// there. Those that combine slices see others in the place of those that do not
// count, which change nothing. All others refuse such a value.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_REALSIZES_H
#define TARPON_LIB_IMPORT_REALSIZES_H

#include "OnnxNode.h"
#include "OpTable.h"

namespace tarpon {

/// Returns true if the operator takes inputs whose size depends on data.
bool takesRealSizes(const OpRow &row);

/// Fills the slices that do not count of a node's inputs, where the operator
/// combines slices.
void fillUncounted(const OpRow &row, OnnxNode &node);

/// Gives a node's outputs the real sizes that they have from its inputs; fails
/// after an error.
mlir::LogicalResult passRealSizes(const OpRow &row, OnnxNode &node);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_REALSIZES_H
