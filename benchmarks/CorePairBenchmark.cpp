//===- CorePairBenchmark.cpp - Two cores and the memory that they share ---===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: core-pair-benchmark [ROUNDS]
//
// How fast one thread reads memory, and how fast two do, next to how long a
// cache line takes from one core to the other: some 30 ns where both share a
// last-level cache, and with it the way to the memory, and 100 ns and more
// where they do not (on the Zen 4 that this was written on, 27 and 140). A
// virtual machine's cores may be moved between the two while it runs, which
// changes what a second thread is worth to a network that reads its weights
// from memory (benchmarks/two-threads). A round takes some 40 ms; 100 rounds.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBuffer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace tarpon;
using Cores = std::array<int, 2>;
using Clock = std::chrono::steady_clock;

/// Much more than a last-level cache holds on most machines.
static constexpr size_t kReadBytes = size_t(256) << 20;
/// Lines passed to and fro, the fastest of so many times.
static constexpr int kPasses = 500;
static constexpr int kRepeats = 20;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The first two cores that this process may run on.
static std::optional<Cores> findCores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return std::nullopt;
  Cores cores;
  size_t count = 0;
  for (int core = 0; core < CPU_SETSIZE && count < cores.size(); ++core)
    if (CPU_ISSET(core, &allowed))
      cores[count++] = core;
  if (count < cores.size())
    return std::nullopt;
  return cores;
}

static void pinTo(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
}

/// Calls `body` with 0 and with 1, on two cores at once.
template <typename Body>
static void onBothCores(Cores cores, Body body) {
  std::thread other([&] {
    pinTo(cores[1]);
    body(1);
  });
  pinTo(cores[0]);
  body(0);
  other.join();
}

/// From one core to the other, in nanoseconds.
static double measureLatency(Cores cores) {
  alignas(128) std::atomic<int> turn = 0;
  double shortest = 1;
  onBothCores(cores, [&](int self) {
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      Clock::time_point start = Clock::now();
      for (int pass = 0; pass < kPasses; ++pass) {
        while (turn.load(std::memory_order_acquire) != self) {
        }
        turn.store(1 - self, std::memory_order_release);
      }
      if (self == 0)
        shortest = std::min(shortest, secondsSince(start) / (2 * kPasses));
    }
  });
  return shortest * 1e9;
}

static uint64_t addUp(const uint64_t *values, size_t count) {
  constexpr size_t kSums = 16;
  uint64_t sums[kSums] = {};
  for (size_t i = 0; i < count; i += kSums)
    for (size_t sum = 0; sum < kSums; ++sum)
      sums[sum] += values[i + sum];
  uint64_t total = 0;
  for (uint64_t sum : sums)
    total += sum;
  return total;
}

/// In GB/s: each of the threads reads its part of the data.
static double measureReading(Cores cores, const uint64_t *data, int threads) {
  std::atomic<int> waiting = threads;
  std::atomic<uint64_t> total = 0;
  Clock::time_point start;
  onBothCores(cores, [&](int self) {
    if (self >= threads)
      return;
    // Before the other may begin, so that nothing is read untimed.
    if (self == 0)
      start = Clock::now();
    --waiting;
    while (waiting.load() != 0) {
    }
    size_t count = kReadBytes / sizeof(uint64_t) / threads;
    total += addUp(data + self * count, count);
  });
  double seconds = secondsSince(start);
  // Uses what was added up, or it need not be.
  return total == 0 ? 0 : static_cast<double>(kReadBytes) / seconds / 1e9;
}

static void printBest(const char *place, const std::vector<double> &ones,
                      const std::vector<double> &twos) {
  if (ones.empty())
    return;
  double one = *std::max_element(ones.begin(), ones.end());
  double two = *std::max_element(twos.begin(), twos.end());
  std::printf("%s: %zu rounds, at most %.1f GB/s for one thread, %.1f for two, "
              "%.2f times as much\n",
              place, ones.size(), one, two, two / one);
}

static void measureRounds(Cores cores, const uint64_t *data, int rounds) {
  // Between what was seen of cores that share a cache and of others.
  constexpr double kNearNanoseconds = 80;
  std::vector<double> ones[2], twos[2];
  int moved = 0;
  for (int round = 0; round < rounds; ++round) {
    double before = measureLatency(cores);
    double one = measureReading(cores, data, 1),
           two = measureReading(cores, data, 2);
    double after = measureLatency(cores);
    std::printf("%4.0f ns to %4.0f ns  one thread %5.1f GB/s  two %5.1f GB/s\n",
                before, after, one, two);
    std::fflush(stdout);
    bool isFar = before >= kNearNanoseconds;
    if (isFar != (after >= kNearNanoseconds)) {
      ++moved;
      continue;
    }
    ones[isFar].push_back(one);
    twos[isFar].push_back(two);
  }
  printBest("one last-level cache", ones[0], twos[0]);
  printBest("one each", ones[1], twos[1]);
  if (moved != 0)
    std::printf("moved in between: %d rounds, not counted\n", moved);
}

/// 0 if there is no such number.
static int parseRounds(std::string_view text) {
  int rounds = 0;
  const char *begin = text.data(), *end = begin + text.size();
  auto [last, error] = std::from_chars(begin, end, rounds);
  return error == std::errc() && last == end ? std::max(rounds, 0) : 0;
}

static int fail(const std::string &why) {
  std::fprintf(stderr, "core-pair-benchmark: %s\n", why.c_str());
  return 1;
}

int main(int argc, char **argv) {
  int rounds = argc < 2 ? 100 : parseRounds(argv[1]);
  if (argc > 2 || rounds == 0)
    return fail("wants a number of rounds, or nothing");
  std::optional<Cores> cores = findCores();
  if (!cores)
    return fail("there are no two cores to run on");
  auto buffer = runtime::AlignedBuffer::allocate(kReadBytes);
  if (!buffer)
    return fail(buffer.error().message);
  // Memory that nobody wrote is one page of zeros, which the cache holds.
  std::memset(buffer->data(), 1, kReadBytes);
  measureRounds(*cores, reinterpret_cast<const uint64_t *>(buffer->data()),
                rounds);
  return 0;
}
