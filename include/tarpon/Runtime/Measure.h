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

  /// A replica of the executor (see Executor::replicate) with copies of the
  /// inputs.
  Result<Instance> replicate() const;

  Executor &executor() { return *runner; }
  std::vector<HostTensor> &inputs() { return inputTensors; }
  std::vector<HostTensor> &outputs() { return outputTensors; }
  const std::vector<HostTensor> &outputs() const { return outputTensors; }

  void run() { runner->run(inputPointers, outputPointers); }
  void runProfiled(std::vector<int64_t> &layerNanoseconds) {
    runner->runProfiled(inputPointers, outputPointers, layerNanoseconds);
  }

private:
  std::unique_ptr<Executor> runner;
  std::vector<HostTensor> inputTensors, outputTensors;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
};

/// `first` and as many replicas as make the working set of all exceed
/// `rotateBytes`; `first` alone if that is 0 or less. At most 4096 instances.
Result<std::vector<Instance>> makeRotation(Instance first, int64_t rotateBytes);

/// When to stop. Times are wall-clock milliseconds.
struct MeasureOptions {
  /// Runs before the first sample, at least one per instance.
  int warmupRuns = 2;
  /// Sampling goes on until both minima are reached, or the limit is hit. After
  /// a thousand samples, the time does not matter any more.
  int minSamples = 10;
  double minTimeMs = 100;
  /// Covers the warm-up too. At least one sample is taken in any case.
  double maxTimeMs = 5000;
};

/// What was measured.
struct Measurement {
  std::vector<double> samplesMs;
  double medianMs = 0;
  /// The median of |sample - median|.
  double madMs = 0;
  /// Whether maxTimeMs ended it before the minima were reached.
  bool cutShort = false;
};

/// The median; 0 of nothing.
double median(std::vector<double> values);

/// A measurement with its statistics from these samples.
Measurement summarize(std::vector<double> samplesMs);

/// Times single runs, each on the next instance in turn. A sample of a model
/// that takes microseconds is the mean over several of them.
Measurement measure(std::span<Instance> instances,
                    const MeasureOptions &options);

/// Times several candidates in turn, one sample of each per round, so that a
/// drift of the machine meets all alike. Each span is one candidate's rotation.
/// The options hold per candidate. Other candidates' threads may still spin
/// when a run starts: give the executors no more threads than there are cores.
std::vector<Measurement>
measureInterleaved(std::span<const std::span<Instance>> candidates,
                   const MeasureOptions &options);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_MEASURE_H
