//===- SumInFloats.cpp - Adds up products of integers as floats -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MatMulInteger adds products up in i32, and what follows it converts the sum
// to f32. The products themselves are exact in f32; their sums are where they
// stay below 2^24, and are rounded to 24 bits beyond. As floats, they are
// epilogues.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "Regions.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_SUMINFLOATSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Returns true if the operand holds integers that stand for themselves.
static bool holdsIntegers(Value operand) {
  auto type = dyn_cast<quant::UniformQuantizedType>(
      getTensorType(operand).getElementType());
  return type && type.getScale() == 1;
}

/// Returns true if the value is a sum of products of integers, and of what is
/// added to them, in i32.
static bool isSumOfProducts(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() ||
      !getTensorType(value).getElementType().isInteger(32))
    return false;
  if (isa<AddOp, SubOp>(op))
    return isSumOfProducts(op->getOperand(0));
  auto convert = dyn_cast<ConvertOp>(op);
  auto product =
      convert ? convert.getInput().getDefiningOp<MatMulOp>() : MatMulOp();
  return product && isF32(product.getResult()) &&
         llvm::all_of(product->getOperands(), holdsIntegers);
}

namespace {

/// float(int(product) + y) -> product + float(y), the same for differences.
struct SumInFloats : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getResult()) || !isSumOfProducts(op.getInput()))
      return rewriter.notifyMatchFailure(op, "converts no sum of products");
    Operation *sum = op.getInput().getDefiningOp();
    if (auto convert = dyn_cast<ConvertOp>(sum)) {
      rewriter.replaceOp(op, convert.getInput());
      return success();
    }
    Type f32 = rewriter.getF32Type();
    SmallVector<Value> operands;
    for (Value operand : sum->getOperands())
      operands.push_back(ConvertOp::create(
          rewriter, op.getLoc(), withElementType(getTensorType(operand), f32),
          operand));
    if (isa<AddOp>(sum))
      rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), operands[0],
                                         operands[1]);
    else
      rewriter.replaceOpWithNewOp<SubOp>(op, op.getType(), operands[0],
                                         operands[1]);
    return success();
  }
};

struct SumInFloatsPass : tarpon::impl::SumInFloatsPassBase<SumInFloatsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SumInFloats>(&getContext());
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
