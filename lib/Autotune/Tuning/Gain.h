//===- Gain.h - The gain of a tuning run so far -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_GAIN_H
#define TARPON_LIB_AUTOTUNE_TUNING_GAIN_H

#include <string>

namespace tarpon {

/// Describes for the progress line what has been gained since the untuned plan,
/// and what may be: ", 6 % gained, at most 3 % left". `left` is a share of the
/// best time. Empty if there is no untuned plan, or no best one.
std::string describeGain(double untunedMs, double bestMs, double left);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_GAIN_H
