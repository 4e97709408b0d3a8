//===- RemoveRedundantConverts.cpp - Drops conversions ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op's folder drops converts that change nothing and evaluates those of
// constants; these patterns handle several converts, or memory.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "tarpon/Passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_REMOVEREDUNDANTCONVERTSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// The bits of the significand, the implicit one included, or of an integer.
static unsigned getPrecision(Type element) {
  if (auto real = dyn_cast<FloatType>(element))
    return real.getFPMantissaWidth();
  return element.getIntOrFloatBitWidth();
}

/// Returns true if every number of type `from` is one of type `to`.
static bool holdsAll(Type from, Type to) {
  if (from == to)
    return true;
  // 8 bits times a scale represent f32 numbers.
  if (isa<quant::QuantizedType>(from))
    return to.isF32() || to.isF64();
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  // Floats of 8 bits differ in their signs of zero, NaNs and infinities.
  if (toFloat && toFloat.getWidth() <= 8)
    return false;
  if (fromFloat)
    return toFloat && getPrecision(from) <= getPrecision(to) &&
           APFloat::semanticsMaxExponent(fromFloat.getFloatSemantics()) <=
               APFloat::semanticsMaxExponent(toFloat.getFloatSemantics());
  auto fromInteger = dyn_cast<IntegerType>(from);
  if (!fromInteger)
    return false;
  if (toFloat)
    // f16 has 11 bits of precision and a range of 16 bits, so that its
    // precision decides.
    return getPrecision(from) <= getPrecision(to);
  auto toInteger = dyn_cast<IntegerType>(to);
  return toInteger &&
         fromInteger.getSignedness() == toInteger.getSignedness() &&
         fromInteger.getWidth() > 1 &&
         fromInteger.getWidth() <= toInteger.getWidth();
}

/// Returns true if the elements lie in memory in the order of the logical
/// shape.
static bool isRowMajorInMemory(RankedTensorType type) {
  LayoutKind kind = getLayout(type).getKind();
  return kind == LayoutKind::NCHW ||
         (kind == LayoutKind::NHWC && getLayout(type).getPitch() == 0 &&
          llvm::all_of(type.getShape().drop_front(2),
                       [](int64_t size) { return size == 1; }));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// convert(convert(x)) -> convert(x).
struct MergeConverts : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getInput().getDefiningOp<ConvertOp>();
    if (!first)
      return rewriter.notifyMatchFailure(op, "is not a convert of a convert");
    RankedTensorType from = first.getInput().getType();
    Type between = first.getType().getElementType();
    if (!holdsAll(from.getElementType(), between) &&
        between != op.getType().getElementType())
      return rewriter.notifyMatchFailure(op, "the first convert rounds");
    if (from != op.getType() && !first->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the first convert is needed");
    if (from == op.getType() && !holdsAll(from.getElementType(), between))
      return rewriter.notifyMatchFailure(op, "the round trip rounds");
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(first.getInput()); });
    return success();
  }
};

/// Keeps only the first of equal converts of one value.
struct ShareConverts : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    for (Operation *user : op.getInput().getUsers()) {
      auto other = dyn_cast<ConvertOp>(user);
      if (!other || other == op || other.getType() != op.getType() ||
          other->getBlock() != op->getBlock() || !other->isBeforeInBlock(op))
        continue;
      rewriter.replaceOp(op, other);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "there is no equal one before");
  }
};

/// A convert that moves nothing is a view, except in fused regions, which hold
/// no views.
struct ConvertToReshape : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType from = op.getInput().getType(), to = op.getType();
    if (from.getElementType() != to.getElementType() || from == to)
      return rewriter.notifyMatchFailure(op, "does not change the layout only");
    if (!isRowMajorInMemory(from) || !isRowMajorInMemory(to))
      return rewriter.notifyMatchFailure(op, "moves elements");
    if (isa<FusedOp>(op->getParentOp()))
      return rewriter.notifyMatchFailure(op, "is in a fused region");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, op.getInput());
    return success();
  }
};

struct RemoveRedundantConvertsPass
    : tarpon::impl::RemoveRedundantConvertsPassBase<
          RemoveRedundantConvertsPass> {
  void runOnOperation() override {
    auto count = [&] {
      unsigned count = 0;
      getOperation().walk([&](ConvertOp) { ++count; });
      return count;
    };
    unsigned before = count();
    RewritePatternSet patterns(&getContext());
    populateRemoveRedundantConvertsPatterns(patterns);
    auto config = GreedyRewriteConfig().setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    numRemoved += before - count();
  }
};

} // namespace

void tarpon::populateRemoveRedundantConvertsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<MergeConverts, ShareConverts, ConvertToReshape>(
      patterns.getContext());
}
