//===- MergeProducts.cpp - One matrix for two in a row --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul by a constant matrix and a 1x1 convolution both multiply vectors of
// channels. Where nothing but a constant bias, reshapes and transposes that
// keep these vectors together lies between two of them, (x A + b) B is x (A B)
// + b B, with the matrix and the bias computed here.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "PointwiseConv.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_MERGEPRODUCTSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Computing a matrix may take about a second.
static constexpr int64_t kMostProducts = int64_t(1) << 30;

namespace {

/// A product of vectors of channels with a constant matrix.
struct ChannelProduct {
  Operation *op;
  int64_t channelDim; ///< of input and result
  int64_t inputs, outputs;

  static std::optional<ChannelProduct> get(Operation *op);

  Value getInput() const { return op->getOperand(0); }
  RankedTensorType getType() const {
    return cast<RankedTensorType>(op->getResult(0).getType());
  }
  /// The matrix, inputs x outputs.
  std::vector<float> getMatrix() const;
  /// Creates the product of the same input with another matrix.
  Value create(OpBuilder &builder, Location loc, ArrayRef<float> matrix,
               int64_t outputs) const;
};

/// A reshape or transpose, and the dimension of its result that has the
/// channels.
struct Step {
  Operation *op;
  int64_t channelDim;
};

/// The way between two products.
struct Between {
  ChannelProduct first;
  /// Null if there is no bias.
  AddOp bias;
  SmallVector<Step> steps; ///< in order
};

} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<ChannelProduct> ChannelProduct::get(Operation *op) {
  if (auto conv = dyn_cast_or_null<ConvOp>(op)) {
    ArrayRef<int64_t> filter = conv.getFilter().getType().getShape();
    if (isPointwise(conv))
      return ChannelProduct{op, 1, filter[1], filter[0]};
    return std::nullopt;
  }
  auto matmul = dyn_cast_or_null<MatMulOp>(op);
  if (!matmul || matmul.getTransposeLhs() || matmul.getTransposeRhs() ||
      op->getParentOfType<FusedOp>() || !getConstantValue(matmul.getRhs()))
    return std::nullopt;
  RankedTensorType input = matmul.getLhs().getType(),
                   matrix = matmul.getRhs().getType();
  if (matrix.getRank() != 2 || input.getRank() < 2 ||
      !matrix.getElementType().isF32() || !input.getElementType().isF32() ||
      !matmul.getType().getElementType().isF32())
    return std::nullopt;
  return ChannelProduct{op, input.getRank() - 1, matrix.getDimSize(0),
                        matrix.getDimSize(1)};
}

std::vector<float> ChannelProduct::getMatrix() const {
  std::vector<float> stored =
      getConstantFloats(getConstantValue(op->getOperand(1)));
  if (!isa<ConvOp>(op))
    return stored;
  std::vector<float> matrix(stored.size());
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t c = 0; c < inputs; ++c)
      matrix[c * outputs + k] = stored[k * inputs + c];
  return matrix;
}

Value ChannelProduct::create(OpBuilder &builder, Location loc,
                             ArrayRef<float> matrix, int64_t columns) const {
  RankedTensorType type = withDim(getType(), channelDim, columns);
  auto old = cast<RankedTensorType>(op->getOperand(1).getType());
  auto conv = dyn_cast<ConvOp>(op);
  std::vector<float> stored(matrix.begin(), matrix.end());
  if (conv)
    for (int64_t k = 0; k < columns; ++k)
      for (int64_t c = 0; c < inputs; ++c)
        stored[k * inputs + c] = matrix[c * columns + k];
  Value constant = createFloatConstant(
      builder, loc, withDim(old, conv ? 0 : 1, columns), stored);
  if (!conv)
    return MatMulOp::create(builder, loc, type, getInput(), constant);
  return ConvOp::create(builder, loc, type, getInput(), constant,
                        conv.getStrides(), conv.getPads(), conv.getDilations(),
                        conv.getGroup());
}

//===----------------------------------------------------------------------===//
// The way between them
//===----------------------------------------------------------------------===//

/// The dimension that holds what dimension `dim` of a reshape's input does, if
/// one does.
static std::optional<int64_t> followReshape(ArrayRef<int64_t> from,
                                            ArrayRef<int64_t> to, int64_t dim) {
  int64_t behind = ShapedType::getNumElements(from.drop_front(dim + 1));
  for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i)
    if (to[i] == from[dim] &&
        ShapedType::getNumElements(to.drop_front(i + 1)) == behind)
      return i;
  return std::nullopt;
}

/// The dimension of a reshape's or transpose's result that holds what dimension
/// `dim` of its operand does, if one does.
static std::optional<int64_t> followMovement(Operation *op, int64_t dim) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return llvm::find(transpose.getPermutation(), dim) -
           transpose.getPermutation().begin();
  return followReshape(shapeOf(op->getOperand(0)), shapeOf(op->getResult(0)),
                       dim);
}

