//===- GpuExecutor.h - Runs a package on a GPU ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ABI of GPU kernels: a task is a workgroup of a one-dimensional grid. The
// argument segment has the addresses of the launch's buffers, 8 bytes each, and
// behind them its parameters as 32-bit numbers (f32 as their bits).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_GPUEXECUTOR_H
#define TARPON_TARGETS_GPU_GPUEXECUTOR_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Package.h"

#include <memory>
#include <span>
#include <vector>

namespace tarpon {

/// A package on one GPU, with its constants there. One run at a time.
class GpuExecutor {
public:
  /// `device` must outlive the executor. Refuses a package for another chip.
  /// Candidates of the package do not come to the GPU.
  static runtime::Result<std::unique_ptr<GpuExecutor>>
  create(runtime::Package package, runtime::Device &device);
  ~GpuExecutor();

  /// Without its constants and kernels.
  const runtime::Package &package() const;

  /// Runs the model: `inputs` and `outputs` hold one pointer per model input
  /// and output, to usedBytes() bytes of host memory each.
  runtime::Status run(std::span<const void *const> inputs,
                      std::span<void *const> outputs);

  /// Fills outputs and arena with 0xff bytes, NaN in every float format: GPUs
  /// give out memory as it was left, perhaps with the right results.
  runtime::Status poison();

  /// Queues a run on the inputs of the last one, and waits for nothing.
  runtime::Status enqueue();

  /// Milliseconds that the GPU takes for a run on the inputs of the last one,
  /// the copies not counted.
  runtime::Result<double> timeRun();
  /// The same layer by layer, without the graph.
  runtime::Result<std::vector<double>> timeLayers();

private:
  GpuExecutor();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_GPUEXECUTOR_H
