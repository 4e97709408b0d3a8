//===- FoldBatchNorm.cpp - Folds batch norms into weights -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In inference, a batch norm is y = factor[c] * x + shift[c]. The factor scales
// the filters of channel c, and the shift becomes an add, which fusion turns
// into the bias of the op. Nothing is moved across an op that is not linear.
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

namespace {

/// y = factor[c] * x + shift[c].
struct Affine {
  std::vector<double> factor, shift;
};

/// An op with constant filters, and the bias that it adds per channel.
struct FilteredOp {
  Operation *op;
  unsigned filterOperand;
  int64_t channelAxis;
  /// Empty, or one number per channel.
  std::vector<float> bias;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::optional<Affine> getAffine(BatchNormOp op) {
  ElementsAttr scaleAttr = getConstantValue(op.getScale());
  ElementsAttr biasAttr = getConstantValue(op.getBias());
  ElementsAttr meanAttr = getConstantValue(op.getMean());
  ElementsAttr varianceAttr = getConstantValue(op.getVariance());
  if (!scaleAttr || !biasAttr || !meanAttr || !varianceAttr)
    return std::nullopt;
  std::vector<float> scale = getConstantFloats(scaleAttr);
  std::vector<float> bias = getConstantFloats(biasAttr);
  std::vector<float> mean = getConstantFloats(meanAttr);
  std::vector<float> variance = getConstantFloats(varianceAttr);
  double epsilon = op.getEpsilon().convertToFloat();

  Affine affine;
  for (auto [s, b, m, v] : llvm::zip_equal(scale, bias, mean, variance)) {
    double factor = s / std::sqrt(v + epsilon);
    affine.factor.push_back(factor);
    affine.shift.push_back(b - m * factor);
  }
  return affine;
}

/// Returns the constant that `add` adds to every cell of a channel, one number
/// per channel of its result, and the other operand.
static std::optional<std::pair<Value, std::vector<float>>>
getConstantBias(AddOp add, int64_t numChannels) {
  auto layout = cast<LayoutInterface>(add.getOperation());
  for (unsigned index : {1, 0}) {
    ElementsAttr attr = getConstantValue(add->getOperand(index));
    Value data = add->getOperand(1 - index);
    if (!attr || !layout.isParameterOperand(index) ||
        data.getType() != add.getType())
      continue;
    std::vector<float> bias = getConstantFloats(attr);
    if (bias.size() == 1)
      bias.assign(numChannels, bias.front());
    return std::make_pair(data, bias);
  }
  return std::nullopt;
}

/// Returns true if dimension 1 of the result counts the channels of the
/// filters. Ops with layouts have N x C x spatial results; others have the
/// channels last.
static bool hasChannelsInDimOne(Operation *op) {
  return isa<LayoutInterface>(op) ||
         cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 2;
}

/// Returns the op with constant filters that `value` is computed by, if each
/// value in between has one use.
static std::optional<FilteredOp> getFilteredOp(Value value,
                                               int64_t numChannels) {
  FilteredOp result;
  if (!value.hasOneUse())
    return std::nullopt;
  if (auto add = value.getDefiningOp<AddOp>()) {
    auto bias = getConstantBias(add, numChannels);
    if (!bias || !bias->first.hasOneUse())
      return std::nullopt;
    std::tie(value, result.bias) = std::move(*bias);
  }
  auto quantizable = value.getDefiningOp<QuantizableInterface>();
  if (!quantizable || !quantizable.accumulates() ||
      quantizable.getFilterOperand() < 0 || !hasChannelsInDimOne(quantizable))
    return std::nullopt;
  result.op = quantizable;
  result.filterOperand = quantizable.getFilterOperand();
  result.channelAxis = quantizable.getFilterChannelAxis();
  ElementsAttr filter =
      getConstantValue(result.op->getOperand(result.filterOperand));
  if (!filter || !filter.getElementType().isF32())
    return std::nullopt;
  // The filter of a grouped conv_transpose counts the channels of one group.
  if (cast<ShapedType>(filter.getType()).getDimSize(result.channelAxis) !=
      numChannels)
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Creates a constant of one number per channel that broadcasts to a tensor of
/// `type`: 1 x C x 1...
static Value createChannelConstant(OpBuilder &builder, Location loc,
                                   RankedTensorType type,
                                   ArrayRef<double> numbers) {
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[1] = type.getDimSize(1);
  std::vector<float> values(numbers.begin(), numbers.end());
  return createFloatConstant(
      builder, loc, RankedTensorType::get(shape, type.getElementType()),
      values);
}

static Value createScaledFilter(OpBuilder &builder, const FilteredOp &filtered,
                                ArrayRef<double> factor) {
  Value filter = filtered.op->getOperand(filtered.filterOperand);
  auto type = cast<RankedTensorType>(filter.getType());
  // This works in place: large networks have hundreds of MB of filters, for
  // which a first inference waits.
  std::vector<char> bytes = getConstantBytes(getConstantValue(filter));
  auto *value = reinterpret_cast<float *>(bytes.data());
  auto *end = value + type.getNumElements();
  int64_t inner = ShapedType::getNumElements(
      type.getShape().drop_front(filtered.channelAxis + 1));
  int64_t channels = type.getDimSize(filtered.channelAxis);
  for (int64_t channel = 0; value != end; channel = (channel + 1) % channels)
    for (int64_t i = 0; i < inner; ++i, ++value)
      *value = static_cast<float>(*value * factor[channel]);
  return createConstant(builder, filter.getLoc(), type, std::move(bytes));
}

/// Scales the filters of `filtered` and returns its result plus the new bias.
static Value foldIntoFilter(PatternRewriter &rewriter, BatchNormOp op,
                            const FilteredOp &filtered, Affine affine) {
  for (auto [index, bias] : llvm::enumerate(filtered.bias))
    affine.shift[index] += affine.factor[index] * bias;
  rewriter.setInsertionPoint(filtered.op);
  Value filter = createScaledFilter(rewriter, filtered, affine.factor);
  rewriter.modifyOpInPlace(filtered.op, [&] {
    filtered.op->setOperand(filtered.filterOperand, filter);
  });
  rewriter.setInsertionPoint(op);
  Value shift =
      createChannelConstant(rewriter, op.getLoc(), op.getType(), affine.shift);
  return AddOp::create(rewriter, op.getLoc(), filtered.op->getResult(0), shift);
}

static Value expand(PatternRewriter &rewriter, BatchNormOp op,
                    const Affine &affine) {
  Location loc = op.getLoc();
  Value factor =
      createChannelConstant(rewriter, loc, op.getType(), affine.factor);
  Value shift =
      createChannelConstant(rewriter, loc, op.getType(), affine.shift);
  Value scaled = MulOp::create(rewriter, loc, op.getInput(), factor);
  return AddOp::create(rewriter, loc, scaled, shift);
}

//===----------------------------------------------------------------------===//
// Patterns and the pass
//===----------------------------------------------------------------------===//

namespace {

struct BatchNormPattern : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getParentOfType<FusedOp>())
      return rewriter.notifyMatchFailure(op, "is in a fused region");
    if (!op.getType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "is not f32");
    std::optional<Affine> affine = getAffine(op);
    if (!affine)
      return rewriter.notifyMatchFailure(op, "parameters are not constant");
    if (auto filtered =
            getFilteredOp(op.getInput(), op.getType().getDimSize(1)))
      rewriter.replaceOp(op, foldIntoFilter(rewriter, op, *filtered, *affine));
    else
      rewriter.replaceOp(op, expand(rewriter, op, *affine));
    return success();
  }
};

struct FoldBatchNormPass
    : tarpon::impl::FoldBatchNormPassBase<FoldBatchNormPass> {
  void runOnOperation() override {
    auto count = [&](auto op) {
      unsigned count = 0;
      getOperation().walk([&](decltype(op)) { ++count; });
      return count;
    };
    unsigned batchNorms = count(BatchNormOp()), muls = count(MulOp());
    RewritePatternSet patterns(&getContext());
    populateFoldBatchNormPatterns(patterns);
    auto config =
        GreedyRewriteConfig()
            .enableFolding(false)
            // A batch norm may fold only after the one before it has.
            .setUseTopDownTraversal(true)
            .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    unsigned expanded = count(MulOp()) - muls;
    numExpanded += expanded;
    numFolded += batchNorms - count(BatchNormOp()) - expanded;
  }
};

} // namespace

void tarpon::populateFoldBatchNormPatterns(RewritePatternSet &patterns) {
  patterns.add<BatchNormPattern>(patterns.getContext());
}
