//===- ParallelForTest.cpp - Tests of work on several threads -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ParallelFor.h"

#include "FailingThreads.h"

#include "gtest/gtest.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace tarpon;
using tarpon::test::FailingThreads;

TEST(ParallelFor, CallsEachOnce) {
  for (int threads : {-1, 0, 1, 2, 7})
    for (size_t count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> calls(count);
      parallelFor(count, threads, [&](size_t i) { ++calls[i]; });
      for (const std::atomic<int> &number : calls)
        EXPECT_EQ(number, 1);
    }
}

/// At the limit of a container's processes, the caller does what is left.
TEST(ParallelFor, GoesOnWithFewerThreads) {
  for (int started : {0, 1, 3}) {
    FailingThreads faults(started);
    std::vector<std::atomic<int>> calls(100);
    parallelFor(calls.size(), 7, [&](size_t i) { ++calls[i]; });
    for (const std::atomic<int> &number : calls)
      EXPECT_EQ(number, 1);
    EXPECT_EQ(FailingThreads::countRefused(), 1);
  }
}

TEST(ParallelFor, UsesNoMoreThreadsThanAsked) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallelFor(100, 3, [&](size_t) {
    std::lock_guard<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 3u);
  seen.clear();
  parallelFor(10, 1, [&](size_t) { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
}
