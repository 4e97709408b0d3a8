//===- SearchStatistics.h - Counters of searches ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SEARCHSTATISTICS_H
#define TARPON_AUTOTUNE_SEARCH_SEARCHSTATISTICS_H

#include <cstdint>

namespace tarpon {

/// Counters of all searches of a run so far.
struct SearchStatistics {
  int64_t measured = 0, reused = 0, rejected = 0, problems = 0;
  /// Measured candidates that were dropped after a few samples as too slow.
  int64_t dropped = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SEARCHSTATISTICS_H
