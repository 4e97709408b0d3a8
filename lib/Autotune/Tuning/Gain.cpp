//===- Gain.cpp - The gain of a tuning run so far -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Gain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

std::string tarpon::describeGain(double untunedMs, double bestMs, double left) {
  if (!(untunedMs > 0) || !std::isfinite(bestMs))
    return "";
  char text[64];
  std::snprintf(text, sizeof text, ", %.0f %% gained, at most %.0f %% left",
                100 * std::max(0.0, 1 - bestMs / untunedMs),
                100 * std::max(0.0, left));
  return text;
}
