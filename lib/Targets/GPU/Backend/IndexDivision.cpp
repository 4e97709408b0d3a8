//===- IndexDivision.cpp - Divisions of indices in 32 bits ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexDivision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tarpon;

namespace {

/// Traces values back to their origins.
class IndexOrigin {
public:
  bool isIndex(Value value) {
    if (!seen.insert(value).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isIndexArgument(argument);
    return isIndexResult(cast<OpResult>(value));
  }

private:
  bool areIndices(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isIndex(value); });
  }

  /// Returns true for a kernel's parameter, and for the counter or a carried
  /// value of a loop.
  bool isIndexArgument(BlockArgument argument) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<gpu::GPUFuncOp>(parent))
      return argument.getType().isInteger();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return false;
    if (argument == loop.getInductionVar())
      return areIndices(
          {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    return isIndexCarried(loop, argument.getArgNumber() - 1);
  }

  bool isIndexCarried(scf::ForOp loop, unsigned number) {
    return isIndex(loop.getInitArgs()[number]) &&
           isIndex(loop.getYieldedValues()[number]);
  }

  bool isIndexResult(OpResult result) {
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return isIndexCarried(loop, number);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return isIndex(branch.thenYield().getOperand(number)) &&
             isIndex(branch.elseYield().getOperand(number));
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return areIndices({select.getTrueValue(), select.getFalseValue()});
    if (isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op))
      return true;
    return isa<arith::ArithDialect>(op->getDialect()) &&
           result.getType().isIntOrIndex() && areIndices(op->getOperands());
  }

  llvm::DenseSet<Value> seen;
};

template <typename Op>
struct NarrowDivision : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    IndexOrigin origin;
    if (!op.getType().isInteger(64) || !origin.isIndex(op.getLhs()) ||
        !origin.isIndex(op.getRhs()))
      return failure();
    auto narrow = [&](Value value) -> Value {
      return arith::TruncIOp::create(rewriter, op.getLoc(),
                                     rewriter.getI32Type(), value);
    };
    Value divided = Op::create(rewriter, op.getLoc(), narrow(op.getLhs()),
                               narrow(op.getRhs()));
    rewriter.replaceOpWithNewOp<arith::ExtUIOp>(op, op.getType(), divided);
    return success();
  }
};

} // namespace

void tarpon::populateIndexDivisionPatterns(RewritePatternSet &patterns) {
  patterns.add<NarrowDivision<arith::DivUIOp>, NarrowDivision<arith::RemUIOp>>(
      patterns.getContext());
}
