//===- Axis.h - Axes of plots ----------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PAGE_AXIS_H
#define TARPON_PAGE_AXIS_H

#include "tarpon/Page/Svg.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace tarpon::page {

/// An axis for values that are at least 0.
struct Axis {
  double low = 0, high = 1;
  bool isLogarithmic = false;
  /// The part in front of a logarithmic axis at whose beginning 0 is; 0 if it
  /// has no place for that.
  double zeroPart = 0;
  /// Values that are marked.
  std::vector<double> ticks = {0};

  /// Returns the part of the axis in front of a value, 0 to 1. Values outside
  /// are at the ends.
  double getPosition(double value) const;
};

/// Makes an axis that all finite values are on: a logarithmic one where the
/// largest is ten times the least that is not 0.
Axis makeAxis(llvm::ArrayRef<double> values);

/// Prints the ticks of an axis that goes from left to right along the lower
/// side of `area`, with lines across it.
void printHorizontalAxis(const Axis &axis, const Box &area,
                         llvm::raw_ostream &os);

/// Prints the ticks of an axis that goes up along the left side of `area`.
void printVerticalAxis(const Axis &axis, const Box &area,
                       llvm::raw_ostream &os);

/// Prints a number in at most four digits: "0.125", "1e-07".
std::string showNumber(double value);

} // namespace tarpon::page

#endif // TARPON_PAGE_AXIS_H
