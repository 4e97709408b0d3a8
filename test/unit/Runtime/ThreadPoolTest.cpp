//===- ThreadPoolTest.cpp - Tests of the thread pool ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/ThreadPool.h"

#include <atomic>
#include <cfenv>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tarpon::runtime;

namespace {

/// Counts how often each task was done, and by whom.
struct Record {
  Record(int64_t tasks, int threads)
      : visits(static_cast<size_t>(tasks)),
        tasksOf(static_cast<size_t>(threads)) {}

  static void body(void *context, int thread, int64_t begin, int64_t end) {
    auto *record = static_cast<Record *>(context);
    record->tasksOf[static_cast<size_t>(thread)] += end - begin;
    // Plain increments: a data race here is what a sanitizer should see.
    for (int64_t task = begin; task < end; ++task)
      ++record->visits[static_cast<size_t>(task)];
  }

  std::vector<int> visits;
  std::vector<int64_t> tasksOf;
};

} // namespace

TEST(ThreadPoolTest, EveryTaskIsDoneOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t tasks : {0, 1, 2, 3, 7, 100, 4097}) {
      Record record(tasks, threads);
      pool.parallelFor(tasks, Record::body, &record);
      EXPECT_EQ(record.visits, std::vector<int>(size_t(tasks), 1));
      int64_t total = 0;
      for (int64_t share : record.tasksOf)
        total += share;
      EXPECT_EQ(total, tasks);
    }
  }
}

TEST(ThreadPoolTest, SurvivesManyShortLoops) {
  for (int threads : {2, 5}) {
    ThreadPool pool(threads);
    Record record(13, threads);
    constexpr int kLoops = 20000;
    for (int loop = 0; loop < kLoops; ++loop)
      pool.parallelFor(13, Record::body, &record);
    EXPECT_EQ(record.visits, std::vector<int>(13, kLoops));
  }
}

TEST(ThreadPoolTest, WakesUpSleepingWorkers) {
  ThreadPool pool(2);
  Record record(64, 2);
  for (int loop = 0; loop < 50; ++loop) {
    // Longer than a worker spins.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pool.parallelFor(64, Record::body, &record);
  }
  EXPECT_EQ(record.visits, std::vector<int>(64, 50));
}

TEST(ThreadPoolTest, WorkIsShared) {
  ThreadPool pool(2);
  struct Context {
    std::atomic<int> arrived = 0;
    std::atomic<bool> together = false;
  } context;
  // Each of two tasks waits for the other, which takes two threads.
  auto meet = [](void *opaque, int, int64_t begin, int64_t end) {
    auto *context = static_cast<Context *>(opaque);
    context->arrived += static_cast<int>(end - begin);
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (context->arrived < 2 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    context->together = context->arrived == 2;
  };
  pool.parallelFor(2, meet, &context);
  EXPECT_TRUE(context.together);
}

TEST(ThreadPoolTest, AThreadBeginsWithTheSameTasks) {
  ThreadPool pool(2);
  struct Context {
    std::atomic<int64_t> arrived = 0;
    std::atomic<int> threads[2] = {-1, -1};
  } context;
  // No thread is done, and could help another, before both have begun.
  auto body = [](void *opaque, int thread, int64_t begin, int64_t end) {
    auto *context = static_cast<Context *>(opaque);
    for (int64_t task = begin; task < end; ++task)
      context->threads[task] = thread;
    context->arrived += end - begin;
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (context->arrived < 2 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
  };
  for (int loop = 0; loop < 50; ++loop) {
    context.arrived = 0;
    pool.parallelFor(2, body, &context);
    ASSERT_EQ(context.threads[0], 0) << loop;
    ASSERT_EQ(context.threads[1], 1) << loop;
  }
}

TEST(ThreadPoolTest, TakesMoreTasksThanFitInto32Bits) {
  ThreadPool pool(2);
  constexpr int64_t kTasks = (int64_t(1) << 33) + 7;
  struct Context {
    std::atomic<int64_t> done = 0, last = 0;
  } context;
  auto body = [](void *opaque, int, int64_t begin, int64_t end) {
    auto *context = static_cast<Context *>(opaque);
    context->done += end - begin;
    int64_t last = context->last;
    while (last < end && !context->last.compare_exchange_weak(last, end)) {
    }
  };
  pool.parallelFor(kTasks, body, &context);
  EXPECT_EQ(context.done, kTasks);
  EXPECT_EQ(context.last, kTasks);
}

TEST(ThreadPoolTest, ASlowTaskDoesNotHoldUpTheRest) {
  ThreadPool pool(2);
  struct Context {
    std::atomic<int64_t> done = 0;
    std::atomic<bool> gaveUp = false;
  } context;
  auto body = [](void *opaque, int, int64_t begin, int64_t end) {
    auto *context = static_cast<Context *>(opaque);
    context->done += end - begin;
    if (begin != 0)
      return;
    // The thread with the first range waits for all that is not in it.
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (context->done < 1000 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    context->gaveUp = context->done < 1000;
  };
  pool.parallelFor(1000, body, &context);
  EXPECT_FALSE(context.gaveUp);
  EXPECT_EQ(context.done, 1000);
}

/// The caller may have other control of floats than when the pool began; bits
/// of results must not depend on who takes a task.
TEST(ThreadPoolTest, AllThreadsRoundAsTheCallerDoes) {
  ThreadPool pool(2);
  struct Context {
    std::atomic<int64_t> arrived = 0;
    float thirds[2] = {};
  };
  auto body = [](void *opaque, int, int64_t begin, int64_t end) {
    auto *context = static_cast<Context *>(opaque);
    volatile float one = 1, three = 3;
    for (int64_t task = begin; task < end; ++task)
      context->thirds[task] = one / three;
    // Each thread has one of the tasks.
    context->arrived += end - begin;
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (context->arrived < 2 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
  };
  int before = std::fegetround();
  for (int mode : {FE_UPWARD, FE_TOWARDZERO, before}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    Context context;
    pool.parallelFor(2, body, &context);
    std::fesetround(before);
    EXPECT_EQ(context.thirds[0], context.thirds[1]) << mode;
  }
}

/// A child of fork() has the pool, and none of its threads.
TEST(ThreadPoolTest, WorksInAForkedChild) {
  auto pool = std::make_unique<ThreadPool>(3);
  Record record(64, 3);
  pool->parallelFor(64, Record::body, &record);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    pool->parallelFor(64, Record::body, &record);
    bool isDone = record.visits == std::vector<int>(64, 2);
    pool.reset();
    _exit(isDone ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  pool->parallelFor(64, Record::body, &record);
  EXPECT_EQ(record.visits, std::vector<int>(64, 2));
}

TEST(ThreadPoolTest, AtLeastOneThread) {
  EXPECT_EQ(ThreadPool(0).size(), 1);
  EXPECT_EQ(ThreadPool(-4).size(), 1);
}

TEST(ThreadPoolTest, CountsTheCoresOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(availableCores(), CPU_COUNT(&before));
  int core = 0;
  while (!CPU_ISSET(core, &before))
    ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(availableCores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}
