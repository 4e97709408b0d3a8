//===- ThreadPool.h - Threads that run the tasks of a launch ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_THREADPOOL_H
#define TARPON_RUNTIME_THREADPOOL_H

#include <cstdint>
#include <memory>

namespace tarpon::runtime {

/// The number of cores that this process may use: those of its affinity, not
/// the machine's, and no more whole ones than the CPU quota of its control
/// group pays for. Threads beyond a quota would be stopped in turn, and spin
/// while they wait for each other. Siblings of a core count as cores. At
/// least 1.
int availableCores();

/// A fixed set of threads for fork-join loops. The caller is thread 0. Workers
/// spin briefly for the next loop and then sleep.
class ThreadPool {
public:
  /// `threads` counts the caller; at least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The number of threads, the caller included: fewer than requested if the
  /// system refused to start more.
  int size() const;

  /// A body that does tasks [begin, end) on thread `thread`.
  using Body = void (*)(void *context, int thread, int64_t begin, int64_t end);

  /// Runs `tasks` tasks and returns when all are done. A thread begins with the
  /// same part of the tasks in every loop, in contiguous ranges, and then helps
  /// the others, so that a slow thread does not delay the loop. One caller at a
  /// time. Allocates nothing.
  void parallelFor(int64_t tasks, Body body, void *context);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_THREADPOOL_H
