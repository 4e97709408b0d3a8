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
#include <ctime>
#include <string_view>
#include <unistd.h>

using namespace tarpon;

/// Programs such as timeout(1) send a signal to the process and to its group:
/// what comes so soon is the same one.
static constexpr time_t kSecondsOfOneSignal = 1;

static std::atomic<bool> isAsked = false, wasInterrupted = false;
static std::atomic<time_t> firstSeconds = 0;
static_assert(std::atomic<bool>::is_always_lock_free &&
                  std::atomic<time_t>::is_always_lock_free,
              "a signal handler uses them");

static time_t getSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
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
  if (wasInterrupted.exchange(true)) {
    if (getSeconds() - firstSeconds > kSecondsOfOneSignal)
      endBy(signal);
    return;
  }
  firstSeconds = getSeconds();
  int error = errno;
  (void)!write(STDERR_FILENO, kText.data(), kText.size());
  errno = error;
}

const Deadline::Condition &tarpon::catchInterruptions() {
  static const Deadline::Condition condition = [] {
    isAsked = true;
    return wasInterrupted.load();
  };
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, handleInterruption);
  return condition;
}
