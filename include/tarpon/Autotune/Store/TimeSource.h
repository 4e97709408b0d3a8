//===- TimeSource.h - The sources of times ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_TIMESOURCE_H
#define TARPON_AUTOTUNE_STORE_TIMESOURCE_H

#include <cstdint>

namespace tarpon {

/// The source of the time of a candidate, or of a whole model.
enum class TimeSource : uint8_t {
  Measured, ///< it ran, and its results were compared
  Modelled  ///< a model of the target expects it: nobody has run it
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_TIMESOURCE_H
