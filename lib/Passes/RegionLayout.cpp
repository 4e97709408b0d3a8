//===- RegionLayout.cpp - The layout that a region computes in --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionLayout.h"
#include "Regions.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

LayoutAttr tarpon::detail::parsePassLayout(Operation *op, StringRef name) {
  LayoutAttr layout = LayoutAttr::parseName(op->getContext(), name);
  if (!layout)
    op->emitError("expects the layout to be nchw, nhwc or blocked as nchw16c, "
                  "got '")
        << name << "'";
  return layout;
}

bool tarpon::detail::isConvertedFrom(Value value, LayoutAttr layout) {
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert && getLayout(convert.getInput().getType()) == layout;
}

bool tarpon::detail::isParameter(Value argument) {
  return llvm::all_of(argument.getUses(), [](OpOperand &use) {
    if (auto convert = dyn_cast<ConvertOp>(use.getOwner()))
      return isParameter(convert.getResult());
    auto layout = dyn_cast<LayoutInterface>(use.getOwner());
    return layout && layout.isParameterOperand(use.getOperandNumber());
  });
}

/// Returns true if an op can compute in the layout. Data operands of a lower
/// rank than the result have no layout that would match it.
static bool supports(Operation &op, LayoutAttr layout) {
  auto interface = dyn_cast<LayoutInterface>(op);
  if (!interface || !interface.supportsLayout(layout))
    return false;
  int64_t rank = getTensorType(op.getResult(0)).getRank();
  return rank >= 3 && llvm::all_of(op.getOpOperands(), [&](OpOperand &operand) {
           return interface.isParameterOperand(operand.getOperandNumber()) ||
                  getTensorType(operand.get()).getRank() == rank;
         });
}

static bool prefersLayout(Operation &op) {
  return !isa<ElementwiseInterface>(op) &&
         cast<LayoutInterface>(op).prefersLayout();
}

bool tarpon::detail::computesInLayout(
    FusedOp op, LayoutAttr layout,
    llvm::function_ref<bool(Value operand)> isInLayout) {
  auto ops = llvm::make_filter_range(
      op.getBody().front().without_terminator(),
      [](Operation &op) { return !isa<ConvertOp>(op); });
  if (isConvertRegion(op) || !llvm::all_of(ops, [&](Operation &inner) {
        return supports(inner, layout);
      }))
    return false;
  if (llvm::any_of(ops, prefersLayout))
    return true;
  return llvm::any_of(op.getBody().getArguments(), [&](BlockArgument arg) {
    return !isParameter(arg) && isInLayout(op.getInputs()[arg.getArgNumber()]);
  });
}
