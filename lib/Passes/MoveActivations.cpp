//===- MoveActivations.cpp - Moves activations to producers -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An activation behind a concat, a reshape or a transpose cannot be an
// epilogue, which costs nothing, of the ops in front of them; a matrix product
// cannot scale what it reads; and of several residuals, those that are added to
// each other first are not added in one.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "tarpon/Passes/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_MOVEACTIVATIONSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Returns true if the producer of the value can compute an activation of it.
static bool takesEpilogue(Value value) {
  Operation *producer = value.getDefiningOp();
  if (!producer || !value.hasOneUse())
    return false;
  auto quantizable = dyn_cast<QuantizableInterface>(producer);
  return isa<ElementwiseInterface>(producer) ||
         (quantizable && quantizable.accumulates());
}

/// Returns true if no element is below 0. Looks through a few ops only.
static bool isNotNegative(Value value) {
  constexpr int kMostOps = 16;
  SmallVector<Value> pending = {value};
  for (int looked = 0; !pending.empty(); ++looked) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || looked == kMostOps)
      return false;
    if (isa<ReluOp, SigmoidOp, HardSigmoidOp, SoftmaxOp>(op))
      continue;
    if (auto clip = dyn_cast<ClipOp>(op);
        clip && clip.getLow().convertToDouble() >= 0 &&
        clip.getHigh().convertToDouble() >= 0)
      continue;
    if (!isa<AvgPoolOp, ConcatOp, GlobalAvgPoolOp, GlobalMaxPoolOp, MaxPoolOp,
             ReshapeOp, TransposeOp>(op))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

namespace {

/// activation(concat(x, y)) -> concat(activation(x), activation(y)).
struct MoveThroughConcat : OpInterfaceRewritePattern<ElementwiseInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 || op->getParentOfType<FusedOp>())
      return rewriter.notifyMatchFailure(op, "is not an activation by itself");
    auto concat = op->getOperand(0).getDefiningOp<ConcatOp>();
    if (!concat || !concat->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not behind a concat alone");
    if (llvm::none_of(concat.getInputs(), takesEpilogue))
      return rewriter.notifyMatchFailure(op, "no producer would take it");
    SmallVector<Value> inputs;
    for (Value input : concat.getInputs()) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), input);
      Operation *clone = rewriter.clone(*op, mapping);
      clone->getResult(0).setType(input.getType());
      inputs.push_back(clone->getResult(0));
    }
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op->getResultTypes(), inputs,
                                          concat.getAxisAttr());
    return success();
  }
};

/// activation(reshape(x)) -> reshape(activation(x)), the same for transposes.
struct MoveThroughMovement : OpInterfaceRewritePattern<ElementwiseInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 || op->getParentOfType<FusedOp>() ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "is not an activation by itself");
    Operation *movement = op->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<ReshapeOp, TransposeOp>(movement) ||
        !takesEpilogue(getMoved(op->getOperand(0))))
      return rewriter.notifyMatchFailure(op, "no producer would take it");
    rewriter.setInsertionPoint(movement);
    Value input = movement->getOperand(0);
    IRMapping mapping;
    mapping.map(op->getOperand(0), input);
    Operation *activation = rewriter.clone(*op, mapping);
    activation->getResult(0).setType(input.getType());
    rewriter.modifyOpInPlace(
        movement, [&] { movement->setOperand(0, activation->getResult(0)); });
    rewriter.replaceOp(op, movement->getResult(0));
    return success();
  }

private:
  /// Returns the value that reshapes and transposes without other uses move.
  static Value getMoved(Value value) {
    while (value.hasOneUse() &&
           isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }
};

/// matmul(x * scale, y) -> matmul(x, y) * scale.
struct MoveScale : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getParentOfType<FusedOp>())
      return rewriter.notifyMatchFailure(op, "is in a fused region");
    for (OpOperand &operand : op->getOpOperands()) {
      auto product = operand.get().getDefiningOp<MulOp>();
      if (!product || !product->hasOneUse())
        continue;
      for (auto [value, scale] :
           {std::pair(product.getLhs(), product.getRhs()),
            std::pair(product.getRhs(), product.getLhs())}) {
        if (!isScale(scale, op.getType()) ||
            value.getType() != product.getType())
          continue;
        rewriter.modifyOpInPlace(op, [&] { operand.set(value); });
        rewriter.setInsertionPointAfter(op);
        auto scaled = MulOp::create(rewriter, product.getLoc(), op, scale);
        rewriter.replaceAllUsesExcept(op, scaled.getResult(), scaled);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "reads nothing that is scaled");
  }

private:
  static bool isScale(Value value, RankedTensorType result) {
    RankedTensorType type = cast<RankedTensorType>(value.getType());
    return value.getDefiningOp<ConstantOp>() && type.getNumElements() == 1 &&
           type.getRank() <= result.getRank() &&
           type.getElementType() == result.getElementType();
  }
};

/// relu(x) -> x if x has no negative elements.
struct DropRelu : OpRewritePattern<ReluOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReluOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getParentOfType<FusedOp>() || !isNotNegative(op.getInput()))
      return rewriter.notifyMatchFailure(op, "may change something");
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

} // namespace

/// Returns true if the value is the result of an op that accumulates, or of the
/// elementwise ops that become its epilogue.
static bool isAccumulated(Value value) {
  constexpr int kMostOps = 16;
  SmallVector<Value> pending = {value};
  for (int looked = 0; !pending.empty() && looked < kMostOps; ++looked) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !next.hasOneUse() || next.getType() != value.getType())
      continue;
    auto quantizable = dyn_cast<QuantizableInterface>(op);
    if (quantizable && quantizable.accumulates())
      return true;
    if (isa<ElementwiseInterface>(op))
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

namespace {

/// (x + y) + conv -> (conv + y) + x.
struct MoveSum : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getParentOfType<FusedOp>())
      return rewriter.notifyMatchFailure(op, "is in a fused region");
    for (auto [value, other] : {std::pair(op.getLhs(), op.getRhs()),
                                std::pair(op.getRhs(), op.getLhs())}) {
      auto sum = other.getDefiningOp<AddOp>();
      if (!sum || !sum->hasOneUse() || sum.getType() != op.getType() ||
          value.getType() != op.getType() || !isAccumulated(value) ||
          isAccumulated(other))
        continue;
      Value inner = AddOp::create(rewriter, sum.getLoc(), value, sum.getRhs());
      rewriter.replaceOpWithNewOp<AddOp>(op, inner, sum.getLhs());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "adds no sum to an epilogue");
  }
};

struct MoveActivationsPass
    : tarpon::impl::MoveActivationsPassBase<MoveActivationsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMoveActivationsPatterns(patterns);
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace

void tarpon::populateMoveActivationsPatterns(RewritePatternSet &patterns) {
  patterns.add<MoveThroughConcat, MoveThroughMovement, MoveScale, DropRelu,
               MoveSum>(patterns.getContext());
}
