//===- ApplyPatterns.h - Patterns alone, without folding --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_APPLYPATTERNS_H
#define TARPON_LIB_PASSES_APPLYPATTERNS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tarpon::detail {

/// Applies patterns to the ops within `op` until none matches. Nothing else
/// happens: neither are ops folded, nor regions simplified.
inline mlir::LogicalResult applyPatterns(mlir::Operation *op,
                                         mlir::RewritePatternSet patterns) {
  auto config = mlir::GreedyRewriteConfig()
                    .enableFolding(false)
                    .setRegionSimplificationLevel(
                        mlir::GreedySimplifyRegionLevel::Disabled);
  return mlir::applyPatternsGreedily(op, std::move(patterns), config);
}

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_APPLYPATTERNS_H
