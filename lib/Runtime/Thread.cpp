//===- Thread.cpp - A thread that may fail to start -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Thread.h"

#include <memory>
#include <utility>

namespace tarpon::runtime {

using Work = std::function<void()>;

static void *runWork(void *argument) {
  std::unique_ptr<Work> work(static_cast<Work *>(argument));
  (*work)();
  return nullptr;
}

std::optional<Thread> Thread::start(Work work) {
  auto owned = std::make_unique<Work>(std::move(work));
  pthread_t handle;
  if (pthread_create(&handle, nullptr, runWork, owned.get()) != 0)
    return std::nullopt;
  // The thread deletes it.
  (void)owned.release();
  return Thread(handle);
}

Thread::Thread(Thread &&other) noexcept
    : handle(std::exchange(other.handle, std::nullopt)) {}

Thread::~Thread() {
  if (handle)
    pthread_join(*handle, nullptr);
}

void Thread::detach() {
  pthread_detach(*handle);
  handle.reset();
}

} // namespace tarpon::runtime
