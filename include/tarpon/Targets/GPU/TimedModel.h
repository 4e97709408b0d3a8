//===- TimedModel.h - A model on a GPU, to be timed -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_TIMEDMODEL_H
#define TARPON_TARGETS_GPU_TIMEDMODEL_H

#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/GPU/GpuExecutor.h"

namespace tarpon {

/// A package that has run once on generated inputs (of seed 0), on memory that
/// nobody had written, and is timed on these. One run at a time.
class TimedModel {
public:
  /// `device` must outlive the object.
  static runtime::Result<TimedModel> create(runtime::Package package,
                                            runtime::Device &device);

  GpuExecutor &getExecutor() const { return *executor; }
  /// Of the first run.
  const std::vector<runtime::HostTensor> &getOutputs() const { return outputs; }

  /// Times whole runs. The object must neither be moved nor die before. Once a
  /// run has failed, all take for ever.
  runtime::TimedRuns getTimed();
  /// The first failure of a timed run.
  const runtime::Status &getFailure() const { return failure; }

private:
  TimedModel() = default;
  double time(int runs);

  std::unique_ptr<GpuExecutor> executor;
  std::vector<runtime::HostTensor> outputs;
  runtime::Status failure = runtime::success();
};

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_TIMEDMODEL_H
