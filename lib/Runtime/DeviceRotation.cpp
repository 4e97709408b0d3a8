//===- DeviceRotation.cpp - Times runs on rotating buffers ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/DeviceRotation.h"

#include <algorithm>
#include <limits>

namespace tarpon::runtime {

/// Rounds of the warm-up, should times be none.
static constexpr int kMaxWarmupRounds = 1000;

Result<std::unique_ptr<DeviceRotation>>
DeviceRotation::create(std::shared_ptr<Executor> first, int64_t rotateBytes) {
  std::unique_ptr<DeviceRotation> rotation(new DeviceRotation());
  std::vector<std::shared_ptr<Executor>> &executors = rotation->executors;
  int64_t each = std::max<int64_t>(first->workingSetBytes(), 1);
  int64_t count = std::min(rotateBytes / each + 1, kMaxInstances);
  executors.push_back(std::move(first));
  while (static_cast<int64_t>(executors.size()) < count) {
    auto next = executors.front()->replicate();
    if (!next)
      return next.error();
    executors.push_back(std::move(*next));
  }
  if (executors.size() == 1)
    return rotation;
  auto captured = executors.front()->device().capture([&executors] {
    Status status = success();
    for (size_t i = 0; i < executors.size() && status; ++i)
      status = executors[i]->launchAll();
    return status;
  });
  if (!captured)
    return captured.error();
  rotation->round = std::move(*captured);
  return rotation;
}

Status DeviceRotation::enqueue(int runs) {
  Device &device = executors.front()->device();
  Status status = success();
  while (runs > 0 && status) {
    if (round && next == 0 && runs >= countInstances()) {
      status = device.launch(*round);
      runs -= countInstances();
      continue;
    }
    status = executors[next]->enqueue();
    next = (next + 1) % executors.size();
    --runs;
  }
  return status;
}

double DeviceRotation::time(int runs) {
  if (failure) {
    Result<double> milliseconds = executors.front()->device().time(
        [this, runs] { return enqueue(runs); });
    if (milliseconds)
      return *milliseconds;
    failure = milliseconds.error();
  }
  return std::numeric_limits<double>::infinity();
}

void DeviceRotation::warmUp(double milliseconds) {
  double spentMs = 0;
  for (int i = 0; i < kMaxWarmupRounds && spentMs < milliseconds; ++i)
    spentMs += time(i == 0 ? 1 : countInstances());
}

TimedRuns DeviceRotation::getTimed() {
  return {[this](int runs) { return time(runs); }, countInstances(),
          /*prefersRounds=*/true};
}

Result<Timing> measureOnDevice(Instance &instance, int64_t rotateBytes,
                               MeasureOptions options) {
  Result<std::unique_ptr<DeviceRotation>> rotation =
      DeviceRotation::create(instance.shareExecutor(), rotateBytes);
  if (!rotation)
    return rotation.error();
  (*rotation)->warmUp(DeviceRotation::kWarmupMs);
  options.minSampleMs =
      std::max(options.minSampleMs, DeviceRotation::kSampleMs);
  TimedRuns timed = (*rotation)->getTimed();
  Timing timing = std::move(measureInterleaved({&timed, 1}, options).front());
  if (!(*rotation)->getFailure())
    return (*rotation)->getFailure().error();
  return timing;
}

} // namespace tarpon::runtime
