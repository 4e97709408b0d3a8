//===- Measure.cpp - Measures how long a package takes ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Measure.h"

#include "tarpon/Runtime/Device.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tarpon::runtime {

static constexpr size_t kMaxInstances = 4096;

/// The largest number of samples: more add no information, and all of them are
/// kept.
static constexpr int kMaxSamples = 200;
/// The factor by which a first run, with cold caches and TLBs, is slower than
/// later ones at most.
static constexpr double kColdFactor = 4;
/// Racing: runs shorter than another process's time slice may be delayed by a
/// multiple of their time (one candidate of 0.05 ms once took 4.2 ms), and all
/// runs within the following millisecond are delayed alike.
static constexpr double kTimeSliceMs = 5;
static constexpr double kRaceSpanMs = 1;
static constexpr size_t kRaceSamples = 3;

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

static Status checkInput(const TensorInfo &info, const HostTensor &tensor) {
  if (tensor.dtype == info.dtype && tensor.shape == info.shape)
    return success();
  return Error{"input '" + info.name + "' is " + shapeToString(info.shape) +
               " of " + std::string(dtypeName(info.dtype)) + ", but got " +
               shapeToString(tensor.shape) + " of " +
               std::string(dtypeName(tensor.dtype))};
}

Result<Instance> Instance::create(std::unique_ptr<Executor> executor,
                                  std::vector<HostTensor> inputs) {
  const Package &package = executor->package();
  if (inputs.size() != package.inputs.size())
    return Error{"model '" + package.modelName + "' has " +
                 std::to_string(package.inputs.size()) + " inputs, but got " +
                 std::to_string(inputs.size())};
  for (size_t index = 0; index < inputs.size(); ++index)
    if (Status status = checkInput(package.inputs[index], inputs[index]);
        !status)
      return status.error();
  Result<std::vector<HostTensor>> outputs = makeOutputs(package);
  if (!outputs)
    return outputs.error();

  Instance instance;
  instance.runner = std::move(executor);
  instance.inputTensors = std::move(inputs);
  instance.outputTensors = std::move(*outputs);
  for (HostTensor &tensor : instance.inputTensors)
    instance.inputPointers.push_back(tensor.data.data());
  for (HostTensor &tensor : instance.outputTensors)
    instance.outputPointers.push_back(tensor.data.data());
  return instance;
}

Result<Instance> Instance::create(Package package, Device &device,
                                  std::vector<HostTensor> inputs,
                                  ExecutorOptions options) {
  options.paddedBuffers = true;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(package), device, options);
  if (!executor)
    return executor.error();
  return create(std::move(*executor), std::move(inputs));
}

Result<Instance> Instance::replicate() const {
  Result<std::unique_ptr<Executor>> copy = runner->replicate();
  if (!copy)
    return copy.error();
  Result<std::vector<HostTensor>> inputs = cloneAll(inputTensors);
  if (!inputs)
    return inputs.error();
  return create(std::move(*copy), std::move(*inputs));
}

Status Instance::run() {
  hasRun = true;
  return runner->run(inputPointers, outputPointers);
}

Status Instance::runProfiled(std::vector<int64_t> &layerNanoseconds) {
  hasRun = true;
  return runner->runProfiled(inputPointers, outputPointers, layerNanoseconds);
}

Status Instance::enqueue() { return hasRun ? runner->enqueue() : run(); }

Result<std::vector<Instance>> makeRotation(Instance first,
                                           int64_t rotateBytes) {
  int64_t each = std::max<int64_t>(first.executor().workingSetBytes(), 1);
  std::vector<Instance> instances;
  instances.push_back(std::move(first));
  if (rotateBytes <= 0)
    return instances;
  auto wanted = static_cast<size_t>(rotateBytes / each + 1);
  wanted = std::min(wanted, kMaxInstances);
  while (instances.size() < wanted) {
    Result<Instance> next = instances.front().replicate();
    if (!next)
      return next.error();
    instances.push_back(std::move(*next));
  }
  return instances;
}

