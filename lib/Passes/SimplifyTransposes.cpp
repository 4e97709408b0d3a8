//===- SimplifyTransposes.cpp - Merges and drops transposes -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MovementChain.h"
#include "Regions.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_SIMPLIFYTRANSPOSESPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Replaces the chain by fewer transposes, if there are any.
static void merge(OpBuilder &builder, Operation *last) {
  std::optional<MovementChain> chain = MovementChain::find(last->getResult(0));
  if (!chain || (chain->transposes < 2 && !chain->movement.keepsOrder()))
    return;
  builder.setInsertionPoint(last);
  Value result = last->getResult(0);
  result.replaceAllUsesWith(chain->movement.create(
      builder, last->getLoc(), chain->source, getTensorType(result)));
}

/// matmul(a, transpose(b)) -> matmul(a, b) {transpose_rhs}, whatever reshapes
/// are between them.
static void mergeIntoMatMul(OpBuilder &builder, MatMulOp op) {
  std::optional<MovementChain> chain = MovementChain::find(op.getRhs());
  if (!chain)
    return;
  RankedTensorType type = getTensorType(op.getRhs());
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  Movement &movement = chain->movement;
  movement.transpose(permutation);
  if (!movement.keepsOrder())
    return;
  builder.setInsertionPoint(op);
  type = RankedTensorType::get(movement.getShape(), type.getElementType());
  op.getRhsMutable().assign(
      movement.create(builder, op.getLoc(), chain->source, type));
  op.setTransposeRhs(!op.getTransposeRhs());
}

namespace {

struct SimplifyTransposesPass
    : tarpon::impl::SimplifyTransposesPassBase<SimplifyTransposesPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    OpBuilder builder(&getContext());
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (MovementChain::isEnd(&op))
        merge(builder, &op);
      else if (auto matmul = dyn_cast<MatMulOp>(op))
        mergeIntoMatMul(builder, matmul);
    }
    eraseUnusedMovements(block);
  }
};

} // namespace
