//===- Sampling.h - How every contestant is timed ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for all contestants of benchmarks/convs, the one in Python included:
// buffers rotate, and a round is as many samples as fit into its time.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_BENCHMARKS_SAMPLING_H
#define TARPON_BENCHMARKS_SAMPLING_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tarpon::benchmarks {

/// As policy::kRotateBytes: none of a core's own caches holds what is read.
inline constexpr int64_t kRotateBytes = 8 << 20;
inline constexpr int64_t kMaxReplicas = 128;

/// How many sets of buffers of `bytes` bytes are used in turn.
inline int64_t countReplicas(int64_t bytes) {
  return std::clamp<int64_t>(kRotateBytes / std::max<int64_t>(bytes, 1) + 1, 1,
                             kMaxReplicas);
}

/// A sample of less time would mostly measure the clock.
inline constexpr double kMinSampleMs = 0.05;
inline constexpr size_t kMinSamples = 2;

/// Milliseconds of one run.
template <typename Run>
double sampleOnce(Run run) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  run();
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// Times `run` for about `roundMs`: two samples at least, each the mean of as
/// many runs as take 50 microseconds. The first run does not count: the caches
/// and the other contestants' threads settle meanwhile.
template <typename Run>
std::vector<double> sampleRound(Run run, double roundMs) {
  using Clock = std::chrono::steady_clock;
  auto timeRuns = [&](int64_t count) {
    Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < count; ++i)
      run();
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  };
  double first = std::max(timeRuns(1), 1e-4);
  auto batch = std::max<int64_t>(
      1, static_cast<int64_t>(std::ceil(kMinSampleMs / first)));
  std::vector<double> samples;
  for (double spent = 0; samples.size() < kMinSamples || spent < roundMs;) {
    double time = timeRuns(batch);
    spent += time;
    samples.push_back(time / static_cast<double>(batch));
  }
  return samples;
}

/// "[0.5, 0.25]".
inline std::string toJson(const std::vector<double> &values) {
  std::string text = "[";
  for (double value : values)
    text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

} // namespace tarpon::benchmarks

#endif // TARPON_BENCHMARKS_SAMPLING_H
