//===- ResizeOp.cpp - Interpolation -----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "tarpon/IR/TarponOps.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  size_t rank = input.getRank();
  ArrayRef<int64_t> sizes = adaptor.getSizes();
  ArrayRef<double> scales = adaptor.getScales(), roi = adaptor.getRoi();
  // C1
  if (sizes.size() != rank || scales.size() != rank)
    return report("expects ", rank, " entries in sizes and scales, got ",
                  sizes.size(), " and ", scales.size());
  for (auto [size, scale] : llvm::zip_equal(sizes, scales))
    if (size < 1 || !(scale > 0))
      return report("expects positive sizes and scales, got ", size, " and ",
                    scale);
  // C2
  if (!roi.empty() && roi.size() != 2 * rank)
    return report("expects no entry or ", 2 * rank, " in roi, got ",
                  roi.size());
  // C3
  bool computes =
      adaptor.getMode() != ResizeMode::Nearest ||
      adaptor.getCoordinates() == ResizeCoordinates::TfCropAndResize;
  if (computes && isa<IntegerType>(input.getElementType()))
    return report("expects float or quantised elements in mode ",
                  stringifyResizeMode(adaptor.getMode()), ", got ",
                  input.getElementType());
  // C4
  if (getLayout(input).getKind() != LayoutKind::NCHW &&
      !keepsChannels(input.getShape(), sizes, scales, !roi.empty()))
    return report("expects batch and channels to stay as they are in ",
                  getLayout(input).getName());

  types.push_back(input.clone(sizes));
  return success();
}

/// A resize to the size that the image has, at a scale of one. Places of
/// tf_half_pixel_for_nn lie half a pixel further on.
OpFoldResult ResizeOp::fold(FoldAdaptor) {
  bool keepsPlaces =
      getCoordinates() != ResizeCoordinates::TfCropAndResize &&
      getCoordinates() != ResizeCoordinates::TfHalfPixelForNn &&
      llvm::all_of(getScales(), [](double scale) { return scale == 1; });
  return keepsPlaces && getInput().getType() == getType() ? getInput()
                                                          : OpFoldResult();
}

bool ResizeOp::prefersLayout() { return false; }

bool ResizeOp::supportsLayout(LayoutAttr layout) {
  return layout.getKind() == LayoutKind::NCHW ||
         keepsChannels(getTensorType(getInput()).getShape(), getSizes(),
                       getScales(), !getRoi().empty());
}
