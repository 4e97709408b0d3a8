//===- ThreadPool.cpp - Threads that run the tasks of a launch --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller opens a loop, workers that are awake join it, and the caller
// closes it when all tasks are distributed. The caller then waits only for the
// workers that joined: one that wakes up late costs nothing.
//
// Every thread begins with a share of its own, the same part of the tasks in
// every loop: often the thread itself wrote its input in the previous loop and
// has it in its cache. A thread that has finished takes tasks from the ends of
// the others' shares.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/ThreadPool.h"

#include "CpuQuota.h"
#include "FloatControl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <limits>
#include <linux/futex.h>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tarpon::runtime {

/// The time for which a thread spins before it sleeps: longer than the gap
/// between two launches of a model, too short to be noticed.
static constexpr std::chrono::microseconds kSpinTime(200);

static void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `ready` holds or the spin time is over; returns true if it
/// holds.
template <typename Predicate>
static bool spinUntil(const Predicate &ready, bool maySpin) {
  if (ready())
    return true;
  if (!maySpin)
    return false;
  auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready())
        return true;
      pauseBriefly();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

namespace {

/// Lets threads sleep until a condition on other sequentially consistent
/// atomics holds. The notifier makes the condition true first and makes a
/// system call only if somebody sleeps.
class Gate {
public:
  template <typename Predicate>
  void wait(const Predicate &ready) {
    sleepers.fetch_add(1);
    while (true) {
      uint32_t seen = word.load();
      if (ready())
        break;
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    }
    sleepers.fetch_sub(1);
  }

  void notify() {
    if (sleepers.load() == 0)
      return;
    word.fetch_add(1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

private:
  std::atomic<uint32_t> word = 0;
  std::atomic<uint32_t> sleepers = 0;
};

/// A range of tasks: its owner takes from the front, others from the back.
class alignas(64) Share {
public:
  void set(uint32_t begin, uint32_t end) {
    range.store(pack(begin, end), std::memory_order_relaxed);
  }

  /// Takes half of the remaining tasks, so that ranges are long at first and
  /// short at the end, where they determine the wait for the last thread.
  bool take(bool fromFront, int64_t &begin, int64_t &end) {
    uint64_t seen = range.load(std::memory_order_relaxed), rest;
    do {
      auto first = static_cast<uint32_t>(seen);
      auto last = static_cast<uint32_t>(seen >> 32);
      if (first >= last)
        return false;
      uint32_t count = std::max<uint32_t>(1, (last - first) / 2);
      begin = fromFront ? first : last - count;
      end = begin + count;
      rest = fromFront ? pack(first + count, last) : pack(first, last - count);
    } while (
        !range.compare_exchange_weak(seen, rest, std::memory_order_relaxed));
    return true;
  }

private:
  static uint64_t pack(uint32_t begin, uint32_t end) {
    return begin | uint64_t(end) << 32;
  }
  std::atomic<uint64_t> range = 0;
};

/// Counts the forks between this process and the one that started the program's
/// first pool. A child of fork() has none of its parent's threads.
class ForkCount {
public:
  static int get() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
      count.fetch_add(1, std::memory_order_relaxed);
    });
    (void)registered;
    return count.load(std::memory_order_relaxed);
  }

private:
  static inline std::atomic<int> count = 0;
};

struct Worker {
  ThreadPool *pool;
  pthread_t handle;
  int thread;
};

} // namespace

// `control` holds the number of workers inside the loop, whether it is open for
// more, and its number.
static constexpr uint64_t kActiveMask = 0xffffffff;
static constexpr uint64_t kOpenBit = uint64_t(1) << 32;
static constexpr uint64_t kLoopUnit = uint64_t(1) << 33;

static bool isOpen(uint64_t control) { return control & kOpenBit; }
static uint64_t loopNumber(uint64_t control) { return control / kLoopUnit; }

struct ThreadPool::State {
  // Each hot word has a cache line of its own.
  alignas(64) std::atomic<uint64_t> control = 0;
  alignas(64) Gate loopOpened;
  Gate workersLeft;
  std::atomic<bool> stopping = false;

  // The loop. Written before it opens, and read by the threads that joined it.
  std::vector<Share> shares;
  int64_t tasks = 0;
  /// The number of tasks that are distributed as one, if there are more than 32
  /// bits can count.
  int64_t unit = 1;
  Body body = nullptr;
  void *context = nullptr;
  /// The caller's, so that results do not depend on who takes a task.
  FloatControl floats = FloatControl::get();

  int threads = 1;
  bool maySpin = true;
  std::vector<Worker> workers;
  int forks = ForkCount::get();

  bool hasWorkers() const {
    return !workers.empty() && forks == ForkCount::get();
  }
  void share(int64_t count);
  void work(int thread);
  bool tryJoin(uint64_t &lastLoop);
  void leave();
  void workerMain(int thread);
};

