//===- Shapes.h - Shapes of operations' results -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on sizes that needs neither types nor a context. The dialect's
// type inference and the rules of problems share it, so that shapes are decided
// in one place; each of them reports errors in its own words.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_SHAPES_H
#define TARPON_PROBLEM_SHAPES_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tarpon {

using Shape = llvm::SmallVector<int64_t>;

/// The shape that two shapes broadcast to as in NumPy, or none.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs);

/// Returns true if a tensor of that shape broadcasts to `shape`.
bool broadcastsTo(llvm::ArrayRef<int64_t> operand,
                  llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A sliding window in one dimension. Kernel, stride and dilation are positive,
/// the others are not negative. Attributes may be absurdly large: the functions
/// saturate.
struct WindowDim {
  int64_t size, kernel, stride, dilation, padBegin, padEnd;
  bool ceilMode = false;

  /// The number of cells from the first to the last that one place covers.
  uint64_t getExtent() const;
  uint64_t getPaddedSize() const;
  bool fits() const { return getExtent() <= getPaddedSize(); }
  /// The number of places of a window that fits.
  int64_t countPlaces() const;
};

/// The transposed window: each element of the input is spread over the places
/// that a window would have gathered it from. All fields but the paddings are
/// positive; the paddings are not negative.
struct SpreadDim {
  int64_t size, kernel, stride, dilation, padBegin, padEnd, outputPadding;

  /// (size - 1) * stride + extent + outputPadding - pads, or none if that is
  /// not positive or exceeds 64 bits.
  std::optional<int64_t> countPlaces() const;
};

/// A window that slides over the spatial dimensions, with one entry in each
/// list per dimension; `pads` has all beginnings, then all ends.
struct SlidingWindow {
  llvm::ArrayRef<int64_t> kernel, strides, pads, dilations;
  bool ceilMode = false;

  WindowDim getDim(llvm::ArrayRef<int64_t> spatial, size_t dim) const;
  /// Appends the number of places in each dimension. Returns the first
  /// dimension into which the window does not fit, or none.
  std::optional<size_t>
  appendPlaces(llvm::ArrayRef<int64_t> spatial,
               llvm::SmallVectorImpl<int64_t> &shape) const;
  /// The same for a transposed convolution: returns the first dimension in
  /// which no place is left.
  std::optional<size_t>
  appendSpread(llvm::ArrayRef<int64_t> spatial,
               llvm::ArrayRef<int64_t> outputPadding,
               llvm::SmallVectorImpl<int64_t> &shape) const;
};

/// Returns true if `group` is positive and divides both numbers of channels.
bool isGroupOf(int64_t group, int64_t inChannels, int64_t outChannels);

/// The shape of a global pool: images and channels, and 1 for all spatial
/// dimensions.
Shape poolGlobally(llvm::ArrayRef<int64_t> shape);

/// The shape with other spatial dimensions.
Shape withSpatial(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> spatial);

//===----------------------------------------------------------------------===//
// Products, reductions, statistics
//===----------------------------------------------------------------------===//

/// A product of matrices, or of batches of them.
struct ProductShape {
  /// The contracted dimension of either operand.
  int64_t lhsDepth, rhsDepth;
  /// The result's shape; none if the batch dimensions do not broadcast.
  std::optional<Shape> result;
};

/// The shape of a product. Both operands have rank 2 or more; their last two
/// dimensions are swapped where they are transposed.
ProductShape multiplyShapes(llvm::ArrayRef<int64_t> lhs, bool transposeLhs,
                            llvm::ArrayRef<int64_t> rhs, bool transposeRhs);

/// Says what a product with weights in blocks expects of the shapes of its
/// operands, which are the left-hand side, weights, scales and perhaps zero
/// points: "expects weights of 128 blocks, got 64"; "" if they agree.
std::string
findBlockMatMulFault(llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                     int64_t bits, int64_t blockSize);

/// The shape of its result. The operands agree.
Shape blockMatMulShape(llvm::ArrayRef<int64_t> lhs,
                       llvm::ArrayRef<int64_t> weights);

/// The shape of attention's scores, a row of keys for each query, and of its
/// result. The operands agree; see findAttentionFault.
Shape getScoresShape(llvm::ArrayRef<int64_t> query,
                     llvm::ArrayRef<int64_t> key);
Shape attentionShape(llvm::ArrayRef<int64_t> query,
                     llvm::ArrayRef<int64_t> value);

/// Says what attention expects of the shapes of its operands, which are query,
/// key, value and perhaps a mask: "expects a query and a key with as many
/// channels, got 4 and 8"; "" if they agree.
std::string findAttentionFault(llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                               bool causal);

/// Returns true if there is at least one axis, and the axes ascend and are
/// dimensions of a tensor of that rank.
bool areAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Removes the axes from the shape, or makes them 1.
Shape reduceShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
                  bool keepDims);

/// The statistics of a batch: one for each channel, or for each element of an
/// image.
Shape getBatchStatistics(llvm::ArrayRef<int64_t> shape, bool isSpatial);

/// The shape of statistics over all dimensions from `axis` on.
Shape getRowStatistics(llvm::ArrayRef<int64_t> shape, int64_t axis);

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Adds `other` to `shape` along the axis; false if they differ elsewhere.
bool concatShape(llvm::SmallVectorImpl<int64_t> &shape,
                 llvm::ArrayRef<int64_t> other, int64_t axis);

/// The shape with that of the indices in place of a dimension.
Shape gatherShape(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> indices, int64_t axis);

/// The shape with another size of dimension `axis`.
Shape replaceDim(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t size);

/// The shape of images that are sampled at the places of a grid, of which the
/// last dimension holds coordinates; none if the grid does not fit them.
std::optional<Shape> sampleShape(llvm::ArrayRef<int64_t> images,
                                 llvm::ArrayRef<int64_t> grid);

/// The shape of the boxes that are selected by scores of images, classes and
/// boxes, at most `limit` of a class.
Shape suppressShape(llvm::ArrayRef<int64_t> scores, int64_t limit);

/// The permuted shape; none unless it is a permutation of the dimensions.
std::optional<Shape> permuteShape(llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> permutation);

/// The padded shape. `pads` are all beginnings, then all ends, and may be
/// negative.
Shape padShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> pads);

/// Returns true if a dimension has enough elements to be reflected in `pad`
/// cells.
bool canReflect(int64_t size, int64_t pad);

/// Returns true if a resize leaves batch and channels as they are. `scales` and
/// `roi` are those of tarpon.resize.
bool keepsChannels(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizes,
                   llvm::ArrayRef<double> scales, bool hasRoi);

} // namespace tarpon

#endif // TARPON_PROBLEM_SHAPES_H
