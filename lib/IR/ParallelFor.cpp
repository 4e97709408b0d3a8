//===- ParallelFor.cpp - Work on several threads --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ParallelFor.h"

#include "tarpon/Runtime/Thread.h"

#include <algorithm>
#include <atomic>
#include <vector>

using namespace tarpon;

void tarpon::parallelFor(size_t count, int threads,
                         llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t i = next++; i < count; i = next++)
      work(i);
  };
  // Their destructors wait for them.
  std::vector<runtime::Thread> workers;
  size_t wanted = std::min(count, static_cast<size_t>(std::max(threads, 1)));
  while (workers.size() + 1 < wanted) {
    std::optional<runtime::Thread> worker = runtime::Thread::start(run);
    if (!worker)
      break;
    workers.push_back(std::move(*worker));
  }
  run();
}
