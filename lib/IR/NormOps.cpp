//===- NormOps.cpp - Norms with their own statistics ------------*- C++ -*-===//
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

static LogicalResult checkEpsilon(const Reporter &report, APFloat epsilon) {
  if (epsilon.isNegative() || epsilon.isNaN())
    return report("expects epsilon not to be negative, got ",
                  epsilon.convertToFloat());
  return success();
}

static LogicalResult checkAllFloat(const Reporter &report,
                                   ValueRange operands) {
  if (failed(checkFloat(report, "input", getTensorType(operands.front()))))
    return failure();
  for (Value parameter : operands.drop_front())
    if (failed(checkFloat(report, "parameters", getTensorType(parameter))))
      return failure();
  return success();
}

static LogicalResult checkParameterCount(const Reporter &report,
                                         ValueRange parameters) {
  if (parameters.size() > 2)
    return report("expects at most a scale and a bias, got ", parameters.size(),
                  " parameters");
  return success();
}

static LogicalResult checkAxis(const Reporter &report, int64_t axis,
                               int64_t rank) {
  if (axis < 0 || axis >= rank)
    return report("expects an axis from 0 to below the rank ", rank, ", got ",
                  axis);
  return success();
}

/// Statistics are not rounded, since other values are computed from them.
static RankedTensorType getStatisticType(RankedTensorType input,
                                         ArrayRef<int64_t> shape) {
  Type element = input.getElementType();
  if (!element.isF64())
    element = Float32Type::get(input.getContext());
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(report, axis, input.getRank())))
    return failure();
  // C2
  if (failed(checkParameterCount(report, adaptor.getParameters())))
    return failure();
  ArrayRef<int64_t> inner = input.getShape().drop_front(axis);
  for (Value parameter : adaptor.getParameters())
    if (!broadcastsTo(getTensorType(parameter).getShape(), inner))
      return report("expects parameters that broadcast to the dimensions from ",
                    axis, " on of ", input, ", got ", parameter.getType());
  // C3
  if (failed(checkEpsilon(report, adaptor.getEpsilon())))
    return failure();
  // C4
  if (failed(checkAllFloat(report, adaptor.getOperands())))
    return failure();
  // C5
  if (failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(input);
  if (!adaptor.getStatistics())
    return success();
  types.append(
      2, getStatisticType(input, getRowStatistics(input.getShape(), axis)));
  return success();
}

//===----------------------------------------------------------------------===//
// BatchNormTrainingOp
//===----------------------------------------------------------------------===//

LogicalResult
BatchNormTrainingOp::inferReturnTypes(MLIRContext *,
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
  Shape shape = getBatchStatistics(input.getShape(), adaptor.getSpatial());
  for (Value parameter : adaptor.getOperands().drop_front())
    if (getTensorType(parameter).getShape() != ArrayRef<int64_t>(shape))
      return report("expects parameters of the shape [", ArrayRef(shape),
                    "], got ", parameter.getType());
  // C3
  if (failed(checkEpsilon(report, adaptor.getEpsilon())))
    return failure();
  // C4
  if (failed(checkAllFloat(report, adaptor.getOperands())))
    return failure();
  // C5
  if (!adaptor.getSpatial() && failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(input);
  types.append(4, getStatisticType(input, shape));
  return success();
}

bool BatchNormTrainingOp::supportsLayout(LayoutAttr layout) {
  return getSpatial() && layout.getKind() != LayoutKind::Blocked;
}

bool BatchNormTrainingOp::isParameterOperand(unsigned index) {
  return index > 0;
}

//===----------------------------------------------------------------------===//
// GroupNormOp
//===----------------------------------------------------------------------===//

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *,
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
  int64_t channels = input.getDimSize(1), groups = adaptor.getGroups();
  if (!isGroupOf(groups, channels, channels))
    return report("expects a positive number of groups that divides ", channels,
                  " channels, got ", groups);
  // C3
  if (failed(checkParameterCount(report, adaptor.getParameters())))
    return failure();
  for (Value parameter : adaptor.getParameters())
    if (getTensorType(parameter).getShape() != ArrayRef<int64_t>(channels))
      return report("expects parameters to be vectors of ", channels,
                    " elements, got ", parameter.getType());
  // C4
  if (failed(checkEpsilon(report, adaptor.getEpsilon())))
    return failure();
  // C5
  if (failed(checkAllFloat(report, adaptor.getOperands())))
    return failure();

  types.push_back(input);
  return success();
}

bool GroupNormOp::supportsLayout(LayoutAttr layout) {
  return layout.getKind() != LayoutKind::Blocked;
}

bool GroupNormOp::isParameterOperand(unsigned index) { return index > 0; }

//===----------------------------------------------------------------------===//
// LogSoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  if (failed(checkAxis(report, adaptor.getAxis(), input.getRank())))
    return failure();
  // C2
  if (failed(checkFloat(report, "input", input)))
    return failure();
  // C3
  if (failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(input);
  return success();
}
