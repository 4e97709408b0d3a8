//===- RealSizes.cpp - Sizes that depend on data, passed on -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RealSizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tarpon {

/// Returns the dimension of a result of that shape which dimension `dim` of
/// input `index` becomes; none if its slices do not stay where they are.
using SizeRule = std::optional<int64_t> (*)(OnnxNode &node, unsigned index,
                                            int64_t dim,
                                            ArrayRef<int64_t> result);

/// Shapes broadcast: other inputs have the same real size, or one slice for
/// all.
static std::optional<int64_t> followBroadcast(OnnxNode &node, unsigned index,
                                              int64_t dim,
                                              ArrayRef<int64_t> result) {
  ArrayRef<int64_t> input = getShape(node.getInput(index));
  auto behind = static_cast<int64_t>(input.size()) - dim;
  int64_t place = static_cast<int64_t>(result.size()) - behind;
  if (result[place] != input[dim])
    return std::nullopt;
  return place;
}

/// The shape of the indices replaces the axis. Indices that do not count may be
/// any: those out of range are moved into it.
static std::optional<int64_t> followGather(OnnxNode &node, unsigned index,
                                           int64_t dim,
                                           ArrayRef<int64_t> result) {
  int64_t rank = getShape(node.getInput(0)).size();
  int64_t axis = node.getAxis("axis", 0, rank);
  if (index == 1)
    return axis + dim;
  // An index below 0 counts from the real end, which is not known here.
  if (dim == axis)
    return std::nullopt;
  return dim < axis ? dim : dim + static_cast<int64_t>(result.size()) - rank;
}

/// A slice of the dimension itself would count from its real end.
static std::optional<int64_t> followSlice(OnnxNode &node, unsigned index,
                                          int64_t dim,
                                          ArrayRef<int64_t> result) {
  std::optional<SmallVector<int64_t>> axes = node.getInts("axes");
  if (node.hasInput(3))
    axes = node.getConstantInts(3, "the axes");
  else if (!node.hasAttribute("axes"))
    return std::nullopt;
  if (axes)
    axes = node.normalizeAxes(*axes, result.size());
  if (index != 0 || !axes || llvm::is_contained(*axes, dim))
    return std::nullopt;
  return dim;
}

static std::optional<int64_t> followTranspose(OnnxNode &node, unsigned,
                                              int64_t dim,
                                              ArrayRef<int64_t> result) {
  SmallVector<int64_t> permutation = node.getInts("perm");
  if (permutation.empty())
    return static_cast<int64_t>(result.size()) - 1 - dim;
  return llvm::find(permutation, dim) - permutation.begin();
}

/// Finds the dimension with as many elements in front of it. A size of 1 is the
/// size of too many dimensions.
static std::optional<int64_t> followView(OnnxNode &node, unsigned index,
                                         int64_t dim,
                                         ArrayRef<int64_t> result) {
  ArrayRef<int64_t> input = getShape(node.getInput(index));
  int64_t before = multiply(input.take_front(dim));
  if (index != 0 || input[dim] < 2)
    return std::nullopt;
  for (size_t i = 0; i < result.size(); ++i)
    if (result[i] == input[dim] && multiply(result.take_front(i)) == before)
      return i;
  return std::nullopt;
}

/// A size that the model names is no real one.
static std::optional<int64_t> followReshape(OnnxNode &node, unsigned index,
                                            int64_t dim,
                                            ArrayRef<int64_t> result) {
  std::optional<int64_t> place = followView(node, index, dim, result);
  auto shape = node.getConstantInts(1, "the shape");
  if (!place || !shape || (*shape)[*place] > 0)
    return std::nullopt;
  return place;
}

static SizeRule findRule(const OpRow &row) {
  if (!row.domain.empty())
    return nullptr;
  return llvm::StringSwitch<SizeRule>(row.name)
      .Cases({"Abs", "Add", "And", "Cast", "Ceil", "Clip", "Div", "Equal"},
             followBroadcast)
      .Cases({"Exp", "Floor", "Greater", "GreaterOrEqual", "Identity", "Less"},
             followBroadcast)
      .Cases({"LessOrEqual", "Log", "Max", "Min", "Mul", "Neg", "Not", "Or"},
             followBroadcast)
      .Cases({"Relu", "Round", "Sigmoid", "Sqrt", "Sub", "Tanh", "Where"},
             followBroadcast)
      .Case("Gather", followGather)
      .Case("Slice", followSlice)
      .Case("Transpose", followTranspose)
      .Case("Reshape", followReshape)
      .Cases({"Flatten", "Squeeze", "Unsqueeze"}, followView)
      .Default(nullptr);
}

bool passesRealSizes(const OpRow &row) { return findRule(row) != nullptr; }

static LogicalResult refuse(OnnxNode &node, unsigned index, int64_t dim) {
  return node.emitError() << "dimension " << dim << " of '"
                          << node.getInputName(index)
                          << "' has a size that depends on data, and does not "
                             "become one of the result";
}

LogicalResult passRealSizes(const OpRow &row, OnnxNode &node, Value result,
                            llvm::DenseMap<Value, RealSize> &sizes) {
  std::optional<RealSize> passed;
  for (unsigned i = 0; i < node.getNumInputs() && result; ++i) {
    auto it = sizes.find(node.getInput(i));
    if (!node.hasInput(i) || it == sizes.end())
      continue;
    std::optional<int64_t> dim =
        findRule(row)(node, i, it->second.dim, getShape(result));
    if (!dim ||
        (passed && (passed->dim != *dim || passed->size != it->second.size)))
      return refuse(node, i, it->second.dim);
    passed = RealSize{*dim, it->second.size};
  }
  if (passed)
    sizes[result] = *passed;
  return success();
}

} // namespace tarpon
