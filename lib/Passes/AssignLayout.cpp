//===- AssignLayout.cpp - Lays out activations in one way -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionLayout.h"
#include "Regions.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_ASSIGNLAYOUTPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Returns true if every layout puts the tensor's elements into the same order:
/// a vector along dimension 1.
static bool isChannelVector(RankedTensorType type) {
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != 1 && type.getDimSize(dim) != 1)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class LayoutAssigner {
public:
  explicit LayoutAssigner(LayoutAttr layout) : layout(layout) {}

  LogicalResult run(func::FuncOp function) {
    return values.retypeFunction(function,
                                 [&](FusedOp op) { return retype(op); });
  }

private:
  bool computesInLayout(FusedOp op) {
    return tarpon::detail::computesInLayout(op, layout, [&](Value operand) {
      return values.has(operand, withLayout(getTensorType(operand), layout)) ||
             isConvertedFrom(operand, layout);
    });
  }

  Value getOperand(FusedOp op, BlockArgument argument, bool inLayout) {
    Value operand = op.getInputs()[argument.getArgNumber()];
    RankedTensorType type = getTensorType(operand);
    if (type.getRank() < 3 || isConvertRegion(op))
      return values.get(operand);
    if (inLayout && isParameter(argument)) {
      if (isChannelVector(type))
        return values.get(operand);
    } else if (inLayout) {
      return values.getAs(operand, withLayout(type, layout));
    }
    return values.getAs(operand, getRowMajor(type));
  }

  static RankedTensorType getRowMajor(RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), type.getElementType());
  }

  FailureOr<StoredValues::Values> retype(FusedOp op) {
    bool inLayout = computesInLayout(op);
    SmallVector<Value> operands;
    for (BlockArgument argument : op.getBody().getArguments())
      operands.push_back(getOperand(op, argument, inLayout));

    // The results' types follow from the ops inside.
    OpBuilder outer(op);
    FusedOp copy = createRegionLike(outer, op, operands, op.getResultTypes());
    Block &block = copy.getBody().front();
    auto builder = OpBuilder::atBlockBegin(&block);
    IRMapping mapping;
    mapping.map(op.getBody().getArguments(), block.getArguments());
    for (Operation &inner : op.getBody().front().without_terminator()) {
      FailureOr<Operation *> clone = cloneRetyped(builder, &inner, mapping);
      if (failed(clone))
        return failure();
      mapping.map(inner.getResults(), (*clone)->getResults());
    }
    Operation *yield =
        builder.clone(*op.getBody().front().getTerminator(), mapping);
    for (auto [result, value] :
         llvm::zip_equal(copy->getResults(), yield->getOperands()))
      result.setType(value.getType());
    return StoredValues::Values(copy->getResults());
  }

  LayoutAttr layout;
  StoredValues values;
};

struct AssignLayoutPass : tarpon::impl::AssignLayoutPassBase<AssignLayoutPass> {
  using AssignLayoutPassBase::AssignLayoutPassBase;

  void runOnOperation() override {
    LayoutAttr attr = parsePassLayout(getOperation(), layout);
    if (!attr)
      return signalPassFailure();
    if (attr.getKind() == LayoutKind::NCHW)
      return;
    if (failed(LayoutAssigner(attr).run(getOperation())))
      return signalPassFailure();
  }
};

} // namespace
