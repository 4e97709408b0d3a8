//===- Shapes.cpp - The shapes that operations give -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

std::optional<SmallVector<int64_t>>
tarpon::broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
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
  // One more place hangs over the end, unless it would start in the padding.
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