bool hasColdConstants(const Executor &executor, const MeasureOptions &options) {
  return options.coldConstantBytes > 0 &&
         executor.constantBytes() >= options.coldConstantBytes;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double rootMeanSquare(const std::vector<double> &values) {
  double squares = 0;
  for (double value : values)
    squares += value * value;
  return values.empty()
             ? 0
             : std::sqrt(squares / static_cast<double>(values.size()));
}

Timing summarize(std::vector<double> samplesMs) {
  Timing result;
  result.medianMs = median(samplesMs);
  std::vector<double> deviations;
  deviations.reserve(samplesMs.size());
  for (double sample : samplesMs)
    deviations.push_back(std::abs(sample - result.medianMs));
  result.madMs = median(std::move(deviations));
  result.samplesMs = std::move(samplesMs);
  return result;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

double getRaceMargin(int samples) {
  return samples <= 1   ? 2.0
         : samples == 2 ? 1.5
         : samples == 3 ? 1.25
         : samples < 8  ? 1.15
                        : 1.1;
}

namespace {

/// The samples of one candidate and the time that its runs took so far.
class Sampler {
public:
  Sampler(const TimedRuns &timed, const MeasureOptions &options)
      : timed(timed), options(options) {}

  void warmUp() {
    int runs = std::max(timed.instances, std::max(options.warmupRuns, 0));
    // A candidate that is too slow even by the margin of a single cold sample
    // needs no more warm-up.
    auto isSlow = [&](int done) {
      return (done > 1 || (done == 1 && fastestMs > kTimeSliceMs)) &&
             isHopeless(fastestMs / kColdFactor, 1, options.cutoffMs);
    };
    for (int i = 0; i < runs && spentMs < options.maxTimeMs && !isSlow(i);
         ++i) {
      double runMs = timed.time(1);
      fastestMs = std::min(fastestMs, runMs);
      spentMs += runMs;
    }
    chooseBatch(std::min(fastestMs, options.maxTimeMs));
  }

  void sample() {
    double batchMs = timed.time(batch);
    samples.push_back(batchMs / batch);
    fastestMs = std::min(fastestMs, samples.back());
    sampledMs += batchMs;
    spentMs += batchMs;
  }

  bool hasEnough() const {
    int count = static_cast<int>(samples.size());
    return count >= options.minSamples &&
           (sampledMs >= options.minTimeMs || count >= kMaxSamples);
  }

  bool isDropped() const {
    if (sampledMs < kRaceSpanMs ||
        (fastestMs < kTimeSliceMs && samples.size() < kRaceSamples))
      return false;
    return isHopeless(fastestMs, static_cast<int>(samples.size()),
                      options.cutoffMs);
  }

  bool isDone() const {
    return !samples.empty() &&
           (hasEnough() || spentMs >= options.maxTimeMs || isDropped());
  }

  Timing finish() {
    bool dropped = !hasEnough() && isDropped();
    bool cutShort = !hasEnough() && !dropped;
    Timing result = summarize(std::move(samples));
    result.cutShort = cutShort;
    result.isDropped = dropped;
    return result;
  }

private:
  /// Chooses the number of runs per sample such that a sample is long enough
  /// for the clock, and the minimum time does not take more samples than
  /// wanted.
  void chooseBatch(double runMs) {
    // The clock may not resolve the run at all.
    runMs = std::max(runMs, 1e-6);
    double sampleMs =
        std::min(std::max(options.minSampleMs, options.minTimeMs / kMaxSamples),
                 options.maxTimeMs);
    batch = std::max(1, static_cast<int>(std::ceil(sampleMs / runMs)));
    int rest = batch % timed.instances;
    if (timed.prefersRounds && batch > 1 && rest > 0)
      batch += timed.instances - rest;
  }

  const TimedRuns &timed;
  MeasureOptions options;
  int batch = 1;
  std::vector<double> samples;
  /// The fastest of all runs, those of the warm-up included.
  double fastestMs = std::numeric_limits<double>::infinity();
  double sampledMs = 0;
  double spentMs = 0;
};

/// Runs instances in turn.
class InstanceTimer {
public:
  InstanceTimer(std::span<Instance> instances, const MeasureOptions &options)
      : instances(instances),
        coldConstants(hasColdConstants(instances.front().executor(), options)) {
  }

  double time(int count) {
    if (!coldConstants)
      return timeBatch(count);
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      instances[next].executor().flushConstants();
      sum += timeBatch(1);
    }
    return sum;
  }

private:
  /// Measures the milliseconds of `count` runs without waiting in between.
  double timeBatch(int count) {
    Instance &first = instances.front();
    if (!first.failure())
      return std::numeric_limits<double>::infinity();
    Result<double> milliseconds = first.executor().device().time([this, count] {
      Status status = success();
      for (int i = 0; i < count && status; ++i)
        status = takeNext().enqueue();
      return status;
    });
    if (milliseconds)
      return *milliseconds;
    first.setFailure(milliseconds.error());
    return std::numeric_limits<double>::infinity();
  }

  Instance &takeNext() {
    Instance &instance = instances[next];
    next = (next + 1) % instances.size();
    return instance;
  }

  std::span<Instance> instances;
  bool coldConstants;
  size_t next = 0;
};

} // namespace

std::vector<Timing> measureInterleaved(std::span<const TimedRuns> candidates,
                                       const MeasureOptions &options) {
  std::vector<Sampler> samplers;
  for (const TimedRuns &candidate : candidates)
    samplers.emplace_back(candidate, options).warmUp();
  auto anyLeft = [&] {
    return std::any_of(
        samplers.begin(), samplers.end(),
        [](const Sampler &sampler) { return !sampler.isDone(); });
  };
  while (anyLeft())
    for (Sampler &sampler : samplers)
      if (!sampler.isDone())
        sampler.sample();
  std::vector<Timing> results;
  for (Sampler &sampler : samplers)
    results.push_back(sampler.finish());
  return results;
}

std::vector<Timing>
measureInterleaved(std::span<const std::span<Instance>> candidates,
                   const MeasureOptions &options) {
  std::vector<InstanceTimer> timers;
  for (std::span<Instance> instances : candidates)
    timers.emplace_back(instances, options);
  std::vector<TimedRuns> timed;
  for (size_t i = 0; i < timers.size(); ++i)
    timed.push_back(
        {[&timer = timers[i]](int runs) { return timer.time(runs); },
         static_cast<int>(candidates[i].size())});
  return measureInterleaved(timed, options);
}

Timing measure(std::span<Instance> instances, const MeasureOptions &options) {
  return std::move(measureInterleaved(std::span(&instances, 1), options)[0]);
}

Result<std::vector<double>> measureLayers(Instance &instance, int64_t runs) {
  size_t count = instance.executor().package().layers.size();
  std::vector<std::vector<double>> samples(count);
  for (int64_t run = 0; run < runs; ++run) {
    std::vector<int64_t> nanoseconds(count, 0);
    if (Status status = instance.runProfiled(nanoseconds); !status)
      return status.error();
    for (size_t i = 0; i < count; ++i)
      samples[i].push_back(static_cast<double>(nanoseconds[i]) / 1e6);
  }
  std::vector<double> medians;
  for (std::vector<double> &layer : samples)
    medians.push_back(median(std::move(layer)));
  return medians;
}

} // namespace tarpon::runtime
