//===- MeasurementOrder.h - The measurements that count ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate may have been measured several times, and a problem has many
// candidates. These are the rules by which one of them counts, for journals and
// for every other list of measurements.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_MEASUREMENTORDER_H
#define TARPON_AUTOTUNE_STORE_MEASUREMENTORDER_H

#include "tarpon/Autotune/Store/Journal.h"

#include <cmath>

namespace tarpon {

/// Returns true if something can take that long: times are positive.
inline bool isPossibleTime(double milliseconds) {
  return std::isfinite(milliseconds) && milliseconds > 0;
}

/// Returns true if the measurement can be believed.
inline bool isPossible(const Measurement &m) {
  return m.status != MeasurementStatus::Ok || isPossibleTime(m.median);
}

/// Returns true if a candidate's measurement counts in place of an earlier one:
/// the latest stage counts, and a kernel that was wrong once is never trusted.
inline bool replaces(const Measurement &later, const Measurement &earlier) {
  return later.stage >= earlier.stage || !later.mayBeRight();
}

/// Returns true if `a` wins over `b`, both being right: finalists go before all
/// others.
inline bool wins(const Measurement &a, const Measurement &b) {
  return a.stage > b.stage || (a.stage == b.stage && a.median < b.median);
}

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_MEASUREMENTORDER_H
