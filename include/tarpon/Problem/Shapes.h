//===- Shapes.h - The shapes that operations give ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on sizes that needs neither types nor a context. The dialect's
// type inference and the rules of problems share it: which shape follows, and
// whether one does, is decided here alone. Each of them reports in its own
// words.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_SHAPES_H
#define TARPON_PROBLEM_SHAPES_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tarpon {

using Shape = llvm::SmallVector<int64_t>;

/// The shape that two shapes broadcast to as in NumPy, or none.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs);

/// Whether a tensor of that shape broadcasts to `shape` as it is.
bool broadcastsTo(llvm::ArrayRef<int64_t> operand,
                  llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A sliding window in one dimension. Kernel, stride and dilation are positive,
/// the others are not negative. Attributes may be absurdly large: what follows
/// saturates.
struct WindowDim {
  int64_t size, kernel, stride, dilation, padBegin, padEnd;
  bool ceilMode = false;

  /// The cells from the first to the last that one place covers.
  uint64_t getExtent() const;
  uint64_t getPaddedSize() const;
  bool fits() const { return getExtent() <= getPaddedSize(); }
  /// The number of places of a window that fits.
  int64_t countPlaces() const;
};

/// The other direction: each element of the input is spread over the places
/// that a window would have gathered it from. All but the paddings are
/// positive, those are not negative.
struct SpreadDim {
  int64_t size, kernel, stride, dilation, padBegin, padEnd, outputPadding;

  /// (size - 1) * stride + extent + outputPadding - pads, or none if no place
  /// is left or there are more than 64 bits count.
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

/// Whether `group` is positive and divides both numbers of channels.
bool isGroupOf(int64_t group, int64_t inChannels, int64_t outChannels);

/// Images and channels, and one place for all spatial dimensions.
Shape poolGlobally(llvm::ArrayRef<int64_t> shape);

/// Images and channels, and those spatial dimensions.
Shape withSpatial(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> spatial);

//===----------------------------------------------------------------------===//
// Products, reductions, statistics
//===----------------------------------------------------------------------===//

/// A product of matrices, or of batches of them.
struct ProductShape {
  /// The contracted dimension as either operand has it.
  int64_t lhsDepth, rhsDepth;
  /// None if the batch dimensions do not broadcast.
  std::optional<Shape> result;
};

/// Both operands have rank 2 or more; their last two dimensions are swapped
/// where they are transposed.
ProductShape multiplyShapes(llvm::ArrayRef<int64_t> lhs, bool transposeLhs,
                            llvm::ArrayRef<int64_t> rhs, bool transposeRhs);

/// Whether the axes ascend and are dimensions of a tensor of that rank; at
/// least one is there.
bool areAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Takes the axes out of the shape, or makes them 1.
Shape reduceShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
                  bool keepDims);

/// The statistics of a batch: one for each channel, or for each element of an
/// image.
Shape getBatchStatistics(llvm::ArrayRef<int64_t> shape, bool isSpatial);

/// The statistics of all that lies behind `axis`.
Shape getRowStatistics(llvm::ArrayRef<int64_t> shape, int64_t axis);

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Adds `other` to `shape` along the axis; false if they differ beside it.
bool concatShape(llvm::SmallVectorImpl<int64_t> &shape,
                 llvm::ArrayRef<int64_t> other, int64_t axis);

/// None unless it is a permutation of the dimensions.
std::optional<Shape> permuteShape(llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> permutation);

/// Pads are all beginnings, then all ends, and may be negative.
Shape padShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> pads);

/// Whether a dimension has enough elements to be reflected in so many cells.
bool canReflect(int64_t size, int64_t pad);

/// Whether a resize leaves batch and channels as they are. `scales` and `roi`
/// as in tarpon.resize.
bool keepsChannels(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizes,
                   llvm::ArrayRef<double> scales, bool hasRoi);

} // namespace tarpon

#endif // TARPON_PROBLEM_SHAPES_H
