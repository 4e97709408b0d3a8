//===- Shapes.h - The shapes that operations give ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on sizes that needs neither types nor a context: type inference
// and the checks of problem keys share it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_SHAPES_H
#define TARPON_IR_SHAPES_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tarpon {

/// The shape that two shapes broadcast to as in NumPy, or none.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

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

} // namespace tarpon

#endif // TARPON_IR_SHAPES_H
