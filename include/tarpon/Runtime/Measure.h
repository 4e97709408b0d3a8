//===- Measure.h - Measures how long a package takes ------------*- C++ -*-===//
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
  /// Creates an instance. `inputs` are moved in; they must match the model's
  /// inputs. The executor may have paddedBuffers or not: tensors are padded.
  static Result<Instance> create(std::unique_ptr<Executor> executor,
                                 std::vector<HostTensor> inputs);

  /// Creates an instance with an executor of the package on `device`, which
  /// must outlive the instance.
  static Result<Instance> create(Package package, Device &device,
                                 std::vector<HostTensor> inputs,
                                 ExecutorOptions options = {});

  /// A replica of the executor (see Executor::replicate) with copies of the
  /// inputs.
  Result<Instance> replicate() const;

  Executor &executor() { return *runner; }
  std::shared_ptr<Executor> shareExecutor() { return runner; }
  std::vector<HostTensor> &inputs() { return inputTensors; }
  std::vector<HostTensor> &outputs() { return outputTensors; }
  const std::vector<HostTensor> &outputs() const { return outputTensors; }

  /// Runs the model. Does not fail on the host.
  Status run();
  Status runProfiled(std::vector<int64_t> &layerNanoseconds);
  /// Queues a run on the buffers of the last one, like Executor::enqueue; the
  /// first one of an instance is a whole run.
  Status enqueue();

  /// The failure of the first timed run of `measure` that failed.
  const Status &failure() const { return firstFailure; }
  void setFailure(Status status) { firstFailure = std::move(status); }

private:
  std::shared_ptr<Executor> runner;
  std::vector<HostTensor> inputTensors, outputTensors;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  bool hasRun = false;
  Status firstFailure = success();
};

/// Makes a rotation: `first` and as many replicas as make the working set of
/// all exceed `rotateBytes`; `first` alone if that is 0 or less. At most 4096
/// instances.
Result<std::vector<Instance>> makeRotation(Instance first, int64_t rotateBytes);

/// The rules of when a measurement ends. Times are wall-clock milliseconds.
struct MeasureOptions {
  /// Runs before the first sample, at least one per instance.
  int warmupRuns = 2;
  /// Sampling continues until both minima are reached, or the limit is hit.
  /// After two hundred samples, the minimum time is ignored.
  int minSamples = 10;
  double minTimeMs = 100;
  /// A sample is the mean over as many runs as take at least this long.
  double minSampleMs = 0.02;
  /// The time limit, which covers the warm-up too. At least one sample is taken
  /// in any case.
  double maxTimeMs = 5000;
  /// Constants of at least so many bytes, as kernels read them, are found in
  /// memory and in no cache by each run; 0 for none. Evicting them is not
  /// timed.
  int64_t coldConstantBytes = 0;
  /// Sampling ends as soon as the time cannot be less than this, as far as
  /// isHopeless can tell from all runs so far. It never ends before a
  /// millisecond of samples, nor before three of them where a run is shorter
  /// than the time slice of another process: in so short a time, all may be
  /// delayed at once. 0 for no such bound.
  double cutoffMs = 0;
};

/// Returns true if runs find their constants in memory and in no cache.
bool hasColdConstants(const Executor &executor, const MeasureOptions &options);

/// The factor by which the fastest of this many samples has to exceed a bound,
/// so that the time itself exceeds it. Falls with the number of samples.
///
/// Noise only ever adds to a run (Chen and Revels, Robust Benchmarking in Noisy
/// Environments, 2016), so that the minimum is the first reliable estimate: n
/// samples are all delayed by more than x with probability q(x)^n, if they are
/// independent. Hoeffding races (Maron and Moore, 1994) bound means of a known
/// range instead, which takes hundreds of samples, not five. The cost of the
/// margins was counted in 1344 measurements on a busy virtual machine: a
/// candidate that is exactly as fast as the bound is dropped after 1, 2, 3, 4
/// and 8 samples by 4 %, 2 %, 3 %, 6 % and 5 % of them, and one that could have
/// won, which is policy::kFinalistRatio faster, by a third of that.
double getRaceMargin(int samples);

/// Returns true if a candidate is dropped, given the fastest of its samples.
inline bool isHopeless(double fastestMs, int samples, double cutoffMs) {
  return cutoffMs > 0 && fastestMs > getRaceMargin(samples) * cutoffMs;
}

/// The result of a measurement.
struct Timing {
  std::vector<double> samplesMs;
  double medianMs = 0;
  /// The median of |sample - median|.
  double madMs = 0;
  /// True if maxTimeMs ended it before the minima were reached.
  bool cutShort = false;
  /// True if cutoffMs ended it.
  bool isDropped = false;
};

/// The median; 0 if there are no values.
double median(std::vector<double> values);

/// The root of the mean of the squares; 0 if there are no values.
double rootMeanSquare(const std::vector<double> &values);

/// Computes the statistics of these samples.
Timing summarize(std::vector<double> samplesMs);

/// Runs that can be timed, on any device.
struct TimedRuns {
  /// Returns the milliseconds of `runs` consecutive runs, on the next instance
  /// in turn.
  std::function<double(int runs)> time;
  int instances = 1;
  /// True if all instances together take less than one by one: a sample of
  /// several runs is then one of whole rounds.
  bool prefersRounds = false;
};

/// Measures several candidates in turn, see below.
std::vector<Timing> measureInterleaved(std::span<const TimedRuns> candidates,
                                       const MeasureOptions &options);

/// Times single runs by the clock of the device, each on the next instance in
/// turn. A sample of a model that takes microseconds is the mean over several
/// of them. Once a run has failed, all times are infinite; see
/// Instance::failure of the first instance.
Timing measure(std::span<Instance> instances, const MeasureOptions &options);

/// Returns the median time of each layer within whole runs, in milliseconds. On
/// a GPU a layer's launches are waited for, which they are not otherwise.
Result<std::vector<double>> measureLayers(Instance &instance, int64_t runs);

/// Times several candidates in turn, one sample of each per round, so that a
/// drift of the machine affects all alike. Each span is one candidate's
/// rotation. The options hold per candidate. Other candidates' threads may
/// still spin when a run starts: give the executors no more threads than there
/// are cores.
std::vector<Timing>
measureInterleaved(std::span<const std::span<Instance>> candidates,
                   const MeasureOptions &options);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_MEASURE_H
