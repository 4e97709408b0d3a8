//===- RealSizes.h - Sizes that depend on data, passed on -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slices that count of a value whose size depends on data lie in front.
// Operators that compute each slice along that dimension by itself leave it
// there, so that their results have the same real size. All others refuse such
// a value.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_REALSIZES_H
#define TARPON_LIB_IMPORT_REALSIZES_H

#include "OnnxNode.h"
#include "OpTable.h"

namespace tarpon {

/// Returns true if the operator's result has the real size of an input.
bool passesRealSizes(const OpRow &row);

/// Gives `result`, a node's first output, the real size of the node's inputs,
/// if one of them has one; fails after an error.
mlir::LogicalResult passRealSizes(const OpRow &row, OnnxNode &node,
                                  mlir::Value result,
                                  llvm::DenseMap<mlir::Value, RealSize> &sizes);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_REALSIZES_H
