//===- DeviceRotation.h - Times runs on rotating buffers --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_DEVICEROTATION_H
#define TARPON_RUNTIME_DEVICEROTATION_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tarpon::runtime {

/// An executor on a device and replicas of it, which run in turn: so many that
/// the device's caches hold none of them. A round of all is one graph, since
/// queueing a graph takes the host as long as small kernels run.
class DeviceRotation {
public:
  /// `first` must have run, so that its inputs are on the device. The instances
  /// exceed `rotateBytes` together, unless these are more than kMaxInstances.
  static Result<std::unique_ptr<DeviceRotation>>
  create(std::shared_ptr<Executor> first, int64_t rotateBytes);

  Executor &getFirst() { return *executors.front(); }
  int countInstances() const { return static_cast<int>(executors.size()); }

  /// Runs until the device has worked for so long, so that its clocks are up.
  void warmUp(double milliseconds);
  /// The runs to be measured. They refer to this object.
  TimedRuns getTimed();
  /// The failure of the first timed run that failed; times are infinite from
  /// then on.
  const Status &getFailure() const { return failure; }

  static constexpr int64_t kMaxInstances = 64;
  /// The length of a sample, so that queueing its first launch does not count;
  /// and the work that precedes a candidate's samples and after which the
  /// clocks are up, which are low while the host verifies and compiles.
  static constexpr double kSampleMs = 0.5;
  static constexpr double kWarmupMs = 30;

private:
  DeviceRotation() = default;
  double time(int runs);
  Status enqueue(int runs);

  std::vector<std::shared_ptr<Executor>> executors;
  /// One run of each; null if there is one only.
  std::unique_ptr<DeviceGraph> round;
  size_t next = 0;
  Status failure = success();
};

/// Times an instance that has run on a device, after a warm-up. Samples are at
/// least as long as DeviceRotation::kSampleMs.
Result<Timing> measureOnDevice(Instance &instance, int64_t rotateBytes,
                               MeasureOptions options);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_DEVICEROTATION_H
