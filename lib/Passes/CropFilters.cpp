//===- CropFilters.cpp - Drops taps that read only padding ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tap t of a window reads the input at o * stride + t * dilation - padBegin for
// each place o of the window. If all of these lie outside of the input, the tap
// multiplies zeros (a quantised input is padded with its zero point). At either
// end of the window, such a tap and a part of the padding go together.
//
//===----------------------------------------------------------------------===//

#include "ApplyPatterns.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_CROPFILTERSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

namespace {

/// One dimension of a window with the taps [firstTap, lastTap) of the original.
struct CroppedDim {
  int64_t firstTap, lastTap;
  WindowDim window;
};

} // namespace

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Returns true if the products and sums of the window's numbers below fit into
/// 64 bits.
static bool isModerate(const WindowDim &window) {
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max() / 4;
  return window.fits() && window.getPaddedSize() < kLargest;
}

/// Returns true if some place of the window reads a cell of the input by that
/// tap.
static bool readsInput(const WindowDim &window, int64_t tap) {
  int64_t offset = tap * window.dilation - window.padBegin;
  auto missing = static_cast<uint64_t>(std::max<int64_t>(0, -offset));
  auto place = static_cast<int64_t>(
      llvm::divideCeil(missing, static_cast<uint64_t>(window.stride)));
  return place < window.countPlaces() &&
         place * window.stride + offset < window.size;
}

/// The window without its taps in front of `first` and from `last` on.
static WindowDim cropWindow(const WindowDim &window, int64_t first,
                            int64_t last) {
  WindowDim cropped = window;
  cropped.kernel = last - first;
  cropped.padBegin -= first * window.dilation;
  // Strides may leave over some cells at the end, which may be padding.
  cropped.padEnd = std::max<int64_t>(0, window.padEnd - (window.kernel - last) *
                                                            window.dilation);
  if (cropped.kernel == 1)
    cropped.dilation = 1;
  return cropped;
}

/// Crops as many taps as leave a window with the same places: pads are never
/// negative.
static CroppedDim cropDim(const WindowDim &window) {
  int64_t first = 0, last = window.kernel;
  while (first + 1 < last && !readsInput(window, first) &&
         (first + 1) * window.dilation <= window.padBegin)
    ++first;
  auto keepsPlaces = [&](int64_t end) {
    WindowDim cropped = cropWindow(window, first, end);
    return cropped.fits() && cropped.countPlaces() == window.countPlaces();
  };
  while (last - 1 > first && !readsInput(window, last - 1) &&
         keepsPlaces(last - 1))
    --last;
  return {first, last, cropWindow(window, first, last)};
}

//===----------------------------------------------------------------------===//
// The filter
//===----------------------------------------------------------------------===//

/// The cells [first, last) of dimension `dim` of a row-major tensor.
static std::vector<char> cropBytes(ArrayRef<char> bytes,
                                   ArrayRef<int64_t> shape, size_t dim,
                                   const CroppedDim &kept) {
  auto outer =
      static_cast<size_t>(ShapedType::getNumElements(shape.take_front(dim)));
  size_t slab = bytes.size() / outer;
  size_t cell = slab / static_cast<size_t>(shape[dim]);
  std::vector<char> cropped;
  cropped.reserve(outer * cell *
                  static_cast<size_t>(kept.lastTap - kept.firstTap));
  for (size_t i = 0; i < outer; ++i)
    llvm::append_range(
        cropped,
        bytes.slice(i * slab, slab)
            .slice(cell * static_cast<size_t>(kept.firstTap),
                   cell * static_cast<size_t>(kept.lastTap - kept.firstTap)));
  return cropped;
}

/// Creates the filter without the taps that were cropped.
static Value createCroppedFilter(OpBuilder &builder, ConvOp op,
                                 ElementsAttr attr, ArrayRef<CroppedDim> dims) {
  RankedTensorType type = op.getFilter().getType();
  SmallVector<int64_t> shape(type.getShape());
  std::vector<char> bytes = getConstantBytes(attr);
  for (auto [index, dim] : llvm::enumerate(dims)) {
    size_t axis = index + 2;
    bytes = cropBytes(bytes, shape, axis, dim);
    shape[axis] = dim.window.kernel;
  }
  return createConstant(
      builder, op.getFilter().getLoc(),
      RankedTensorType::get(shape, type.getElementType(), type.getEncoding()),
      std::move(bytes));
}

//===----------------------------------------------------------------------===//
// The pattern and the pass
//===----------------------------------------------------------------------===//

namespace {

struct CropFilter : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> input = op.getInput().getType().getShape();
    ArrayRef<int64_t> kernel =
        op.getFilter().getType().getShape().drop_front(2);
    SlidingWindow window = {kernel, op.getStrides(), op.getPads(),
                            op.getDilations()};
    SmallVector<CroppedDim> dims;
    bool isCropped = false;
    for (size_t i = 0; i < kernel.size(); ++i) {
      WindowDim dim = window.getDim(input.drop_front(2), i);
      if (!isModerate(dim))
        return rewriter.notifyMatchFailure(op, "has a huge window");
      dims.push_back(cropDim(dim));
      isCropped |= dims.back().window.kernel != kernel[i];
    }
    if (!isCropped)
      return rewriter.notifyMatchFailure(op, "reads input by every tap");
    ElementsAttr filter = getConstantValue(op.getFilter());
    if (!filter)
      return rewriter.notifyMatchFailure(op, "filter is not constant");
    replace(op, createCroppedFilter(rewriter, op, filter, dims), dims,
            rewriter);
    return success();
  }

private:
  static void replace(ConvOp op, Value filter, ArrayRef<CroppedDim> dims,
                      PatternRewriter &rewriter) {
    SmallVector<int64_t> pads, dilations;
    for (const CroppedDim &dim : dims) {
      pads.push_back(dim.window.padBegin);
      dilations.push_back(dim.window.dilation);
    }
    for (const CroppedDim &dim : dims)
      pads.push_back(dim.window.padEnd);
    rewriter.modifyOpInPlace(op, [&] {
      op.getFilterMutable().assign(filter);
      op.setPads(pads);
      op.setDilations(dilations);
    });
  }
};

struct CropFiltersPass : tarpon::impl::CropFiltersPassBase<CropFiltersPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CropFilter>(&getContext());
    if (failed(
            tarpon::detail::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
