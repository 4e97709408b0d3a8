//===- RealSizes.cpp - Sizes that depend on data, passed on -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RealSizes.h"

#include "SizeRules.h"
#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Slices that do not count
//===----------------------------------------------------------------------===//

static Value createNumberFill(OnnxNode &node, Fill fill, Type elementType) {
  if (fill == Fill::Zero || fill == Fill::One)
    return node.createNumber(fill == Fill::One, elementType);
  bool isLast = fill == Fill::Last;
  bool isLowest = isLast ? node.getBool("largest", true) : fill == Fill::Lowest;
  if (isa<FloatType>(elementType)) {
    // No number is behind NaN.
    double highest = isLast ? std::numeric_limits<double>::quiet_NaN()
                            : std::numeric_limits<double>::infinity();
    double lowest = -std::numeric_limits<double>::infinity();
    return node.createNumber(isLowest ? lowest : highest, elementType);
  }
  unsigned bits = elementType.getIntOrFloatBitWidth();
  auto value = elementType.isUnsignedInteger() || bits == 1
                   ? (isLowest ? llvm::APInt::getMinValue(bits)
                               : llvm::APInt::getMaxValue(bits))
                   : (isLowest ? llvm::APInt::getSignedMinValue(bits)
                               : llvm::APInt::getSignedMaxValue(bits));
  int64_t number = bits == 1 ? value.getZExtValue() : value.getSExtValue();
  return node.convert(node.createInts({number}, /*scalar=*/true), elementType);
}

static Value createFill(OnnxNode &node, Fill fill, Value input, int64_t dim) {
  if (fill == Fill::First)
    return node.slice(input, dim, 0, 1);
  return createNumberFill(node, fill, getTensorType(input).getElementType());
}

/// Returns `input` with the slices along one of its dimensions filled that do
/// not count.
static Value fillAlong(OnnxNode &node, Fill fill, Value input,
                       const RealSize &real) {
  return node.create<WhereOp>(createIsCounted(node, getShape(input), real),
                              input, createFill(node, fill, input, real.dim));
}

bool takesRealSizes(const OpRow &row) { return findSizeRow(row) != nullptr; }

void fillUncounted(const OpRow &row, OnnxNode &node) {
  const SizeRow *rules = findSizeRow(row);
  for (unsigned i = 0; rules && i < node.getNumInputs(); ++i) {
    Value input = node.getInput(i), filled = input;
    Fill fill = rules->fills[std::min(i, 1u)];
    RealSizes sizes = node.findRealSizes(input);
    for (const RealSize &real : sizes)
      if (filled && fill != Fill::Any &&
          (fill != Fill::First || hasFixedSize(node, i, real.dim)))
        filled = fillAlong(node, fill, filled, real);
    if (filled == input)
      continue;
    if (!filled)
      return;
    for (const RealSize &real : sizes)
      node.setRealSize(filled, real);
    node.replaceInput(i, filled);
  }
}

//===----------------------------------------------------------------------===//
// Passing on
//===----------------------------------------------------------------------===//

static LogicalResult refuse(OnnxNode &node, unsigned index, int64_t dim) {
  return node.emitError() << "dimension " << dim << " of '"
                          << node.getInputName(index)
                          << "' has a size that depends on data, and does not "
                             "become one of the result";
}

/// Adds a size to those of a result; fails if the dimension has another one.
static LogicalResult addSize(RealSizes &sizes, const RealSize &size) {
  for (const RealSize &known : sizes)
    if (known.dim == size.dim)
      return success(known == size);
  sizes.insert(
      llvm::find_if(
          sizes, [&](const RealSize &known) { return known.dim > size.dim; }),
      size);
  return success();
}

/// Returns the sizes of output `output`; fails after an error.
static FailureOr<RealSizes> findResultSizes(OnnxNode &node, unsigned output,
                                            SizeRule rule) {
  Value result = node.getOutput(output);
  RealSizes sizes;
  if (node.hasOwnSize(output))
    sizes = node.findRealSizes(result);
  for (unsigned i = 0; i < node.getNumInputs(); ++i) {
    if (!node.hasInput(i))
      continue;
    for (const RealSize &real : node.findRealSizes(node.getInput(i))) {
      FollowedSize followed = rule(node, i, real, getShape(result));
      if (node.hasFailed())
        return failure();
      bool fits = !followed.isRefused;
      if (fits && followed.size)
        fits = succeeded(
            addSize(sizes, node.canonicalize(result, *followed.size)));
      if (!fits)
        return refuse(node, i, real.dim);
    }
  }
  return sizes;
}

static bool isInput(OnnxNode &node, Value value) {
  return llvm::any_of(llvm::seq<unsigned>(0, node.getNumInputs()),
                      [&](unsigned i) { return node.getInput(i) == value; });
}

/// A result may be a value that has other sizes where others use it.
static LogicalResult passTo(OnnxNode &node, unsigned output, SizeRule rule) {
  auto sizes = findResultSizes(node, output, rule);
  if (failed(sizes))
    return failure();
  Value result = node.getOutput(output);
  RealSizes known = node.findRealSizes(result);
  if (known == *sizes)
    return success();
  if (!node.hasOwnSize(output) && (!known.empty() || isInput(node, result))) {
    result = copyAlong(node, result, 0);
    node.setOutput(output, result);
  }
  if (!result)
    return failure();
  for (const RealSize &size : *sizes)
    node.setRealSize(result, size);
  return success();
}

LogicalResult passRealSizes(const OpRow &row, OnnxNode &node) {
  const SizeRow *rules = findSizeRow(row);
  for (unsigned i = 0; rules && i < node.getNumOutputs(); ++i)
    if (node.getOutput(i) && failed(passTo(node, i, rules->rule)))
      return failure();
  return success();
}

} // namespace tarpon
