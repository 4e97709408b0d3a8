//===- Histogram.h - The distribution of a tensor's values ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_HISTOGRAM_H
#define TARPON_LIB_AUTOTUNE_CHOICE_HISTOGRAM_H

#include "tarpon/Autotune/Choice/RangeMethod.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tarpon {

/// The range of a tensor. As that of a type, it is extended to hold 0.
struct Bounds {
  float lo = 0, hi = 0;
};

/// Counts values between two bounds in bins of equal width.
class Histogram {
public:
  /// All values that are added must lie between the bounds.
  Histogram(float lo, float hi);

  void add(float value);

  /// Returns the range by a method, within the bounds.
  Bounds getRange(RangeMethod method) const;
  /// Returns the mean squared error of values that are stored in 8 bits of such
  /// a range.
  double getError(Bounds range) const;

private:
  Bounds getPercentile() const;
  Bounds getLeastError() const;
  Bounds getLeastEntropy() const;
  double getCenter(int64_t bin) const;
  std::vector<int64_t> countMagnitudes() const;

  float lo, hi;
  std::vector<int64_t> counts;
  /// Zeros are many behind rectifiers, exact in every range, and in no bin.
  int64_t zeros = 0, total = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_HISTOGRAM_H
