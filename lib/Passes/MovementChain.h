//===- MovementChain.h - Transposes and reshapes in a row -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_MOVEMENTCHAIN_H
#define TARPON_LIB_PASSES_MOVEMENTCHAIN_H

#include "Movement.h"

#include <optional>

namespace tarpon::detail {

/// Transposes and reshapes in a row, at least one of them a transpose, on
/// row-major tensors.
struct MovementChain {
  mlir::Value source; ///< what the first one reads
  Movement movement;
  int64_t transposes;

  /// The chain of all ops that lead to `result`; none if there is no transpose
  /// among them, or if no permutation of digits describes them.
  static std::optional<MovementChain> find(mlir::Value result);

  /// The chain without the movement, from which another one may start.
  struct Ops {
    mlir::Value source;
    llvm::SmallVector<mlir::Operation *> ops; ///< in order
    int64_t transposes = 0;
  };
  static Ops collect(mlir::Value result);

  /// Returns true if the op is a transpose or reshape that something else than
  /// transposes and reshapes reads.
  static bool isEnd(mlir::Operation *op);
};

/// Erases transposes and reshapes that nothing reads.
void eraseUnusedMovements(mlir::Block &block);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_MOVEMENTCHAIN_H
