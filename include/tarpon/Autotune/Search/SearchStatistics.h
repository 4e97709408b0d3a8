//===- SearchStatistics.h - What a search has done --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_SEARCHSTATISTICS_H
#define TARPON_AUTOTUNE_SEARCH_SEARCHSTATISTICS_H

#include <cstdint>

namespace tarpon {

/// Counts of all searches of a run so far.
struct SearchStatistics {
  int64_t measured = 0, reused = 0, rejected = 0, problems = 0;
  /// Of those that were measured: after a few samples, which were too slow.
  int64_t dropped = 0;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_SEARCHSTATISTICS_H
