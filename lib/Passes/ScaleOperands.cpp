//===- ScaleOperands.cpp - Scales what products read ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention scales its queries and keys so that their products fit into narrow
// floats. tarpon-move-activations makes the scale an epilogue of the product,
// which has room for any sum; without epilogues, it has to go back.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

#include <cmath>

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_SCALEOPERANDSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Returns true if the value is a constant number below 1, such that a product
/// with a tensor of the rank has the tensor's type.
static bool isReduction(Value value, int64_t rank) {
  RankedTensorType type = cast<RankedTensorType>(value.getType());
  ElementsAttr attr = getConstantValue(value);
  return attr && type.getNumElements() == 1 && type.getRank() <= rank &&
         type.getElementType().isF32() &&
         std::fabs(getConstantFloats(attr).front()) < 1;
}

namespace {

/// matmul(x, y) * scale -> matmul(x * scale, y).
struct ScaleOperand : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [value, scale] : {std::pair(op.getLhs(), op.getRhs()),
                                std::pair(op.getRhs(), op.getLhs())}) {
      auto product = value.getDefiningOp<MatMulOp>();
      if (!product || !product->hasOneUse() ||
          product.getType() != op.getType())
        continue;
      RankedTensorType type = product.getLhs().getType();
      if (!isReduction(scale, type.getRank()) || !type.getElementType().isF32())
        continue;
      rewriter.setInsertionPoint(product);
      Value clone = rewriter.clone(*scale.getDefiningOp())->getResult(0);
      auto scaled =
          MulOp::create(rewriter, op.getLoc(), product.getLhs(), clone);
      rewriter.modifyOpInPlace(product,
                               [&] { product.getLhsMutable().assign(scaled); });
      rewriter.replaceOp(op, product.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "scales no product");
  }
};

struct ScaleOperandsPass
    : tarpon::impl::ScaleOperandsPassBase<ScaleOperandsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleOperand>(&getContext());
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
