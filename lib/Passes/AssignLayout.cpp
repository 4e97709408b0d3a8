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
  explicit LayoutAssigner(const RegionLayouts &layouts) : layouts(layouts) {}

  LogicalResult run(func::FuncOp function) {
    return values.retypeFunction(function,
                                 [&](FusedOp op) { return retype(op); });
  }

private:
  /// The layout that the region computes in; null if that is row-major.
  LayoutAttr getRegionLayout(FusedOp op) {
    LayoutAttr layout = layouts.getWanted(op);
    if (layout.getKind() == LayoutKind::NCHW)
      return nullptr;
    bool computes = layouts.computesIn(layout, op, [&](Value operand) {
      return values.has(operand, withLayout(getTensorType(operand), layout)) ||
             isConvertedFrom(operand, layout);
    });
    return computes ? layout : nullptr;
  }

  Value getOperand(FusedOp op, BlockArgument argument, LayoutAttr layout) {
    Value operand = op.getInputs()[argument.getArgNumber()];
    RankedTensorType type = getTensorType(operand);
    if (type.getRank() < 3 || isConvertRegion(op))
      return values.get(operand);
    if (layout && !isParameter(argument))
      return values.getAs(operand, withLayout(type, layout));
    if (layout && isChannelVector(type) && fits(values.get(operand), layout))
      return values.get(operand);
    return values.getAs(operand, getRowMajor(type));
  }

  /// Returns true if a region in that layout may read the vector as it lies.
  static bool fits(Value vector, LayoutAttr layout) {
    LayoutAttr own = getLayout(getTensorType(vector));
    return own == layout || own.getKind() == LayoutKind::NCHW;
  }

  static RankedTensorType getRowMajor(RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), type.getElementType());
  }

  FailureOr<StoredValues::Values> retype(FusedOp op) {
    LayoutAttr layout = getRegionLayout(op);
    SmallVector<Value> operands;
    for (BlockArgument argument : op.getBody().getArguments())
      operands.push_back(getOperand(op, argument, layout));

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

  const RegionLayouts &layouts;
  StoredValues values;
};

struct AssignLayoutPass : tarpon::impl::AssignLayoutPassBase<AssignLayoutPass> {
  using AssignLayoutPassBase::AssignLayoutPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    FailureOr<RegionLayouts> layouts = RegionLayouts::read(function, layout);
    if (failed(layouts))
      return signalPassFailure();
    if (!layouts->areAllRowMajor() &&
        failed(LayoutAssigner(*layouts).run(function)))
      return signalPassFailure();
    function.walk([](FusedOp op) { op->removeAttr(kLayoutAttrName); });
  }
};

} // namespace