/// Gives every thread its share of the tasks.
void ThreadPool::State::share(int64_t count) {
  constexpr int64_t kMostUnits = int64_t(1) << 31;
  tasks = count;
  unit = (count - 1) / kMostUnits + 1;
  int64_t units = (count - 1) / unit + 1;
  auto number = static_cast<int64_t>(shares.size());
  for (int64_t i = 0; i < number; ++i)
    shares[static_cast<size_t>(i)].set(
        static_cast<uint32_t>(units * i / number),
        static_cast<uint32_t>(units * (i + 1) / number));
}

void ThreadPool::State::work(int thread) {
  size_t own = static_cast<size_t>(thread);
  for (size_t i = 0; i < shares.size(); ++i) {
    Share &share = shares[(own + i) % shares.size()];
    int64_t begin, end;
    while (share.take(/*fromFront=*/i == 0, begin, end))
      body(context, thread, begin * unit, std::min(end * unit, tasks));
  }
}

/// Joins the open loop unless this worker was in it before. A stale value of
/// `control` only makes the exchange fail.
bool ThreadPool::State::tryJoin(uint64_t &lastLoop) {
  uint64_t seen = control.load();
  while (isOpen(seen) && loopNumber(seen) != lastLoop) {
    if (!control.compare_exchange_weak(seen, seen + 1))
      continue;
    lastLoop = loopNumber(seen);
    return true;
  }
  return false;
}

void ThreadPool::State::leave() {
  uint64_t before = control.fetch_sub(1);
  if (!isOpen(before) && (before & kActiveMask) == 1)
    workersLeft.notify();
}

void ThreadPool::State::workerMain(int thread) {
  uint64_t lastLoop = 0;
  auto somethingToDo = [&] {
    uint64_t seen = control.load();
    return stopping.load() || (isOpen(seen) && loopNumber(seen) != lastLoop);
  };
  while (true) {
    if (!spinUntil(somethingToDo, maySpin))
      loopOpened.wait(somethingToDo);
    if (stopping.load())
      return;
    if (!tryJoin(lastLoop))
      continue;
    floats.apply();
    work(thread);
    leave();
  }
}

/// Counts the cores of the affinity mask.
static int countAllowedCores() {
  // A machine may have more cores than cpu_set_t has bits.
  for (size_t cores = 1024; cores <= (1u << 20); cores *= 2) {
    cpu_set_t *set = CPU_ALLOC(cores);
    size_t bytes = CPU_ALLOC_SIZE(cores);
    bool known = set && sched_getaffinity(0, bytes, set) == 0;
    int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return count;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

int availableCores() {
  // A container's quota is read once: it seldom changes, and an executor asks
  // for every model.
  static const std::optional<int> quota = CpuQuota().count();
  return std::min(countAllowedCores(),
                  quota.value_or(std::numeric_limits<int>::max()));
}

ThreadPool::ThreadPool(int threads) : state(std::make_unique<State>()) {
  state->threads = std::max(1, threads);
  // With more threads than cores, a spinning thread would delay a working one.
  state->maySpin = state->threads <= availableCores();
  state->workers.reserve(static_cast<size_t>(state->threads));
  for (int thread = 1; thread < state->threads; ++thread) {
    Worker &worker = state->workers.emplace_back(Worker{this, {}, thread});
    auto entry = [](void *argument) -> void * {
      auto *self = static_cast<Worker *>(argument);
      self->pool->state->workerMain(self->thread);
      return nullptr;
    };
    if (pthread_create(&worker.handle, nullptr, entry, &worker) == 0)
      continue;
    // The system has no more threads: use those that exist.
    state->workers.pop_back();
    break;
  }
  state->shares = std::vector<Share>(state->workers.size() + 1);
}

ThreadPool::~ThreadPool() {
  if (!state->hasWorkers())
    return;
  state->stopping.store(true);
  state->loopOpened.notify();
  for (Worker &worker : state->workers)
    pthread_join(worker.handle, nullptr);
}

int ThreadPool::size() const {
  return static_cast<int>(state->workers.size()) + 1;
}

void ThreadPool::parallelFor(int64_t tasks, Body body, void *context) {
  if (tasks <= 0)
    return;
  if (tasks == 1 || !state->hasWorkers())
    return body(context, 0, 0, tasks);

  State &pool = *state;
  pool.share(tasks);
  pool.body = body;
  pool.context = context;
  pool.floats = FloatControl::get();
  // No worker is inside the loop, so that only this thread changes the word.
  uint64_t closed = pool.control.load(std::memory_order_relaxed) + kLoopUnit;
  pool.control.store(closed | kOpenBit);
  pool.loopOpened.notify();

  pool.work(0);

  pool.control.fetch_and(~kOpenBit);
  auto allLeft = [&] { return (pool.control.load() & kActiveMask) == 0; };
  if (!spinUntil(allLeft, pool.maySpin))
    pool.workersLeft.wait(allLeft);
}

} // namespace tarpon::runtime
