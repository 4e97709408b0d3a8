//===- Measure.h - How long a package takes ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_MEASURE_H
#define TARPON_RUNTIME_MEASURE_H

#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tarpon::runtime {

/// An executor with inputs and outputs of its own. Move-only; one run at a
/// time, as for an executor.
class Instance {
public:
  /// `inputs` are moved in; they must match the model's inputs. The executor
  /// must have been made with or without paddedBuffers: tensors are padded.
  static Result<Instance> create(std::unique_ptr<Executor> executor,
                                 std::vector<HostTensor> inputs);

  /// The same with an executor of the package on `device`, which must outlive
  /// the instance.
  static Result<Instance> create(Package package, Device &device,
                                 std::vector<HostTensor> inputs,
                                 ExecutorOptions options = {});

  /// A replica of the executor (see Executor::replicate) with copies of the
  /// inputs.
  Result<Instance> replicate() const;

  Executor &executor() { return *runner; }
  std::vector<HostTensor> &inputs() { return inputTensors; }
  std::vector<HostTensor> &outputs() { return outputTensors; }
  const std::vector<HostTensor> &outputs() const { return outputTensors; }

  /// Runs on the host do not fail.
  Status run();
  Status runProfiled(std::vector<int64_t> &layerNanoseconds);
  /// Queues a run on what the last one worked on, as Executor::enqueue does;
  /// the first one of an instance is a whole run.
  Status enqueue();

  /// Why the first timed run of `measure` that failed did.
  const Status &failure() const { return firstFailure; }
  void setFailure(Status status) { firstFailure = std::move(status); }

private:
  std::unique_ptr<Executor> runner;
  std::vector<HostTensor> inputTensors, outputTensors;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  bool hasRun = false;
  Status firstFailure = success();
};

/// `first` and as many replicas as make the working set of all exceed
/// `rotateBytes`; `first` alone if that is 0 or less. At most 4096 instances.
Result<std::vector<Instance>> makeRotation(Instance first, int64_t rotateBytes);

/// When to stop. Times are wall-clock milliseconds.
struct MeasureOptions {
  /// Runs before the first sample, at least one per instance.
  int warmupRuns = 2;
  /// Sampling goes on until both minima are reached, or the limit is hit. After
  /// two hundred samples, the time does not matter any more.
  int minSamples = 10;
  double minTimeMs = 100;
  /// A sample is the mean over as many runs as take this long.
  double minSampleMs = 0.02;
  /// Covers the warm-up too. At least one sample is taken in any case.
  double maxTimeMs = 5000;
  /// Whether each run finds its constants in memory and in no cache. What takes
  /// them out is not timed.
  bool coldConstants = false;
  /// Sampling ends as soon as the time cannot be less than this, as far as
  /// isHopeless can tell of all runs so far, but not before a millisecond of
  /// samples, nor before three of them where a run is shorter than the time
  /// slice of another process: in so short a time, all may be delayed at once.
  /// 0 for no such bound.
  double cutoffMs = 0;
};

/// By how many times the fastest of so many samples has to exceed a bound, for
/// the time itself to exceed it. Falls with the number of samples.
///
/// Noise only ever adds to a run (Chen and Revels, Robust Benchmarking in Noisy
/// Environments, 2016), so that the minimum is the estimate that one can trust
/// first: n samples are all delayed by more than x with probability q(x)^n, if
/// they are independent. Hoeffding races (Maron and Moore, 1994) bound means of
/// a known range instead, which takes hundreds of samples, not five. What the
/// margins cost was counted in 1344 measurements on a busy virtual machine: a
/// candidate that is exactly as fast as the bound is dropped after 1, 2, 3, 4
/// and 8 samples by 4 %, 2 %, 3 %, 6 % and 5 % of them, and one that could
/// have won, which is policy::kFinalistRatio faster, by a third of that.
double getRaceMargin(int samples);

/// Whether a candidate of this fastest sample out of `samples` is dropped.
inline bool isHopeless(double fastestMs, int samples, double cutoffMs) {
  return cutoffMs > 0 && fastestMs > getRaceMargin(samples) * cutoffMs;
}

/// What was measured.
struct Timing {
  std::vector<double> samplesMs;
  double medianMs = 0;
  /// The median of |sample - median|.
  double madMs = 0;
  /// Whether maxTimeMs ended it before the minima were reached.
  bool cutShort = false;
  /// Whether cutoffMs did.
  bool isDropped = false;
};

/// The median; 0 of nothing.
double median(std::vector<double> values);

/// A measurement with its statistics from these samples.
Timing summarize(std::vector<double> samplesMs);

/// What can be timed, whatever it runs on.
struct TimedRuns {
  /// The milliseconds of so many runs in a row, on the next instance in turn.
  std::function<double(int runs)> time;
  int instances = 1;
};

/// The same of each in turn, see below.
std::vector<Timing> measureInterleaved(std::span<const TimedRuns> candidates,
                                       const MeasureOptions &options);

/// Times single runs by the clock of the device, each on the next instance in
/// turn. A sample of a model that takes microseconds is the mean over several
/// of them. Once a run has failed, all take for ever; see Instance::failure of
/// the first instance.
Timing measure(std::span<Instance> instances, const MeasureOptions &options);

/// Times several candidates in turn, one sample of each per round, so that a
/// drift of the machine meets all alike. Each span is one candidate's rotation.
/// The options hold per candidate. Other candidates' threads may still spin
/// when a run starts: give the executors no more threads than there are cores.
std::vector<Timing>
measureInterleaved(std::span<const std::span<Instance>> candidates,
                   const MeasureOptions &options);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_MEASURE_H
