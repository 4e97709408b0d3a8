//===- SplitRegions.cpp - Makes a region of each op -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/Precision.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;
using runtime::Precision;

namespace tarpon {
#define GEN_PASS_DEF_SPLITREGIONSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Makes a region of one op of another region, whose operands were mapped to
/// values outside.
static FusedOp makePart(OpBuilder &builder, Operation &op,
                        const IRMapping &mapping) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(mapping.lookup(operand));
  auto part =
      FusedOp::create(builder, op.getLoc(), op.getResultTypes(), operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&part.getBody(), {}, TypeRange(ValueRange(operands)),
                          SmallVector<Location>(operands.size(), op.getLoc()));
  Operation *clone = builder.clone(op);
  clone->setOperands(block->getArguments());
  YieldOp::create(builder, op.getLoc(), clone->getResult(0),
                  clone->getResults().drop_front());
  return part;
}

static void copyMarks(FusedOp from, FusedOp to) {
  for (StringRef name : {kPrecisionAttrName, kLayoutAttrName, kRegionAttrName})
    if (Attribute mark = from->getAttr(name))
      to->setAttr(name, mark);
}

static void split(IRRewriter &rewriter, FusedOp region) {
  rewriter.setInsertionPoint(region);
  IRMapping mapping;
  mapping.map(region.getBody().getArguments(), region.getInputs());
  FusedOp last;
  for (Operation &op : region.getBody().front().without_terminator()) {
    last = makePart(rewriter, op, mapping);
    copyMarks(region, last);
    mapping.map(op.getResults(), last->getResults());
  }
  if (Attribute range = region->getAttr(kRangeAttrName))
    last->setAttr(kRangeAttrName, range);
  rewriter.replaceOp(region, last);
}

static bool isInInt8(FusedOp region) {
  auto name = region->getAttrOfType<StringAttr>(kPrecisionAttrName);
  return name && runtime::parsePrecision(name.getValue()) == Precision::I8;
}

namespace {

struct SplitRegionsPass : tarpon::impl::SplitRegionsPassBase<SplitRegionsPass> {
  void runOnOperation() override {
    SmallVector<FusedOp> regions;
    getOperation().walk([&](FusedOp op) {
      if (op->hasAttr(kUnfusedAttrName))
        regions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (FusedOp region : regions) {
      if (isInInt8(region)) {
        region.emitOpError("cannot be split in int8: the ranges of the values "
                           "within it are unknown");
        return signalPassFailure();
      }
      split(rewriter, region);
      ++numSplit;
    }
  }
};

} // namespace
