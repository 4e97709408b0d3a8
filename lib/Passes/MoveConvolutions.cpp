//===- MoveConvolutions.cpp - Convolves before pixels are made ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A 1x1 convolution mixes channels, and a resize mixes pixels: both are linear,
// and commute. In front of a resize that makes an image larger, a convolution
// has fewer pixels. One of a concat is the sum of those of its parts, so that
// only the parts that were not resized are convolved at the larger size:
// decoders of segmentation networks put features of several sizes together.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "PointwiseConv.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_MOVECONVOLUTIONSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// With fewer channels, a convolution's products take less time than another
/// launch and the addition of its result.
static constexpr int64_t kLeastChannels = 32;

/// Returns true if every result pixel is a sum of input pixels, whose weights
/// do not depend on the channel.
static bool mixesPixelsOnly(ResizeOp op) {
  ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  // tf_half_pixel_for_nn puts channels half a place further on, too.
  return op.getCoordinates() != ResizeCoordinates::TfCropAndResize &&
         op.getCoordinates() != ResizeCoordinates::TfHalfPixelForNn &&
         shape.take_front(2) == op.getSizes().take_front(2) &&
         op.getScales()[0] == 1 && op.getScales()[1] == 1;
}

/// Returns the resize that makes a larger image of as many channels as a
/// convolution of it has at least; null if there is none.
static ResizeOp getEnlargement(Value value, int64_t outChannels) {
  auto op = value.getDefiningOp<ResizeOp>();
  if (!op || !op->hasOneUse() || !mixesPixelsOnly(op))
    return nullptr;
  RankedTensorType input = op.getInput().getType(), result = op.getType();
  int64_t channels = result.getDimSize(1);
  bool pays = channels >= std::max(kLeastChannels, outChannels) &&
              input.getNumElements() < result.getNumElements();
  return pays ? op : nullptr;
}

namespace {

/// The values that a convolution reads side by side, and the first channel of
/// each.
struct Part {
  Value value;
  int64_t firstChannel;
};

struct MoveConvolution : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (!isPointwise(op) || op.getInput().getType().getNumElements() == 0 ||
        op.getFilter().getType().getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "is not pointwise in f32");
    int64_t outChannels = op.getType().getDimSize(1);
    SmallVector<Part> enlarged, others;
    for (const Part &part : getParts(op.getInput()))
      (getEnlargement(part.value, outChannels) ? enlarged : others)
          .push_back(part);
    if (enlarged.empty())
      return rewriter.notifyMatchFailure(op, "reads no image made larger");
    Value sum;
    if (!others.empty())
      sum = createConv(op, joinParts(op, others, rewriter), others, rewriter);
    for (const Part &part : enlarged) {
      auto resize = part.value.getDefiningOp<ResizeOp>();
      Value small = createConv(op, resize.getInput(), {part}, rewriter);
      Value large = createResize(resize, small, op.getType(), rewriter);
      sum = sum ? AddOp::create(rewriter, op.getLoc(), op.getType(), sum, large)
                : large;
    }
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  static SmallVector<Part> getParts(Value input) {
    auto concat = input.getDefiningOp<ConcatOp>();
    if (!concat || !concat->hasOneUse() || concat.getAxis() != 1)
      return {{input, 0}};
    SmallVector<Part> parts;
    int64_t channel = 0;
    for (Value value : concat.getInputs()) {
      int64_t channels = cast<RankedTensorType>(value.getType()).getDimSize(1);
      if (channels > 0)
        parts.push_back({value, channel});
      channel += channels;
    }
    return parts;
  }

  static Value joinParts(ConvOp op, ArrayRef<Part> parts,
                         PatternRewriter &rewriter) {
    if (parts.size() == 1)
      return parts.front().value;
    SmallVector<Value> values;
    int64_t channels = 0;
    for (const Part &part : parts) {
      values.push_back(part.value);
      channels += cast<RankedTensorType>(part.value.getType()).getDimSize(1);
    }
    RankedTensorType type = withDim(op.getInput().getType(), 1, channels);
    return ConcatOp::create(rewriter, op.getLoc(), type, values, /*axis=*/1);
  }

  /// Convolves `input`, which has the channels of `parts`.
  static Value createConv(ConvOp op, Value input, ArrayRef<Part> parts,
                          PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(input.getType());
    int64_t outChannels = op.getType().getDimSize(1);
    int64_t allChannels = op.getFilter().getType().getDimSize(1);
    std::vector<float> all =
        getConstantFloats(getConstantValue(op.getFilter()));
    std::vector<float> taken;
    for (int64_t k = 0; k < outChannels; ++k)
      for (const Part &part : parts) {
        int64_t first = k * allChannels + part.firstChannel;
        int64_t channels =
            cast<RankedTensorType>(part.value.getType()).getDimSize(1);
        taken.insert(taken.end(), all.begin() + first,
                     all.begin() + first + channels);
      }
    Value filter = createFloatConstant(
        rewriter, op.getFilter().getLoc(),
        withDim(op.getFilter().getType(), 1, type.getDimSize(1)), taken);
    return ConvOp::create(rewriter, op.getLoc(), withDim(type, 1, outChannels),
                          input, filter, op.getStrides(), op.getPads(),
                          op.getDilations(), op.getGroup());
  }

  static Value createResize(ResizeOp op, Value input, RankedTensorType type,
                            PatternRewriter &rewriter) {
    SmallVector<int64_t> sizes(op.getSizes());
    sizes[1] = type.getDimSize(1);
    auto resize = cast<ResizeOp>(rewriter.clone(*op));
    resize.getInputMutable().assign(input);
    resize.setSizes(sizes);
    resize.getResult().setType(type);
    return resize;
  }
};

struct MoveConvolutionsPass
    : tarpon::impl::MoveConvolutionsPassBase<MoveConvolutionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MoveConvolution>(&getContext());
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
