//===- FoldConstants.cpp - Evaluates constants ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folders themselves belong to the ops (lib/IR).
//
//===----------------------------------------------------------------------===//

#include "tarpon/Passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

static unsigned countOps(func::FuncOp function) {
  unsigned count = 0;
  function.walk([&](Operation *) { ++count; });
  return count;
}

namespace {

struct FoldConstantsPass
    : tarpon::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    unsigned before = countOps(getOperation());
    // The driver folds and erases dead ops; nothing else is rewritten.
    auto config = GreedyRewriteConfig().setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(),
                                     RewritePatternSet(&getContext()), config)))
      return signalPassFailure();
    unsigned after = countOps(getOperation());
    // Folding may also split a shared operand into several constants.
    numErased += before > after ? before - after : 0;
  }
};

} // namespace
