//===- Shapes.cpp - Shapes of operations' results ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace mlir;
using namespace tarpon;

std::optional<Shape> tarpon::broadcastShapes(ArrayRef<int64_t> lhs,
                                             ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> result(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (auto [dim, size] : llvm::enumerate(rhs)) {
    int64_t &resultSize = result[offset + dim];
    if (resultSize == size || size == 1)
      continue;
    if (resultSize != 1)
      return std::nullopt;
    resultSize = size;
  }
  return result;
}

uint64_t WindowDim::getExtent() const {
  return llvm::SaturatingMultiplyAdd<uint64_t>(kernel - 1, dilation, 1);
}

uint64_t WindowDim::getPaddedSize() const {
  return llvm::SaturatingAdd<uint64_t>(
      llvm::SaturatingAdd<uint64_t>(size, padBegin), padEnd);
}

int64_t WindowDim::countPlaces() const {
  uint64_t range = getPaddedSize() - getExtent();
  uint64_t places = range / stride + 1;
  if (!ceilMode || range % stride == 0)
    return places;
  // One more place exceeds the end, unless it would start in the padding.
  uint64_t inner = llvm::SaturatingAdd<uint64_t>(size, padBegin);
  return places * stride < inner ? places + 1 : places;
}

std::optional<int64_t> SpreadDim::countPlaces() const {
  uint64_t extent =
      llvm::SaturatingMultiplyAdd<uint64_t>(kernel - 1, dilation, 1);
  uint64_t places =
      llvm::SaturatingMultiplyAdd<uint64_t>(size - 1, stride, extent);
  places = llvm::SaturatingAdd<uint64_t>(places, outputPadding);
  uint64_t pads = llvm::SaturatingAdd<uint64_t>(padBegin, padEnd);
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (places <= pads || places - pads > kMost)
    return std::nullopt;
  return static_cast<int64_t>(places - pads);
}

bool tarpon::broadcastsTo(ArrayRef<int64_t> operand, ArrayRef<int64_t> shape) {
  std::optional<Shape> both = broadcastShapes(shape, operand);
  return both && ArrayRef<int64_t>(*both) == shape;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

WindowDim SlidingWindow::getDim(ArrayRef<int64_t> spatial, size_t dim) const {
  return {spatial[dim],   kernel[dim], strides[dim],
          dilations[dim], pads[dim],   pads[kernel.size() + dim],
          ceilMode};
}

std::optional<size_t>
SlidingWindow::appendPlaces(ArrayRef<int64_t> spatial,
                            SmallVectorImpl<int64_t> &shape) const {
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    WindowDim window = getDim(spatial, dim);
    if (!window.fits())
      return dim;
    shape.push_back(window.countPlaces());
  }
  return std::nullopt;
}

std::optional<size_t>
SlidingWindow::appendSpread(ArrayRef<int64_t> spatial,
                            ArrayRef<int64_t> outputPadding,
                            SmallVectorImpl<int64_t> &shape) const {
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    SpreadDim spread{spatial[dim],      kernel[dim], strides[dim],
                     dilations[dim],    pads[dim],   pads[kernel.size() + dim],
                     outputPadding[dim]};
    std::optional<int64_t> places = spread.countPlaces();
    if (!places)
      return dim;
    shape.push_back(*places);
  }
  return std::nullopt;
}

bool tarpon::isGroupOf(int64_t group, int64_t inChannels, int64_t outChannels) {
  return group >= 1 && inChannels % group == 0 && outChannels % group == 0;
}

Shape tarpon::poolGlobally(ArrayRef<int64_t> shape) {
  Shape pooled(shape);
  std::fill(pooled.begin() + 2, pooled.end(), 1);
  return pooled;
}

Shape tarpon::withSpatial(ArrayRef<int64_t> shape, ArrayRef<int64_t> spatial) {
  Shape result(shape.take_front(2));
  llvm::append_range(result, spatial);
  return result;
}

//===----------------------------------------------------------------------===//
// Products, reductions, statistics
//===----------------------------------------------------------------------===//

/// The shape as the product reads it.
static Shape getReadShape(ArrayRef<int64_t> shape, bool transpose) {
  Shape read(shape);
  if (transpose)
    std::swap(read[read.size() - 1], read[read.size() - 2]);
  return read;
}

ProductShape tarpon::multiplyShapes(ArrayRef<int64_t> lhs, bool transposeLhs,
                                    ArrayRef<int64_t> rhs, bool transposeRhs) {
  Shape left = getReadShape(lhs, transposeLhs),
        right = getReadShape(rhs, transposeRhs);
  int64_t lhsDepth = left.pop_back_val(), rows = left.pop_back_val();
  int64_t columns = right.pop_back_val(), rhsDepth = right.pop_back_val();
  ProductShape product{lhsDepth, rhsDepth, broadcastShapes(left, right)};
  if (product.result)
    product.result->append({rows, columns});
  return product;
}

Shape tarpon::getScoresShape(ArrayRef<int64_t> query, ArrayRef<int64_t> key) {
  Shape shape(query);
  shape.back() = key[key.size() - 2];
  return shape;
}

Shape tarpon::attentionShape(ArrayRef<int64_t> query, ArrayRef<int64_t> value) {
  Shape shape(query);
  shape.back() = value.back();
  return shape;
}

