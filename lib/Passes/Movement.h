//===- Movement.h - The way in which elements change places -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshapes and transposes in a row, as one permutation: the dimensions of the
// result are made of digits, each of which is a number of elements of the
// source that lie at a constant distance. This is a bijective case of the
// layouts of NVIDIA's CuTe.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_MOVEMENT_H
#define TARPON_LIB_PASSES_MOVEMENT_H

#include "tarpon/IR/TarponOps.h"

#include "mlir/IR/Builders.h"

namespace tarpon::detail {

/// The transpose that the op is or, as a region, consists of; null if it is
/// neither.
TransposeOp getTranspose(mlir::Operation *op);

class Movement {
public:
  /// Moves nothing. No dimension may be 0.
  explicit Movement(llvm::ArrayRef<int64_t> shape);

  /// Gives the elements another shape. Returns false, and changes nothing, if
  /// a dimension of `shape` holds elements at several distances that are no
  /// digits.
  [[nodiscard]] bool reshape(llvm::ArrayRef<int64_t> shape);

  /// Dimension i of the result is dimension permutation[i] of what it was.
  void transpose(llvm::ArrayRef<int64_t> permutation);

  /// Applies a reshape, a transpose or a region of one; returns false, and
  /// changes nothing, if that is impossible.
  [[nodiscard]] bool append(mlir::Operation *op);

  llvm::SmallVector<int64_t> getShape() const;

  /// Returns true if the order of the elements is that of the source.
  bool keepsOrder() const;

  /// Creates at most one transpose, between reshapes, that moves the elements
  /// of `source` into a tensor of the type, whose shape in the order of memory
  /// is getShape(). The source's is that which the movement began with.
  mlir::Value create(mlir::OpBuilder &builder, mlir::Location location,
                     mlir::Value source, mlir::RankedTensorType type) const;

private:
  struct Digit {
    int64_t size;
    int64_t distance; ///< of neighbours in the row-major source, in elements
  };
  using Dim = llvm::SmallVector<Digit, 2>; ///< the outermost digit first

  /// All digits, those that belong together merged.
  llvm::SmallVector<Digit> getDigits() const;

  llvm::SmallVector<Dim, 6> dims;
};

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_MOVEMENT_H
