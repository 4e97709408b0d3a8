//===- RoundInEpilogues.cpp - Rounds to 8 bits without storing them -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quantised model rounds what a residual is added to, and an epilogue can do
// that in f32: then the sum is an epilogue, too.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_ROUNDINEPILOGUESPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

static bool accumulates(Operation *op) {
  auto quantizable = dyn_cast_if_present<QuantizableInterface>(op);
  return quantizable && quantizable.accumulates();
}

/// Returns true if a chain of elementwise ops behind a product leads here, each
/// value of which has one use.
static bool isBehindProduct(Value value) {
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    if (accumulates(op))
      return true;
    if (!isa_and_present<ElementwiseInterface>(op))
      return false;
    // Constants and residuals are the other operands.
    auto next = llvm::find_if(op->getOperands(), [&](Value operand) {
      return operand.getType() == value.getType() &&
             isa_and_present<ElementwiseInterface, QuantizableInterface>(
                 operand.getDefiningOp());
    });
    if (next == op->operand_end())
      return false;
    value = *next;
  }
  return false;
}

/// The convert to 8 bits behind an operand that was converted back, if nothing
/// else reads either and an op with an epilogue computes what is rounded; null
/// otherwise.
static ConvertOp getRounding(Value operand) {
  auto back = operand.getDefiningOp<ConvertOp>();
  auto rounding = back && operand.hasOneUse()
                      ? back.getInput().getDefiningOp<ConvertOp>()
                      : ConvertOp();
  if (!rounding || !rounding->hasOneUse() || !isF32(operand) ||
      !isF32(rounding.getInput()) || !rounding.getInput().hasOneUse() ||
      !isa<quant::UniformQuantizedType>(rounding.getType().getElementType()))
    return nullptr;
  Operation *op = rounding.getInput().getDefiningOp();
  return accumulates(op) || isa_and_present<ElementwiseInterface>(op)
             ? rounding
             : ConvertOp();
}

/// The operand of an elementwise op that is best computed in front of it: that
/// of the last product, or else the last one. Null if there is none.
static Value chooseOperand(Operation *op) {
  Value chosen;
  bool isChosenProduct = false;
  for (Value operand : op->getOperands()) {
    ConvertOp rounding = getRounding(operand);
    if (!rounding || operand.getType() != op->getResult(0).getType())
      continue;
    bool isProduct = isBehindProduct(rounding.getInput());
    bool isBetter =
        !chosen || (isProduct && !isChosenProduct) ||
        (isProduct == isChosenProduct &&
         chosen.getDefiningOp()->isBeforeInBlock(operand.getDefiningOp()));
    if (!isBetter)
      continue;
    chosen = operand;
    isChosenProduct = isProduct;
  }
  return chosen;
}

/// Creates the numbers that the type has for `value`, in f32.
static Value createRounded(OpBuilder &builder, Value value,
                           quant::UniformQuantizedType type) {
  Location location = value.getLoc();
  auto scalar = RankedTensorType::get(
      SmallVector<int64_t>(getTensorType(value).getRank(), 1),
      builder.getF32Type());
  auto multiply = [&](Value x, float factor) -> Value {
    Value constant = createFloatConstant(builder, location, scalar, factor);
    return MulOp::create(builder, location, x, constant);
  };
  auto scale = static_cast<float>(type.getScale());
  auto bound = [&](int64_t stored) {
    return builder.getF64FloatAttr(
        static_cast<double>(stored - type.getZeroPoint()));
  };
  Value steps =
      RoundOp::create(builder, location, multiply(value, 1.0f / scale));
  steps =
      ClipOp::create(builder, location, steps, bound(type.getStorageTypeMin()),
                     bound(type.getStorageTypeMax()));
  return multiply(steps, scale);
}

namespace {

struct RoundInEpiloguesPass
    : tarpon::impl::RoundInEpiloguesPassBase<RoundInEpiloguesPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    OpBuilder builder(&getContext());
    Block &block = getOperation().getBody().front();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isa<ElementwiseInterface>(op) && op.getNumResults() == 1)
        if (Value operand = chooseOperand(&op))
          round(builder, operand);
  }

private:
  void round(OpBuilder &builder, Value operand) {
    ConvertOp rounding = getRounding(operand);
    builder.setInsertionPoint(operand.getDefiningOp());
    auto type =
        cast<quant::UniformQuantizedType>(rounding.getType().getElementType());
    operand.replaceAllUsesWith(
        createRounded(builder, rounding.getInput(), type));
    operand.getDefiningOp()->erase();
    rounding->erase();
    ++numRounded;
  }
};

} // namespace
