//===- ReduceOps.cpp - Reductions -------------------------------*- C++ -*-===//
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
// Common parts
//===----------------------------------------------------------------------===//

/// Fails unless the elements are numbers that can be compared and added.
static LogicalResult checkNumbers(const Reporter &report,
                                  RankedTensorType type) {
  Type element = type.getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  if (isa<FloatType>(element) || (integer && integer.getWidth() >= 8))
    return success();
  return report("expects input to hold floats or integers of 8 bits or more, "
                "got ",
                type);
}

/// The type of the input with the axes reduced.
static FailureOr<RankedTensorType> reduceDims(const Reporter &report,
                                              RankedTensorType input,
                                              ArrayRef<int64_t> axes,
                                              bool keepDims) {
  for (int64_t axis : axes)
    if (input.getDimSize(axis) == 0)
      return report("expects dimension ", axis, " not to be empty, got ",
                    input);
  LayoutKind kind = getLayout(input).getKind();
  if (kind == LayoutKind::Blocked || (!keepDims && kind != LayoutKind::NCHW))
    return report("expects an input that is row-major, or in nhwc and keeps "
                  "its dimensions, got ",
                  input);
  return RankedTensorType::get(reduceShape(input.getShape(), axes, keepDims),
                               input.getElementType(),
                               keepDims ? input.getEncoding() : Attribute());
}

static LogicalResult inferReduce(const Reporter &report, ValueRange operands,
                                 ArrayRef<int64_t> axes, bool keepDims,
                                 bool isReal, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  RankedTensorType input = getTensorType(operands.front());
  // C1
  if (!areAxes(axes, input.getRank()))
    return report("expects axes that ascend and are dimensions of ", input,
                  ", got [", axes, "]");
  // C3
  if (failed(isReal ? checkFloat(report, "input", input)
                    : checkNumbers(report, input)))
    return failure();
  // C2, C4
  FailureOr<RankedTensorType> type = reduceDims(report, input, axes, keepDims);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

static bool supportsReduced(bool keepDims, LayoutAttr layout) {
  return layout.getKind() == LayoutKind::NCHW ||
         (keepDims && layout.getKind() == LayoutKind::NHWC);
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

#define TARPON_REDUCE_OP(OpTy, isReal)                                         \
  LogicalResult OpTy::inferReturnTypes(MLIRContext *,                          \
                                       std::optional<Location> location,       \
                                       Adaptor adaptor, Types &types) {        \
    return inferReduce({location, getOperationName()}, adaptor.getOperands(),  \
                       adaptor.getAxes(), adaptor.getKeepdims(), isReal,       \
                       types);                                                 \
  }                                                                            \
  bool OpTy::supportsLayout(LayoutAttr layout) {                               \
    return supportsReduced(getKeepdims(), layout);                             \
  }                                                                            \
  bool OpTy::prefersLayout() { return false; }

TARPON_REDUCE_OP(ReduceSumOp, false)
TARPON_REDUCE_OP(ReduceMaxOp, false)
TARPON_REDUCE_OP(ReduceMinOp, false)
TARPON_REDUCE_OP(ReduceProdOp, false)
TARPON_REDUCE_OP(ReduceL1Op, false)
TARPON_REDUCE_OP(ReduceSumSquareOp, false)
TARPON_REDUCE_OP(ReduceMeanOp, true)
TARPON_REDUCE_OP(ReduceL2Op, true)
TARPON_REDUCE_OP(ReduceLogSumOp, true)
TARPON_REDUCE_OP(ReduceLogSumExpOp, true)

#undef TARPON_REDUCE_OP

static LogicalResult inferArg(const Reporter &report, ValueRange operands,
                              int64_t axis, bool keepDims, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  RankedTensorType input = getTensorType(operands.front());
  // C1
  if (!areAxes(axis, input.getRank()))
    return report("expects an axis from 0 to below the rank ", input.getRank(),
                  ", got ", axis);
  // C3
  if (failed(checkNumbers(report, input)))
    return failure();
  // C2, C4
  FailureOr<RankedTensorType> type = reduceDims(report, input, axis, keepDims);
  if (failed(type))
    return failure();
  types.push_back(type->clone(IntegerType::get(input.getContext(), 64)));
  return success();
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  return inferArg({location, getOperationName()}, adaptor.getOperands(),
                  adaptor.getAxis(), adaptor.getKeepdims(), types);
}

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  return inferArg({location, getOperationName()}, adaptor.getOperands(),
                  adaptor.getAxis(), adaptor.getKeepdims(), types);
}

bool ArgMaxOp::prefersLayout() { return false; }

bool ArgMaxOp::supportsLayout(LayoutAttr layout) {
  return supportsReduced(getKeepdims(), layout);
}

bool ArgMinOp::prefersLayout() { return false; }

bool ArgMinOp::supportsLayout(LayoutAttr layout) {
  return supportsReduced(getKeepdims(), layout);
}
