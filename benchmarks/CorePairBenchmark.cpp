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
// cache line takes from one core to the other (each round takes a quarter of a
// second; 20 rounds). Cores that share a last-level cache pass a line in some
// 30 ns and share its way to the memory; others take 100 ns and more. A virtual
// machine's cores may be moved between the two while it runs, which changes
// what a second thread is worth to a network that reads its weights from
// memory (benchmarks/two-threads).
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBuffer.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace tarpon;
using Clock = std::chrono::steady_clock;

/// Several times any last-level cache that a pair of cores may have.
static constexpr size_t kReadBytes = size_t(256) << 20;
/// Lines passed to and fro, the fastest of so many times.
static constexpr int kPasses = 500;
static constexpr int kRepeats = 20;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static void pinTo(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
}

/// Calls `body` with 0 and with 1, on two cores at once.
template <typename Body>
static void onBothCores(Body body) {
  std::thread other([&] {
    pinTo(1);
    body(1);
  });
  pinTo(0);
  body(0);
  other.join();
}

/// From one core to the other, in nanoseconds.
static double measureLatency() {
  alignas(128) std::atomic<int> turn = 0;
  double shortest = 1;
  onBothCores([&](int self) {
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
static double measureReading(const uint64_t *data, int threads) {
  std::atomic<int> waiting = threads;
  std::atomic<uint64_t> total = 0;
  Clock::time_point start;
  onBothCores([&](int self) {
    if (self >= threads)
      return;
    --waiting;
    while (waiting.load() != 0) {
    }
    if (self == 0)
      start = Clock::now();
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

static void measureRounds(const uint64_t *data, int rounds) {
  // Cores that share a cache pass a line faster than this, others do not.
  constexpr double kNearNanoseconds = 80;
  std::vector<double> ones[2], twos[2];
  for (int round = 0; round < rounds; ++round) {
    double before = measureLatency();
    double one = measureReading(data, 1), two = measureReading(data, 2);
    double after = measureLatency();
    std::printf("%4.0f ns to %4.0f ns  one thread %5.1f GB/s  two %5.1f GB/s\n",
                before, after, one, two);
    std::fflush(stdout);
    bool isFar = before >= kNearNanoseconds;
    if (isFar != (after >= kNearNanoseconds))
      continue; // moved in between
    ones[isFar].push_back(one);
    twos[isFar].push_back(two);
  }
  printBest("one last-level cache", ones[0], twos[0]);
  printBest("one each", ones[1], twos[1]);
}

/// 0 if there is no such number.
static int parseRounds(std::string_view text) {
  int rounds = 0;
  const char *end = text.data() + text.size();
  auto [last, error] = std::from_chars(text.data(), end, rounds);
  return error == std::errc() && last == end ? std::max(rounds, 0) : 0;
}

static int fail(const std::string &why) {
  std::fprintf(stderr, "core-pair-benchmark: %s\n", why.c_str());
  return 1;
}

int main(int argc, char **argv) {
  int rounds = argc < 2 ? 20 : parseRounds(argv[1]);
  if (argc > 2 || rounds == 0)
    return fail("wants a number of rounds, or nothing");
  if (std::thread::hardware_concurrency() < 2)
    return fail("this machine has one core");
  auto buffer = runtime::AlignedBuffer::allocate(kReadBytes);
  if (!buffer)
    return fail(buffer.error().message);
  // Memory that nobody wrote is one page of zeros, which the cache holds.
  std::memset(buffer->data(), 1, kReadBytes);
  measureRounds(reinterpret_cast<const uint64_t *>(buffer->data()), rounds);
  return 0;
}
