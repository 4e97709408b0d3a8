//===- Thread.h - A thread that may fail to start ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_THREAD_H
#define TARPON_RUNTIME_THREAD_H

#include <functional>
#include <optional>
#include <pthread.h>

namespace tarpon::runtime {

/// A thread that is joined at its end of life. Containers and users have a
/// limit of processes, at which std::thread throws and so ends the program;
/// callers of this one go on without the thread.
class Thread {
public:
  /// Runs `work` on a thread of its own; nothing if the system has none.
  static std::optional<Thread> start(std::function<void()> work);
  ~Thread();
  Thread(Thread &&other) noexcept;
  /// Hands the former thread to `other`, which joins it.
  Thread &operator=(Thread &&other) noexcept {
    handle.swap(other.handle);
    return *this;
  }

  /// Lets the thread live on when this object has gone.
  void detach();

private:
  explicit Thread(pthread_t handle) : handle(handle) {}

  /// None if the thread was detached, or moved to another object.
  std::optional<pthread_t> handle;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_THREAD_H
