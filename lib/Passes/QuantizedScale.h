//===- QuantizedScale.h - Scales of quantised types -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_QUANTIZEDSCALE_H
#define TARPON_LIB_PASSES_QUANTIZEDSCALE_H

#include <cfloat>
#include <cmath>

namespace tarpon::detail {

/// Returns a scale that the type can hold: a range without extent gets 1.
inline float makeScale(float extent, float steps) {
  float scale = extent / steps;
  return std::isfinite(scale) && scale >= FLT_MIN ? scale : 1.0f;
}

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_QUANTIZEDSCALE_H
