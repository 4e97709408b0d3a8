//===- GpuPerf.cpp - Measures a package on a GPU ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuPerf.h"

#include "GpuRun.h"

#include "tarpon/Kernels/GpuTarget.h"
#include "tarpon/Runtime/Tensor.h"

#include <algorithm>
#include <limits>

namespace tarpon {

using namespace runtime;

/// GPUs compute in what a layer's first operand is stored in.
static Arithmetic getGpuArithmetic(const Layer &layer) {
  mlir::FailureOr<Problem> problem = parseProblem(layer.problem);
  if (mlir::failed(problem) || problem->operands.empty())
    return Arithmetic::F32;
  switch (problem->operands.front().dtype) {
  case DType::F16:
    return Arithmetic::F16;
  case DType::BF16:
    return Arithmetic::BF16;
  case DType::I8:
  case DType::U8:
    return Arithmetic::I8;
  default:
    return Arithmetic::F32;
  }
}

static PeakRates getPeaks(const GpuTarget &gpu) {
  PeakRates peaks;
  peaks.gflops = {{Arithmetic::F32, gpu.peakGflops(DType::F32)},
                  {Arithmetic::F16, gpu.peakGflops(DType::F16)},
                  {Arithmetic::BF16, gpu.peakGflops(DType::BF16)},
                  {Arithmetic::I8, gpu.peakGflops(DType::I8)}};
  peaks.gbps = gpu.memoryGbps;
  return peaks;
}

/// One run on generated inputs, which the timed ones work on, too.
static Status runOnce(GpuExecutor &executor) {
  const Package &package = executor.package();
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(package, 0);
  if (!inputs)
    return inputs.error();
  Result<std::vector<HostTensor>> outputs = makeOutputs(package);
  if (!outputs)
    return outputs.error();
  std::vector<const void *> in;
  std::vector<void *> out;
  for (HostTensor &tensor : *inputs)
    in.push_back(tensor.data.data());
  for (HostTensor &tensor : *outputs)
    out.push_back(tensor.data.data());
  return executor.run(in, out);
}

Result<GpuPerf> GpuPerf::create(Package package) {
  GpuPerf perf;
  Result<std::unique_ptr<GpuDevice>> device = openPackageDevice(package);
  if (!device)
    return device.error();
  perf.device = std::move(*device);
  Result<std::unique_ptr<GpuExecutor>> executor =
      GpuExecutor::create(std::move(package), *perf.device);
  if (!executor)
    return executor.error();
  perf.executor = std::move(*executor);
  if (Status status = runOnce(*perf.executor); !status)
    return status.error();
  return perf;
}

bool GpuPerf::isEmulated() const {
  return executor->package().arch == kEmulatedArch;
}

Status GpuPerf::measureLayers(PerfReport &report, int64_t runs) {
  const Package &package = executor->package();
  std::vector<std::vector<double>> samples(package.layers.size());
  for (int64_t run = 0; run < runs; ++run) {
    Result<std::vector<double>> times = executor->timeLayers();
    if (!times)
      return times.error();
    for (size_t i = 0; i < samples.size(); ++i)
      samples[i].push_back((*times)[i]);
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    LayerReport &layer = report.layers.emplace_back();
    layer.layer = &package.layers[i];
    layer.arithmetic = getGpuArithmetic(*layer.layer);
    layer.medianMs = median(std::move(samples[i]));
  }
  return success();
}

Result<PerfReport> GpuPerf::measure(const MeasureOptions &options,
                                    int64_t maxLayerRuns) {
  Result<GpuTarget> gpu = parseGpuTarget(device->target());
  if (!gpu)
    return gpu.error();
  PerfReport report;
  report.package = &executor->package();
  report.device = device->target() + " (" + device->name() + ")";
  report.peaks = getPeaks(*gpu);
  Status failure = success();
  TimedRuns timed{[&](int runs) {
    double sum = 0;
    for (int i = 0; i < runs && failure; ++i) {
      Result<double> time = executor->timeRun();
      if (time)
        sum += *time;
      else
        failure = time.error();
    }
    return failure ? sum : std::numeric_limits<double>::infinity();
  }};
  report.whole = std::move(measureInterleaved({&timed, 1}, options).front());
  if (!failure)
    return failure.error();
  auto runs = static_cast<int64_t>(report.whole.samplesMs.size());
  if (Status status = measureLayers(report, std::min(runs, maxLayerRuns));
      !status)
    return status.error();
  report.computeRates();
  return report;
}

} // namespace tarpon
