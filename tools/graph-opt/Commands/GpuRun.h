//===- GpuRun.h - Runs a package on a GPU -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPURUN_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPURUN_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <memory>
#include <vector>

namespace tarpon {

/// The first GPU of the kind that a package is for, or the emulated device if
/// it is for that. An error says what this machine lacks.
runtime::Result<std::unique_ptr<runtime::Device>>
openPackageDevice(const runtime::Package &package);

/// Runs a package for a GPU on the first one of that kind, or on the emulated
/// device if it is for that. The outputs.
runtime::Result<std::vector<runtime::HostTensor>>
runOnGpu(runtime::Package package,
         const std::vector<runtime::HostTensor> &inputs);

/// What a run gave, and the milliseconds of those that were timed.
struct TimedGpuRun {
  std::vector<runtime::HostTensor> outputs;
  std::vector<double> timesMs;
};

/// The same, and after it `timedRuns` more.
runtime::Result<TimedGpuRun>
runAndTimeOnGpu(runtime::Package package,
                const std::vector<runtime::HostTensor> &inputs,
                int64_t timedRuns);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPURUN_H
