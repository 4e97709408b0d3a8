//===- ParallelFor.cpp - Work on several threads --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

void tarpon::parallelFor(size_t count, int threads,
                         llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> workers;
  size_t wanted = std::min(count, static_cast<size_t>(std::max(threads, 1)));
  for (size_t i = 1; i < wanted; ++i)
    workers.emplace_back(run);
  run();
  for (std::thread &worker : workers)
    worker.join();
}
