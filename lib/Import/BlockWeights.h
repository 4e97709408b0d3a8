//===- BlockWeights.h - Weights of a few bits, scaled in blocks -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_BLOCKWEIGHTS_H
#define TARPON_LIB_IMPORT_BLOCKWEIGHTS_H

#include "tarpon/Runtime/DType.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

namespace tarpon {

class OnnxNode;

/// The integers that a constant matrix was dequantised from.
struct BlockWeights {
  mlir::ElementsAttr integers;
  runtime::DType storage = runtime::DType::U8;
  /// Blocks run along dimension `axis`; scales and zero points have the shape
  /// of the matrix, with a block in place of its elements.
  int64_t axis = 0, blockSize = 0;
  llvm::SmallVector<float> scales;
  llvm::SmallVector<int64_t> zeroPoints;
};

/// Multiplies by a matrix, which may be transposed, as it is stored: returns
/// null, without an error, unless `rhs` was dequantised from integers of 4 or 8
/// bits in blocks along the contracted dimension.
mlir::Value multiplyByBlocks(OnnxNode &node, mlir::Value lhs, mlir::Value rhs,
                             bool transposeRhs);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_BLOCKWEIGHTS_H
