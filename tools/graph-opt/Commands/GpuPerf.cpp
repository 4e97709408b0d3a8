//===- GpuPerf.cpp - Measures a package on a GPU ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuPerf.h"

#include "GpuRun.h"

#include "tarpon/Solver/GpuTarget.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

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
  case DType::F32:
  case DType::F64:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
  case DType::U64:
  case DType::Bool:
    return Arithmetic::F32;
  }
  llvm_unreachable("unknown dtype");
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

Result<GpuPerf> GpuPerf::create(Package package) {
  Result<std::unique_ptr<Device>> device = openPackageDevice(package);
  if (!device)
    return device.error();
  Result<TimedModel> model = TimedModel::create(std::move(package), **device);
  if (!model)
    return model.error();
  return GpuPerf(std::move(*device), std::move(*model));
}

bool GpuPerf::isEmulated() const {
  return model.getExecutor().package().arch == kEmulatedArch;
}

Status GpuPerf::measureLayers(PerfReport &report, int64_t runs) {
  const Package &package = model.getExecutor().package();
  std::vector<std::vector<double>> samples(package.layers.size());
  for (int64_t run = 0; run < runs; ++run) {
    Result<std::vector<double>> times = model.getExecutor().timeLayers();
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
  report.package = &model.getExecutor().package();
  report.device = device->target() + " (" + device->name() + ")";
  report.peaks = getPeaks(*gpu);
  TimedRuns timed = model.getTimed();
  report.whole = std::move(measureInterleaved({&timed, 1}, options).front());
  if (!model.getFailure())
    return model.getFailure().error();
  auto runs = static_cast<int64_t>(report.whole.samplesMs.size());
  if (Status status = measureLayers(report, std::min(runs, maxLayerRuns));
      !status)
    return status.error();
  report.computeRates();
  return report;
}

} // namespace tarpon
