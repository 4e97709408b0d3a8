//===- Interruption.cpp - Ends a tuning run with what it has --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interruption.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <unistd.h>

using namespace tarpon;

/// Programs such as timeout(1) send a signal to the process and to its group:
/// what comes within this time is the same one.
static constexpr int64_t kOneSignalNs = 500'000'000;

static std::atomic<bool> isAsked = false;
/// The time of the first signal; 0 before it.
static std::atomic<int64_t> firstNs = 0;
static_assert(std::atomic<int64_t>::is_always_lock_free,
              "a signal handler uses it");

static int64_t getNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// It takes effect when the handler returns.
static void endBy(int signal) {
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

static void handleInterruption(int signal) {
  constexpr std::string_view kText =
      "\ngraph-opt: remark: interrupted: ending with the best plan so far; "
      "once more ends at once\n";
  if (!isAsked)
    return endBy(signal);
  int64_t now = getNs(), first = 0;
  if (!firstNs.compare_exchange_strong(first, now)) {
    if (now - first > kOneSignalNs)
      endBy(signal);
    return;
  }
  int error = errno;
  (void)!write(STDERR_FILENO, kText.data(), kText.size());
  errno = error;
}

/// A signal that is ignored, as in a background job of a script, stays so.
static void handle(int signal) {
  if (std::signal(signal, handleInterruption) == SIG_IGN)
    std::signal(signal, SIG_IGN);
}

const Deadline::Condition &tarpon::catchInterruptions() {
  static const Deadline::Condition condition = [] {
    isAsked = true;
    return firstNs != 0;
  };
  for (int signal : {SIGINT, SIGTERM})
    handle(signal);
  return condition;
}
