//===- WorkerPool.h - Work that may crash or hang ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_WORKERPOOL_H
#define TARPON_TEST_UNIT_KERNELS_WORKERPOOL_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace tarpon::test {

/// The answer to one item of work.
struct WorkResult {
  std::string text;
  /// True if the process is of no further use: a GPU's context ends with the
  /// first kernel that faults.
  bool endsProcess = false;
};

/// Processes that work on numbered items, so that an item which crashes or
/// hangs ends alone. They are forked: the caller must have no other threads.
class WorkerPool {
public:
  /// Does one item.
  using Work = std::function<WorkResult(size_t item)>;

  /// With no processes, the work is done by the caller, for debuggers.
  WorkerPool(size_t processes, std::chrono::milliseconds timeLimit)
      : processes(processes), timeLimit(timeLimit) {}

  /// Does all items. Each process calls `makeWork` once. `report` is called for
  /// each item, in the order in which they end, with the text of its result, or
  /// with a clause that begins with kDied.
  void run(size_t items, const std::function<Work()> &makeWork,
           const std::function<void(size_t item, const std::string &text)>
               &report) const;

  static constexpr const char *kDied = "its process ";

private:
  size_t processes;
  std::chrono::milliseconds timeLimit;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_WORKERPOOL_H