/// Returns true if a constant is added to each channel; the other operand is
/// the first.
static bool addsPerChannel(AddOp op, int64_t channelDim) {
  RankedTensorType type = op.getType();
  auto bias = cast<RankedTensorType>(op.getRhs().getType());
  if (op.getLhs().getType() != type || !getConstantValue(op.getRhs()))
    return false;
  int64_t dim = channelDim - (type.getRank() - bias.getRank());
  return dim >= 0 && bias.getDimSize(dim) == type.getDimSize(channelDim) &&
         bias.getNumElements() == bias.getDimSize(dim);
}

/// The way from the product that `second` multiplies again.
static std::optional<Between> findFirst(const ChannelProduct &second) {
  Between between{};
  Value value = second.getInput();
  while (value.hasOneUse() &&
         isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp())) {
    between.steps.push_back({value.getDefiningOp(), 0});
    value = value.getDefiningOp()->getOperand(0);
  }
  std::reverse(between.steps.begin(), between.steps.end());
  between.bias = value.hasOneUse() ? value.getDefiningOp<AddOp>() : AddOp();
  if (between.bias)
    value = between.bias.getLhs();
  auto first = value.hasOneUse() ? ChannelProduct::get(value.getDefiningOp())
                                 : std::nullopt;
  if (!first || first->op->getBlock() != second.op->getBlock() ||
      (between.bias && !addsPerChannel(between.bias, first->channelDim)))
    return std::nullopt;
  between.first = *first;
  int64_t dim = first->channelDim;
  for (Step &step : between.steps) {
    std::optional<int64_t> next = followMovement(step.op, dim);
    if (!next)
      return std::nullopt;
    step.channelDim = dim = *next;
  }
  return dim == second.channelDim ? std::optional(between) : std::nullopt;
}

/// Returns true if one product takes fewer multiplications than two.
static bool pays(const ChannelProduct &first, const ChannelProduct &second) {
  int64_t one = first.inputs * second.outputs;
  int64_t two = first.inputs * first.outputs + second.inputs * second.outputs;
  return one < two && one <= kMostProducts / first.outputs;
}

//===----------------------------------------------------------------------===//
// The pattern and the pass
//===----------------------------------------------------------------------===//

/// left (rows x inner) times right (inner x columns).
static std::vector<float> multiply(ArrayRef<float> left, ArrayRef<float> right,
                                   int64_t inner, int64_t columns) {
  auto rows = static_cast<int64_t>(left.size()) / inner;
  std::vector<float> result;
  result.reserve(rows * columns);
  std::vector<double> sums(columns);
  for (int64_t row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int64_t i = 0; i < inner; ++i)
      for (int64_t column = 0; column < columns; ++column)
        sums[column] += static_cast<double>(left[row * inner + i]) *
                        right[i * columns + column];
    result.insert(result.end(), sums.begin(), sums.end());
  }
  return result;
}

namespace {

struct MergeProducts : RewritePattern {
  explicit MergeProducts(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<ChannelProduct> second = ChannelProduct::get(op);
    if (!second)
      return failure();
    std::optional<Between> between = findFirst(*second);
    if (!between || !pays(between->first, *second))
      return rewriter.notifyMatchFailure(op, "needs its own product");
    Value merged = createProduct(*between, *second, rewriter);
    for (const Step &step : between->steps)
      merged = createStep(step, merged, second->outputs, rewriter);
    rewriter.replaceOp(op, merged);
    return success();
  }

private:
  static Value createProduct(const Between &between,
                             const ChannelProduct &second,
                             PatternRewriter &rewriter) {
    const ChannelProduct &first = between.first;
    Location loc = second.op->getLoc();
    std::vector<float> right = second.getMatrix();
    auto times = [&](ArrayRef<float> left) {
      return multiply(left, right, second.inputs, second.outputs);
    };
    Value product =
        first.create(rewriter, loc, times(first.getMatrix()), second.outputs);
    if (!between.bias)
      return product;
    AddOp add = between.bias;
    auto old = cast<RankedTensorType>(add.getRhs().getType());
    int64_t dim = first.channelDim - (add.getType().getRank() - old.getRank());
    Value bias = createFloatConstant(
        rewriter, add.getLoc(), withDim(old, dim, second.outputs),
        times(getConstantFloats(getConstantValue(add.getRhs()))));
    return AddOp::create(rewriter, add.getLoc(), product.getType(), product,
                         bias);
  }

  /// Moves vectors of other channels in the same way.
  static Value createStep(const Step &step, Value input, int64_t channels,
                          PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(step.op->getResult(0).getType());
    Operation *moved = rewriter.clone(*step.op);
    moved->setOperand(0, input);
    moved->getResult(0).setType(withDim(type, step.channelDim, channels));
    return moved->getResult(0);
  }
};

struct MergeProductsPass
    : tarpon::impl::MergeProductsPassBase<MergeProductsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeProducts>(&getContext());
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
