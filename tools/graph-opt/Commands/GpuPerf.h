//===- GpuPerf.h - Measures a package on a GPU ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPUPERF_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPUPERF_H

#include "Reports/PerfReport.h"

#include "tarpon/Targets/GPU/TimedModel.h"

#include <memory>

namespace tarpon {

/// A package on the first GPU of its kind, or on the emulated device if it is
/// for that.
class GpuPerf {
public:
  static runtime::Result<GpuPerf> create(runtime::Package package);

  /// Whole runs, then runs whose layers are timed, no more than `maxLayerRuns`.
  /// Peaks are those of the GPU's description. The report must not outlive the
  /// object.
  runtime::Result<PerfReport> measure(const runtime::MeasureOptions &options,
                                      int64_t maxLayerRuns);

  bool isEmulated() const;

private:
  GpuPerf(std::unique_ptr<runtime::Device> device, TimedModel model)
      : device(std::move(device)), model(std::move(model)) {}
  runtime::Status measureLayers(PerfReport &report, int64_t runs);

  std::unique_ptr<runtime::Device> device;
  TimedModel model;
};

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_GPUPERF_H
