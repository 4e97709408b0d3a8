//===- ClaimSize.h - How many jobs a worker takes at once -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A claim costs the server as much as the rest of a phase, so that workers
// whose phases are short take several: as many as they do in four seconds, or
// in a fifteenth of the lease, if each takes as long as the longest of the last
// eight. Whatever is left of them after twice that time is given back. All
// others take one: a second job would wait for a worker while others are idle,
// and save what a claim costs, a few milliseconds of two seconds or more.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_CLAIMSIZE_H
#define TARPON_LIB_FLEET_CLAIMSIZE_H

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace tarpon::fleet {

/// One for each session. Not thread-safe.
class ClaimSize {
public:
  using Seconds = std::chrono::duration<double>;

  explicit ClaimSize(double leaseSeconds)
      : span(std::min(4.0, leaseSeconds / 15)) {}

  /// A worker that knows little about its jobs takes one.
  int64_t get() const {
    if (times.size() < kTimes)
      return kLeast;
    double jobs = span / std::max(*std::ranges::max_element(times), kShortest);
    return static_cast<int64_t>(
        std::clamp(jobs, static_cast<double>(kLeast), kMost));
  }

  /// Takes the time of a job that has ended well.
  void note(Seconds time) {
    times.push_back(time);
    if (times.size() > kTimes)
      times.pop_front();
  }

  /// Returns true if the job at that position of a claim is to be given back,
  /// so long after the claim.
  bool isLate(size_t position, Seconds time) const {
    return position > 0 && time > 2 * span;
  }

private:
  static constexpr int64_t kLeast = 1;
  static constexpr double kMost = 16;
  static constexpr size_t kTimes = 8;
  static constexpr Seconds kShortest{1e-6};

  Seconds span;
  std::deque<Seconds> times;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_CLAIMSIZE_H
