//===- ClaimSize.h - How many jobs a worker takes at once -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A claim costs the server as much as the rest of a phase, so that workers
// whose phases are short take several: as many as they do in four seconds, or
// in a fifteenth of the lease. The last jobs of a list may wait so long for a
// worker that has others before them.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_CLAIMSIZE_H
#define TARPON_LIB_FLEET_CLAIMSIZE_H

#include <algorithm>
#include <cstdint>

namespace tarpon::fleet {

/// Not thread-safe.
class ClaimSize {
public:
  explicit ClaimSize(double leaseSeconds)
      : seconds(std::min(4.0, leaseSeconds / 15)) {}

  /// A worker that knows nothing about its jobs has the next one while it does
  /// the first.
  int64_t get() const {
    constexpr double kLeast = 2, kMost = 16;
    return mean > 0
               ? static_cast<int64_t>(std::clamp(seconds / mean, kLeast, kMost))
               : static_cast<int64_t>(kLeast);
  }

  /// Takes the time that a job has taken.
  void note(double jobSeconds) {
    constexpr double kWeight = 0.25, kShortest = 1e-6;
    double time = std::max(jobSeconds, kShortest);
    mean = mean > 0 ? mean + kWeight * (time - mean) : time;
  }

private:
  double seconds;
  /// The exponentially weighted mean; 0 if no job was done yet.
  double mean = 0;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_CLAIMSIZE_H
