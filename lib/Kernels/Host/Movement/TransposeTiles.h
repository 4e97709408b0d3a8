//===- TransposeTiles.h - Matrix transposition in registers -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_MOVEMENT_TRANSPOSETILES_H
#define TARPON_LIB_KERNELS_HOST_MOVEMENT_TRANSPOSETILES_H

#include "Common/VectorAccess.h"

namespace tarpon {

/// A rows x columns matrix with consecutive columns in `source`, and with
/// consecutive rows in `target`. Offsets and strides count elements.
struct TransposedMatrix {
  const BoundFlatTensor &source, &target;
  mlir::Value sourceStart, sourceStride; ///< from row to row
  mlir::Value targetStart, targetStride; ///< from column to column
};

/// Copies rows [firstRow, lastRow) and columns [firstColumn, lastColumn) in
/// tiles of lanes x lanes, converting between the dtypes through f32.
void emitTranspose(KernelBuilder &b, const TransposedMatrix &matrix,
                   mlir::Value firstRow, mlir::Value lastRow,
                   mlir::Value firstColumn, mlir::Value lastColumn);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_MOVEMENT_TRANSPOSETILES_H
