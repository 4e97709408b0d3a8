//===- RaiseQuantizedProducts.cpp - Multiplies 8-bit integers -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts move towards the products: those to f32 behind what only passes
// elements on, those to 8 bits in front of it. A product that then reads two
// converts reads the integers themselves. Nothing is folded here, since f32
// weights would not tell their integers any more.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_RAISEQUANTIZEDPRODUCTSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// The value of a quantised type that is converted to f32 here, or null.
static Value getStored(Value value) {
  auto convert = value.getDefiningOp<ConvertOp>();
  if (!convert || !isF32(value))
    return nullptr;
  Value stored = convert.getInput();
  return isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(
             getTensorType(stored).getElementType())
             ? stored
             : Value();
}

static quant::UniformQuantizedType getWholeType(Value value) {
  return dyn_cast<quant::UniformQuantizedType>(
      getTensorType(value).getElementType());
}

/// Returns true if each element of the result is one of the operands', or the
/// largest of some, or 0: rounding them before or after makes no difference.
static bool passesElements(Operation *op) {
  if (auto pad = dyn_cast<PadOp>(op))
    return pad.getMode() != PadMode::Constant || pad.getValue().isZero();
  return isa<ConcatOp, MaxPoolOp, ReshapeOp, ShuffleChannelsOp, TransposeOp>(
      op);
}

//===----------------------------------------------------------------------===//
// Types of moved elements
//===----------------------------------------------------------------------===//

/// The dimension of the result that counts what dimension `axis` of the operand
/// does; none if there is no such dimension.
static std::optional<int64_t> findAxis(Operation *op, int64_t axis) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    return llvm::find(permutation, axis) - permutation.begin();
  }
  if (!isa<ReshapeOp>(op))
    return std::nullopt;
  ArrayRef<int64_t> from = getTensorType(op->getOperand(0)).getShape(),
                    to = getTensorType(op->getResult(0)).getShape();
  int64_t outer = ShapedType::getNumElements(from.take_front(axis));
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (to[dim] == from[axis] &&
        ShapedType::getNumElements(to.take_front(dim)) == outer)
      return dim;
  return std::nullopt;
}

/// The element type of the op's result on an operand with elements of `type`;
/// null if there is none.
static Type getMovedElement(Operation *op, Type type) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!perAxis)
    return type;
  std::optional<int64_t> axis = findAxis(op, perAxis.getQuantizedDimension());
  if (!axis)
    return nullptr;
  return quant::UniformQuantizedPerAxisType::get(
      perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(),
      perAxis.getScales(), perAxis.getZeroPoints(), *axis,
      perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax());
}

/// Creates the op on other operands, with elements of that type, or the
/// constant that it gives.
static Value createOn(PatternRewriter &rewriter, Operation *op,
                      ValueRange operands, Type element) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *clone = rewriter.clone(*op, mapping);
  Value result = clone->getResult(0);
  result.setType(withElementType(getTensorType(result), element));
  SmallVector<Value> folded;
  if (failed(rewriter.tryFold(clone, folded)) || folded.empty())
    return result;
  rewriter.eraseOp(clone);
  return folded.front();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// pass(dequantise(x), ...) -> dequantise(pass(x, ...)), if all have one type.
struct MoveDequantize : RewritePattern {
  explicit MoveDequantize(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!passesElements(op) || op->getNumOperands() == 0)
      return rewriter.notifyMatchFailure(op, "does not pass elements on");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(getStored(operand));
    if (llvm::is_contained(operands, Value()))
      return rewriter.notifyMatchFailure(op, "reads others than converts");
    Type type = getTensorType(operands.front()).getElementType();
    Type element = getMovedElement(op, type);
    auto hasType = [&](Value operand) {
      return getTensorType(operand).getElementType() == type;
    };
    // Only constants may have a scale per channel in graphs.
    bool isKnown = element == type || getConstantValue(operands.front());
    if (!element || !isKnown || !llvm::all_of(operands, hasType))
      return rewriter.notifyMatchFailure(op, "has no type for the integers");
    Value moved = createOn(rewriter, op, operands, element);
    rewriter.replaceOpWithNewOp<ConvertOp>(op, op->getResult(0).getType(),
                                           moved);
    return success();
  }
};

/// quantise(pass(x, ...)) -> pass(quantise(x), ...).
struct MoveQuantize : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    Operation *pass = op.getInput().getDefiningOp();
    Type element = getWholeType(op.getResult());
    if (!element || !isF32(op.getInput()))
      return rewriter.notifyMatchFailure(op, "does not quantise");
    if (!pass || !passesElements(pass) || !pass->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not behind a passing op");
    // Several converts are no gain if nothing in front computes them, too.
    bool isFree = llvm::all_of(pass->getOperands(), [](Value operand) {
      return operand.hasOneUse() || getStored(operand);
    });
    if (pass->getNumOperands() > 1 && !isFree)
      return rewriter.notifyMatchFailure(op, "would need more converts");
    SmallVector<Value> operands;
    for (Value operand : pass->getOperands())
      operands.push_back(ConvertOp::create(
          rewriter, op.getLoc(),
          withElementType(getTensorType(operand), element), operand));
    rewriter.replaceOp(op, createOn(rewriter, pass, operands, element));
    return success();
  }
};

/// quantise(dequantise(x)) -> convert(x), or x.
struct Requantize : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    Value stored = getStored(op.getInput());
    if (!stored || !getWholeType(op.getResult()))
      return rewriter.notifyMatchFailure(op, "does not quantise again");
    if (stored.getType() == op.getType())
      rewriter.replaceOp(op, stored);
    else
      rewriter.modifyOpInPlace(op,
                               [&] { op.getInputMutable().assign(stored); });
    return success();
  }
};

/// Returns true if integer kernels read the constant as the op's filter.
static bool isFilter(Value stored, int64_t channelAxis) {
  auto type =
      cast<quant::QuantizedType>(getTensorType(stored).getElementType());
  if (!getConstantValue(stored) || !type.isSigned())
    return false;
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return perAxis.getQuantizedDimension() == channelAxis;
  return cast<quant::UniformQuantizedType>(type).getZeroPoint() == 0;
}

/// product(dequantise(x), dequantise(filter)) -> product(x, filter).
template <typename OpTy>
struct RaiseProduct : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value data = getStored(op->getOperand(0)),
          filter = getStored(op->getOperand(1));
    if (!data || !filter || !getWholeType(data))
      return rewriter.notifyMatchFailure(op, "reads others than converts");
    if (getConstantValue(data) || !takesIntegers(op) ||
        !isFilter(filter, op.getFilterChannelAxis()))
      return rewriter.notifyMatchFailure(op, "has no integer kernel");
    rewriter.modifyOpInPlace(op, [&] { op->setOperands({data, filter}); });
    return success();
  }

private:
  static bool takesIntegers(ConvOp) { return true; }
  static bool takesIntegers(MatMulOp op) {
    return !op.getTransposeLhs() && op.getRhs().getType().getRank() == 2;
  }
};

struct RaiseQuantizedProductsPass
    : tarpon::impl::RaiseQuantizedProductsPassBase<RaiseQuantizedProductsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MoveDequantize, MoveQuantize, Requantize, RaiseProduct<ConvOp>,
                 RaiseProduct<MatMulOp>>(&getContext());
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
