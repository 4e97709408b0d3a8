//===- RaiseChannelShuffles.cpp - Finds shuffles of channels ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models write the shuffle of ShuffleNet (Zhang et al., 2018) as a transpose of
// a tensor of higher rank, whose only layout is row-major.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_RAISECHANNELSHUFFLESPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Returns the number of groups of channels if the transpose, between reshapes
/// of and to `shape`, exchanges groups with the channels in them; otherwise 0.
static int64_t getGroups(TransposeOp transpose, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> split = transpose.getInput().getType().getShape();
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  if (shape.size() < 3 || split.size() != shape.size() + 1 ||
      split[0] != shape[0] || split[1] * split[2] != shape[1] ||
      split.drop_front(3) != shape.drop_front(2))
    return 0;
  for (auto [index, dim] : llvm::enumerate(permutation)) {
    int64_t expected = index == 1 ? 2 : index == 2 ? 1 : index;
    if (dim != expected)
      return 0;
  }
  return split[1];
}

namespace {

/// reshape(transpose(reshape(x))) -> shuffle_channels(x).
struct RaiseChannelShuffle : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "is not behind a transpose");
    auto split = transpose.getInput().getDefiningOp<ReshapeOp>();
    if (!split || split.getInput().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "does not restore the shape");
    if (isa<quant::QuantizedType>(op.getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "is quantised");
    int64_t groups = getGroups(transpose, op.getType().getShape());
    if (groups == 0)
      return rewriter.notifyMatchFailure(op, "does not exchange channels");
    rewriter.replaceOpWithNewOp<ShuffleChannelsOp>(
        op, op.getType(), split.getInput(), rewriter.getI64IntegerAttr(groups));
    return success();
  }
};

struct RaiseChannelShufflesPass
    : tarpon::impl::RaiseChannelShufflesPassBase<RaiseChannelShufflesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseChannelShuffle>(&getContext());
    // Otherwise folding would merge the reshapes with others.
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