std::string tarpon::findBlockMatMulFault(ArrayRef<ArrayRef<int64_t>> operands,
                                         int64_t bits, int64_t blockSize) {
  ArrayRef<int64_t> lhs = operands[0], weights = operands[1];
  if (bits != 4 && bits != 8)
    return llvm::formatv("expects 4 or 8 bits, got {0}", bits);
  if (blockSize < 8 || blockSize % 8 != 0)
    return llvm::formatv("expects blocks of a multiple of 8 elements, got {0}",
                         blockSize);
  if (lhs.size() < 2 || weights.size() != 3)
    return llvm::formatv("expects a lhs of rank 2 or more and weights of rank "
                         "3, got {0} and {1}",
                         lhs.size(), weights.size());
  int64_t blocks = llvm::divideCeil(lhs.back(), blockSize),
          bytes = blockSize / 8 * bits;
  if (weights[1] != blocks || weights[2] != bytes)
    return llvm::formatv("expects weights of {0} blocks of {1} bytes, got {2} "
                         "of {3}",
                         blocks, bytes, weights[1], weights[2]);
  if (operands.size() > 4)
    return llvm::formatv("expects one operand of zero points at most, got {0}",
                         operands.size() - 3);
  for (ArrayRef<int64_t> params : operands.drop_front(2))
    if (params != weights.drop_back())
      return llvm::formatv("expects scales and zero points of {0} x {1} "
                           "elements",
                           weights[0], weights[1]);
  return "";
}

Shape tarpon::blockMatMulShape(ArrayRef<int64_t> lhs,
                               ArrayRef<int64_t> weights) {
  Shape shape(lhs);
  shape.back() = weights.front();
  return shape;
}

std::string tarpon::findAttentionFault(ArrayRef<ArrayRef<int64_t>> operands,
                                       bool causal) {
  ArrayRef<int64_t> query = operands[0], key = operands[1], value = operands[2];
  size_t rank = query.size();
  if (rank < 3 || key.size() != rank || value.size() != rank)
    return llvm::formatv("expects operands of one rank, 3 or more, got {0}, "
                         "{1} and {2}",
                         rank, key.size(), value.size());
  if (key.drop_back(2) != query.drop_back(2) ||
      value.drop_back(2) != query.drop_back(2))
    return "expects operands with the same batch dimensions";
  if (query.back() != key.back())
    return llvm::formatv("expects a query and a key with as many channels, got "
                         "{0} and {1}",
                         query.back(), key.back());
  int64_t queries = query[rank - 2], keys = key[rank - 2];
  if (keys != value[rank - 2])
    return llvm::formatv("expects a key and a value with as many positions, "
                         "got {0} and {1}",
                         keys, value[rank - 2]);
  if (operands.size() > 3 &&
      !broadcastsTo(operands[3], getScoresShape(query, key)))
    return "expects a mask that broadcasts to the scores";
  if (causal && queries > keys)
    return llvm::formatv("expects no more queries than keys where it is "
                         "causal, got {0} and {1}",
                         queries, keys);
  return "";
}

bool tarpon::areAxes(ArrayRef<int64_t> axes, int64_t rank) {
  if (axes.empty() || axes.front() < 0 || axes.back() >= rank)
    return false;
  return std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) ==
         axes.end();
}

Shape tarpon::reduceShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                          bool keepDims) {
  Shape reduced;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      reduced.push_back(size);
    else if (keepDims)
      reduced.push_back(1);
  return reduced;
}

Shape tarpon::getBatchStatistics(ArrayRef<int64_t> shape, bool isSpatial) {
  if (isSpatial)
    return {shape[1]};
  Shape statistics(shape);
  statistics.front() = 1;
  return statistics;
}

Shape tarpon::getRowStatistics(ArrayRef<int64_t> shape, int64_t axis) {
  Shape statistics(shape);
  std::fill(statistics.begin() + axis, statistics.end(), 1);
  return statistics;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

bool tarpon::concatShape(SmallVectorImpl<int64_t> &shape,
                         ArrayRef<int64_t> other, int64_t axis) {
  if (other.size() != shape.size())
    return false;
  for (auto [dim, size] : llvm::enumerate(other))
    if (static_cast<int64_t>(dim) != axis && size != shape[dim])
      return false;
  shape[axis] += other[axis];
  return true;
}

Shape tarpon::gatherShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> indices,
                          int64_t axis) {
  Shape result(shape.take_front(axis));
  result.append(indices.begin(), indices.end());
  llvm::append_range(result, shape.drop_front(axis + 1));
  return result;
}

Shape tarpon::replaceDim(ArrayRef<int64_t> shape, int64_t axis, int64_t size) {
  Shape result(shape);
  result[axis] = size;
  return result;
}

std::optional<Shape> tarpon::sampleShape(ArrayRef<int64_t> images,
                                         ArrayRef<int64_t> grid) {
  if (grid.size() < 2 || grid.front() != images.front() ||
      grid.back() != static_cast<int64_t>(images.size()) - 2)
    return std::nullopt;
  Shape result(images.take_front(2));
  llvm::append_range(result, grid.drop_front().drop_back());
  return result;
}

Shape tarpon::suppressShape(ArrayRef<int64_t> scores, int64_t limit) {
  return {scores[0] * scores[1] * std::min(limit, scores[2]), 3};
}

std::optional<Shape> tarpon::permuteShape(ArrayRef<int64_t> shape,
                                          ArrayRef<int64_t> permutation) {
  Shape sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, shape.size())))
    return std::nullopt;
  Shape result;
  for (int64_t dim : permutation)
    result.push_back(shape[dim]);
  return result;
}

Shape tarpon::padShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> pads) {
  Shape padded(shape);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    padded[dim] += pads[dim] + pads[shape.size() + dim];
  return padded;
}

bool tarpon::canReflect(int64_t size, int64_t pad) {
  return pad <= 0 || pad < size;
}

bool tarpon::keepsChannels(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes,
                           ArrayRef<double> scales, bool hasRoi) {
  return !hasRoi && sizes.take_front(2) == shape.take_front(2) &&
         llvm::all_of(scales.take_front(2),
                      [](double scale) { return scale == 1; });
}
