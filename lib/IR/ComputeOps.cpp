//===- ComputeOps.cpp - Convolution, matmul, norms and softmax --*- C++ -*-===//
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

//===----------------------------------------------------------------------===//
// ConvOp
//===----------------------------------------------------------------------===//

static LogicalResult checkConvChannels(const Reporter &report,
                                       RankedTensorType input,
                                       RankedTensorType filter, int64_t group) {
  int64_t inChannels = input.getDimSize(1);
  int64_t outChannels = filter.getDimSize(0);
  // C4
  if (!isGroupOf(group, inChannels, outChannels))
    return report("expects a positive group that divides ", inChannels,
                  " input and ", outChannels, " output channels, got ", group);
  // C5
  if (filter.getDimSize(1) != inChannels / group)
    return report("expects a filter with ", inChannels / group,
                  " input channels, got ", filter.getDimSize(1));
  return success();
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  RankedTensorType filter = getTensorType(adaptor.getFilter());
  // C1
  int64_t rank = input.getRank();
  if (rank < 3 || rank > 5 || filter.getRank() != rank)
    return report("expects input and filter of the same rank, 3 to 5, got ",
                  rank, " and ", filter.getRank());
  // C2, C3
  SlidingWindow window{filter.getShape().drop_front(2), adaptor.getStrides(),
                       adaptor.getPads(), adaptor.getDilations()};
  if (failed(checkWindow(report, rank, window)))
    return failure();
  // C4, C5
  if (failed(checkConvChannels(report, input, filter, adaptor.getGroup())))
    return failure();
  // C6
  FailureOr<SmallVector<int64_t>> spatial =
      inferSpatialShape(report, input.getShape().drop_front(2), window);
  if (failed(spatial))
    return failure();
  // C7, C8
  if (failed(checkMultiplied(report, input.getElementType(),
                             filter.getElementType())))
    return failure();
  // C9
  if (failed(checkRowMajor(report, "filter", filter)))
    return failure();
  // C10
  if (failed(checkScales(report, input.getElementType(),
                         filter.getElementType(), /*axis=*/0)))
    return failure();

  SmallVector<int64_t> shape{input.getDimSize(0), filter.getDimSize(0)};
  shape.append(*spatial);
  types.push_back(RankedTensorType::get(
      shape, getAccumulatedType(input.getElementType()), input.getEncoding()));
  return success();
}

bool ConvOp::isParameterOperand(unsigned index) { return index == 1; }
bool ConvOp::accumulates() { return true; }
int64_t ConvOp::getFilterOperand() { return 1; }
int64_t ConvOp::getFilterChannelAxis() { return 0; }

//===----------------------------------------------------------------------===//
// MatMulOp
//===----------------------------------------------------------------------===//

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType lhs = getTensorType(adaptor.getLhs());
  RankedTensorType rhs = getTensorType(adaptor.getRhs());
  // C1
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return report("expects operands of rank 2 or more, got ", lhs.getRank(),
                  " and ", rhs.getRank());
  ProductShape product =
      multiplyShapes(lhs.getShape(), adaptor.getTransposeLhs(), rhs.getShape(),
                     adaptor.getTransposeRhs());
  // C2
  if (product.lhsDepth != product.rhsDepth)
    return report("expects equal contracted dimensions, got ", product.lhsDepth,
                  " and ", product.rhsDepth);
  // C3
  if (!product.result)
    return report("expects batch dimensions that broadcast, got ", lhs, " and ",
                  rhs);
  // C4, C5
  if (failed(
          checkMultiplied(report, lhs.getElementType(), rhs.getElementType())))
    return failure();
  // C6
  if (failed(checkRowMajor(report, "lhs", lhs)) ||
      failed(checkRowMajor(report, "rhs", rhs)))
    return failure();
  // C7
  if (failed(checkScales(report, lhs.getElementType(), rhs.getElementType(),
                         rhs.getRank() - (adaptor.getTransposeRhs() ? 2 : 1))))
    return failure();

  types.push_back(RankedTensorType::get(
      *product.result, getAccumulatedType(lhs.getElementType())));
  return success();
}

bool MatMulOp::accumulates() { return true; }
int64_t MatMulOp::getFilterOperand() { return 1; }
int64_t MatMulOp::getFilterChannelAxis() {
  return getRhs().getType().getRank() - (getTransposeRhs() ? 2 : 1);
}

//===----------------------------------------------------------------------===//
// BatchNormOp
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  if (input.getRank() < 2)
    return report("expects an input of rank 2 or more, got ", input.getRank());
  // C2
  int64_t channels = input.getDimSize(1);
  for (Value parameter : adaptor.getOperands().drop_front())
    if (getTensorType(parameter).getShape() != ArrayRef<int64_t>(channels))
      return report("expects parameters to be vectors of ", channels,
                    " elements, got ", parameter.getType());
  // C3
  if (adaptor.getEpsilon().isNegative())
    return report("expects epsilon not to be negative, got ",
                  adaptor.getEpsilon().convertToFloat());
  // C4
  if (failed(checkFloat(report, "input", input)))
    return failure();
  for (Value parameter : adaptor.getOperands().drop_front())
    if (failed(checkFloat(report, "parameters", getTensorType(parameter))))
      return failure();

  types.push_back(input);
  return success();
}

bool BatchNormOp::isParameterOperand(unsigned index) { return index > 0; }

//===----------------------------------------------------------------------===//
// SoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= input.getRank())
    return report("expects an axis from 0 to below the rank ", input.getRank(),
                  ", got ", axis);
  // C2
  if (failed(checkFloat(report, "input", input)))
    return failure();
  // C3
  if (failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(input);
  return success();
}

//===----------------------------------------------------------------------===//
// LrnOp
//===----------------------------------------------------------------------===//

LogicalResult LrnOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  if (input.getRank() < 3)
    return report("expects an input of rank 3 or more, got ", input.getRank());
  // C2
  if (static_cast<int64_t>(adaptor.getSize()) < 1)
    return report("expects a positive size, got ",
                  static_cast<int64_t>(adaptor.getSize()));
  // C3
  if (failed(checkFloat(report, "input", input)))
    return failure();

  types.push_back(input);
  return success();
}
