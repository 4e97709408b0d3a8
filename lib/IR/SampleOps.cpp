//===- SampleOps.cpp - Elements between those of images -------------------===//
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

/// Fails unless the operand called `name` has that shape.
static LogicalResult checkShape(const Reporter &report, StringRef name,
                                RankedTensorType type,
                                ArrayRef<int64_t> shape) {
  if (type.getShape() == shape)
    return success();
  return report("expects ", name, " of shape [", shape, "], got ", type);
}

/// Fails unless the operand called `name` holds numbers of i64.
static LogicalResult checkI64(const Reporter &report, StringRef name,
                              RankedTensorType type) {
  if (type.getElementType().isSignlessInteger(64))
    return success();
  return report("expects ", name, " of i64, got ", type);
}

//===----------------------------------------------------------------------===//
// GridSampleOp
//===----------------------------------------------------------------------===//

LogicalResult GridSampleOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput()),
                   grid = getTensorType(adaptor.getGrid());
  // C1
  if (input.getRank() < 3 || input.getRank() > 5)
    return report("expects an input of rank 3 to 5, got ", input);
  // C2
  std::optional<Shape> shape = sampleShape(input.getShape(), grid.getShape());
  if (!shape)
    return report("expects a grid with the images of the input and ",
                  input.getRank() - 2, " coordinates, got ", grid);
  // C3
  if (failed(checkFloat(report, "input", input)) ||
      failed(checkFloat(report, "grid", grid)))
    return failure();
  // C4
  if (failed(checkRowMajor(report, "input", input)) ||
      failed(checkRowMajor(report, "grid", grid)))
    return failure();

  types.push_back(input.clone(*shape));
  return success();
}

//===----------------------------------------------------------------------===//
// RoiAlignOp
//===----------------------------------------------------------------------===//

LogicalResult RoiAlignOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput()),
                   corners = getTensorType(adaptor.getCorners()),
                   images = getTensorType(adaptor.getImages());
  // C1
  if (input.getRank() != 4)
    return report("expects an input of rank 4, got ", input);
  // C2
  if (images.getRank() != 1)
    return report("expects images of rank 1, got ", images);
  int64_t count = images.getDimSize(0);
  if (failed(checkShape(report, "corners", corners, {count, 4})))
    return failure();
  // C3
  if (failed(checkI64(report, "images", images)))
    return failure();
  // C4
  if (failed(checkFloat(report, "input", input)) ||
      failed(checkFloat(report, "corners", corners)))
    return failure();
  // C5
  ArrayRef<int64_t> sizes = adaptor.getSizes();
  if (failed(checkEntries(report, "sizes", sizes, 2, 1)))
    return failure();
  if (int64_t samples = adaptor.getSamples(); samples < 0)
    return report("expects samples of 0 or more, got ", samples);
  // C6
  if (failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(
      RankedTensorType::get({count, input.getDimSize(1), sizes[0], sizes[1]},
                            input.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// NonMaxSuppressionOp
//===----------------------------------------------------------------------===//

LogicalResult
NonMaxSuppressionOp::inferReturnTypes(MLIRContext *context,
                                      std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType boxes = getTensorType(adaptor.getBoxes()),
                   scores = getTensorType(adaptor.getScores()),
                   order = getTensorType(adaptor.getOrder());
  // C1
  if (scores.getRank() != 3)
    return report("expects scores of rank 3, got ", scores);
  int64_t count = scores.getDimSize(2);
  if (failed(checkShape(report, "boxes", boxes,
                        {scores.getDimSize(0), count, 4})) ||
      failed(checkShape(report, "order", order, scores.getShape())))
    return failure();
  // C2
  if (failed(checkFloat(report, "boxes", boxes)) ||
      failed(checkI64(report, "order", order)))
    return failure();
  if (boxes.getElementType() != scores.getElementType())
    return report("expects boxes and scores of one type, got ", boxes, " and ",
                  scores);
  // C3
  int64_t limit = adaptor.getLimit();
  if (limit < 1)
    return report("expects a positive limit, got ", limit);
  // C4
  if (failed(checkRowMajor(report, "boxes", boxes)) ||
      failed(checkRowMajor(report, "scores", scores)) ||
      failed(checkRowMajor(report, "order", order)))
    return failure();

  Type i64 = IntegerType::get(context, 64);
  types.push_back(
      RankedTensorType::get(suppressShape(scores.getShape(), limit), i64));
  types.push_back(RankedTensorType::get({1}, i64));
  return success();
}
