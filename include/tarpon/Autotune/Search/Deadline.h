//===- Deadline.h - The end of a tuning run ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_DEADLINE_H
#define TARPON_AUTOTUNE_SEARCH_DEADLINE_H

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

namespace tarpon {

/// A point in time that covers a whole tuning run (--tuning-time), or none.
class Deadline {
public:
  using Clock = std::chrono::steady_clock;
  using Condition = std::function<bool()>;

  static Deadline never() { return Deadline(Clock::time_point::max()); }

  /// `seconds` from now; no deadline if the time is too far away to be
  /// represented.
  static Deadline after(double seconds) {
    constexpr double kYear = 365.0 * 24 * 3600;
    if (!(seconds < kYear))
      return never();
    auto span = std::chrono::duration<double>(std::max(seconds, 0.0));
    return Deadline(Clock::now() +
                    std::chrono::duration_cast<Clock::duration>(span));
  }

  /// This deadline, or the moment from which on a condition holds, which is
  /// asked often, has to outlive the deadline, and takes the place of another.
  Deadline orWhen(const Condition &condition) const {
    Deadline sooner = *this;
    sooner.condition = &condition;
    return sooner;
  }

  bool isBounded() const { return end != Clock::time_point::max(); }
  bool isOver() const {
    return (isBounded() && Clock::now() >= end) ||
           (condition && (*condition)());
  }

  /// Never negative; infinite without a bound, until the condition holds.
  double remainingSeconds() const {
    if (condition && (*condition)())
      return 0;
    if (!isBounded())
      return std::numeric_limits<double>::infinity();
    return std::max(0.0,
                    std::chrono::duration<double>(end - Clock::now()).count());
  }

  /// This deadline, or `seconds` from now if that is sooner.
  Deadline within(double seconds) const {
    Deadline sooner = *this;
    sooner.end = std::min(end, after(seconds).end);
    return sooner;
  }

  /// The deadline for a part of the work: after `fraction` of what is left of
  /// this one.
  Deadline part(double fraction) const {
    Deadline sooner = *this;
    if (isBounded())
      sooner.end = after(remainingSeconds() * fraction).end;
    return sooner;
  }

private:
  explicit Deadline(Clock::time_point end) : end(end) {}
  Clock::time_point end;
  const Condition *condition = nullptr;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_DEADLINE_H
