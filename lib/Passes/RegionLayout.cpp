//===- RegionLayout.cpp - The layout that a region computes in --*- C++ -*-===//
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

//===----------------------------------------------------------------------===//
// RegionLayouts
//===----------------------------------------------------------------------===//

/// Returns null if the attribute does not name a layout.
static LayoutAttr parseMark(Attribute mark) {
  auto name = dyn_cast<StringAttr>(mark);
  return name ? LayoutAttr::parseName(name.getContext(), name.getValue())
              : LayoutAttr();
}

FailureOr<RegionLayouts> RegionLayouts::read(func::FuncOp function,
                                             StringRef unmarked) {
  LayoutAttr layout = LayoutAttr::parseName(function.getContext(), unmarked);
  if (!layout)
    return function.emitError(
               "expects the layout to be nchw, nhwc or blocked as nchw16c, "
               "got '")
           << unmarked << "'";
  RegionLayouts layouts(layout);
  WalkResult walk = function.walk([&](FusedOp op) -> WalkResult {
    Attribute mark = op->getAttr(kLayoutAttrName);
    if (mark && !parseMark(mark))
      return op.emitOpError("expects ")
             << kLayoutAttrName
             << " to be nchw, nhwc or blocked as nchw16c, got " << mark;
    layouts.wanted.push_back(layouts.getWanted(op));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return layouts;
}

LayoutAttr RegionLayouts::getWanted(FusedOp op) const {
  Attribute mark = op->getAttr(kLayoutAttrName);
  return mark ? parseMark(mark) : unmarked;
}

bool RegionLayouts::areWanted(LayoutKind kind) const {
  return llvm::any_of(
      wanted, [&](LayoutAttr layout) { return layout.getKind() == kind; });
}

bool RegionLayouts::areAllRowMajor() const {
  return llvm::all_of(wanted, [](LayoutAttr layout) {
    return layout.getKind() == LayoutKind::NCHW;
  });
}

bool RegionLayouts::computesIn(
    LayoutAttr layout, FusedOp op,
    llvm::function_ref<bool(Value operand)> isInLayout) const {
  auto ops = llvm::make_filter_range(
      op.getBody().front().without_terminator(),
      [](Operation &op) { return !isa<ConvertOp>(op); });
  if (getWanted(op) != layout || isConvertRegion(op) ||
      !llvm::all_of(ops,
                    [&](Operation &inner) { return supports(inner, layout); }))
    return false;
  if (op->hasAttr(kLayoutAttrName) || llvm::any_of(ops, prefersLayout))
    return true;
  return llvm::any_of(op.getBody().getArguments(), [&](BlockArgument arg) {
    return !isParameter(arg) && isInLayout(op.getInputs()[arg.getArgNumber()]);
  });
}
