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

/// Returns bools that are true for the slices that count; they broadcast to
/// `shape`.
mlir::Value createIsCounted(OnnxNode &node, llvm::ArrayRef<int64_t> shape,
                            const RealSize &size);

/// Returns the size that element `place` of a list of integers is, as a value
/// of i64 and one element.
mlir::Value getSizeValue(OnnxNode &node, mlir::Value list, int64_t place,
                         const SizeElement &element);

/// Makes the integers of `sizes` those of `shape` that are the most; `real` is
/// the only one of them that depends on data, if there is one. Emits an error
/// and fails if there are several.
mlir::LogicalResult readShape(OnnxNode &node, mlir::Value list,
                              llvm::ArrayRef<SizeElement> sizes,
                              llvm::SmallVectorImpl<int64_t> &shape,
                              std::optional<RealSize> &real);

/// Returns a value like the given one, which may have another size along `dim`.
mlir::Value copyAlong(OnnxNode &node, mlir::Value value, int64_t dim);

/// Counts indices below 0 into dimension `dim` of `data` from its real end.
mlir::Value countFromEnd(OnnxNode &node, mlir::Value indices, mlir::Value data,
                         int64_t dim);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_REALSIZES_H
