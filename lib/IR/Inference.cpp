//===- Inference.cpp - Checks shared by the ops' type inference -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"

using namespace mlir;

namespace tarpon::detail {

RankedTensorType getTensorType(Value operand) {
  return cast<RankedTensorType>(operand.getType());
}

LogicalResult checkStatic(const Reporter &report, ValueRange operands) {
  for (Value operand : operands)
    if (!getTensorType(operand).hasStaticShape())
      return report("expects static shapes, got ", operand.getType());
  return success();
}

LogicalResult checkRowMajor(const Reporter &report, StringRef name,
                            RankedTensorType type) {
  if (type.getEncoding())
    return report("expects ", name, " to be row-major, got ", type);
  return success();
}

LogicalResult checkFloat(const Reporter &report, StringRef name,
                         RankedTensorType type) {
  if (!isa<FloatType>(type.getElementType()))
    return report("expects ", name, " to hold floats, got ", type);
  return success();
}

LogicalResult checkMultiplied(const Reporter &report, Type lhsElement,
                              Type rhsElement) {
  bool lhsQuantized = isa<quant::QuantizedType>(lhsElement);
  bool rhsQuantized = isa<quant::QuantizedType>(rhsElement);
  if (lhsQuantized && rhsQuantized)
    return success();
  if (lhsElement != rhsElement)
    return report("expects operands of the same element type or both "
                  "quantised, got ",
                  lhsElement, " and ", rhsElement);
  if (!isa<FloatType>(lhsElement))
    return report("expects float or quantised elements, got ", lhsElement);
  return success();
}

LogicalResult checkSymmetric(const Reporter &report, Type elementType) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType);
  if (!perAxis)
    return success();
  for (int64_t zeroPoint : perAxis.getZeroPoints())
    if (zeroPoint != 0)
      return report("expects zero points of 0 where there is one per index, "
                    "got ",
                    zeroPoint);
  return success();
}

LogicalResult checkScales(const Reporter &report, Type lhsElement,
                          Type filterElement, int64_t axis) {
  if (isa<quant::UniformQuantizedPerAxisType>(lhsElement))
    return report("expects one scale for all of the first operand, got ",
                  lhsElement);
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(filterElement);
  if (perAxis && perAxis.getQuantizedDimension() != axis)
    return report("expects the scales of the filter along dimension ", axis,
                  ", got ", perAxis.getQuantizedDimension());
  return checkSymmetric(report, filterElement);
}

Type getAccumulatedType(Type elementType) {
  if (elementType.isF64())
    return elementType;
  return Float32Type::get(elementType.getContext());
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

LogicalResult checkEntries(const Reporter &report, StringRef name,
                           ArrayRef<int64_t> entries, size_t expected,
                           int64_t minimum) {
  if (entries.size() != expected)
    return report("expects ", expected, " entries in ", name, ", got ",
                  entries.size());
  for (int64_t entry : entries)
    if (entry < minimum)
      return report("expects entries of at least ", minimum, " in ", name,
                    ", got ", entry);
  return success();
}

LogicalResult checkWindow(const Reporter &report, int64_t rank,
                          const SlidingWindow &window) {
  size_t spatial = rank - 2;
  if (failed(checkEntries(report, "kernel", window.kernel, spatial, 1)) ||
      failed(checkEntries(report, "strides", window.strides, spatial, 1)) ||
      failed(checkEntries(report, "dilations", window.dilations, spatial, 1)))
    return failure();
  return checkEntries(report, "pads", window.pads, 2 * spatial, 0);
}

FailureOr<SmallVector<int64_t>>
inferSpatialShape(const Reporter &report, ArrayRef<int64_t> inputSpatial,
                  const SlidingWindow &window) {
  SmallVector<int64_t> result;
  std::optional<size_t> tooSmall = window.appendPlaces(inputSpatial, result);
  if (!tooSmall)
    return result;
  WindowDim places = window.getDim(inputSpatial, *tooSmall);
  return report("expects the dilated kernel to fit into the padded input, got ",
                places.getExtent(), " and ", places.getPaddedSize(),
                " in spatial dimension ", *tooSmall);
}

} // namespace tarpon::detail
