//===- SizeValues.h - Values of sizes that depend on data -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_SIZEVALUES_H
#define TARPON_LIB_IMPORT_SIZEVALUES_H

#include "OnnxNode.h"

namespace tarpon {

/// Returns bools that are true for the slices that count; they broadcast to
/// `shape`.
mlir::Value createIsCounted(OnnxNode &node, llvm::ArrayRef<int64_t> shape,
                            const RealSize &size);

/// Returns the size that element `place` of a list of integers is, as a value
/// of i64 and one element.
mlir::Value getSizeValue(OnnxNode &node, mlir::Value list, int64_t place,
                         const SizeElement &element);

/// Sets `shape` to the most that each of `sizes` may be, and `real` to those
/// that depend on data. Emits an error and fails if one may be below 0. `list`
/// is the value whose elements the sizes are.
mlir::LogicalResult readShape(OnnxNode &node, mlir::Value list,
                              llvm::ArrayRef<SizeElement> sizes,
                              llvm::SmallVectorImpl<int64_t> &shape,
                              RealSizes &real);

/// Returns a value like the given one, which may have another size along `dim`.
mlir::Value copyAlong(OnnxNode &node, mlir::Value value, int64_t dim);

/// Counts indices below 0 into dimension `dim` of `data` from its real end.
mlir::Value countFromEnd(OnnxNode &node, mlir::Value indices, mlir::Value data,
                         int64_t dim);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_SIZEVALUES_H
