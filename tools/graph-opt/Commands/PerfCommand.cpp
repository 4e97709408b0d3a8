//===- PerfCommand.cpp - graph-opt perf -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/OutputFiles.h"
#include "GpuPerf.h"
#include "Messages.h"
#include "Reports/PerfReport.h"

#include "tarpon/Runtime/File.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Host/LayeredKernelCache.h"

#include <algorithm>
#include <limits>

namespace tarpon {

using namespace runtime;

/// Layers are timed in this many runs at most: the table needs no more.
static constexpr int64_t kMaxLayerRuns = 50;

/// A number, and as long as that takes; or about a second.
static MeasureOptions getMeasureOptions(std::optional<int64_t> iterations) {
  MeasureOptions options;
  options.minSamples = 10;
  options.minTimeMs = 1000;
  options.maxTimeMs = 20000;
  if (iterations) {
    options.minSamples = static_cast<int>(*iterations);
    options.minTimeMs = 0;
    options.maxTimeMs = std::numeric_limits<double>::infinity();
  }
  return options;
}

static Result<Instance> makeInstance(const PerfArguments &arguments,
                                     Package package) {
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(package, 0);
  if (!inputs)
    return inputs.error();
  Result<std::unique_ptr<Executor>> executor =
      makeExecutor(std::move(package), arguments.model.threads);
  if (!executor)
    return executor.error();
  return Instance::create(std::move(*executor), std::move(*inputs));
}

/// The median time of each layer.
static std::vector<double> measureLayers(Instance &instance, int64_t runs) {
  size_t count = instance.executor().package().layers.size();
  std::vector<std::vector<double>> samples(count);
  for (int64_t run = 0; run < runs; ++run) {
    std::vector<int64_t> nanoseconds(count, 0);
    instance.runProfiled(nanoseconds);
    for (size_t i = 0; i < count; ++i)
      samples[i].push_back(static_cast<double>(nanoseconds[i]) / 1e6);
  }
  std::vector<double> medians;
  for (std::vector<double> &layer : samples)
    medians.push_back(median(std::move(layer)));
  return medians;
}

static Arithmetic getLayerArithmetic(const Layer &layer,
                                     const TargetInfo &target) {
  mlir::FailureOr<Problem> problem = parseProblem(layer.problem);
  return mlir::succeeded(problem) ? getArithmetic(*problem, target)
                                  : Arithmetic::F32;
}

/// Fills the report's peaks, which are measured in the same run and on the same
/// threads as the model.
static Status measurePeaks(PerfReport &report, const TargetInfo &target) {
  std::set<Arithmetic> wanted = {Arithmetic::F32};
  for (LayerReport &layer : report.layers) {
    layer.arithmetic = getLayerArithmetic(*layer.layer, target);
    wanted.insert(layer.arithmetic);
  }
  KernelCompiler compiler = makeHostCompiler(target, openKernelCache(target));
  Result<PeakRates> peaks = measurePeakRates(compiler, wanted);
  if (!peaks)
    return peaks.error();
  report.peaks = std::move(*peaks);
  return success();
}

static Result<PerfReport> measureModel(const PerfArguments &arguments,
                                       Instance &instance) {
  const Package &package = instance.executor().package();
  PerfReport report;
  report.model = arguments.model.model;
  report.package = &package;
  report.threads = instance.executor().threads();
  Result<TargetInfo> target =
      getHostTarget(report.threads, arguments.model.cpu);
  if (!target)
    return target.error();

  report.whole =
      measure({&instance, 1}, getMeasureOptions(arguments.iterations));
  auto runs = static_cast<int64_t>(report.whole.samplesMs.size());
  std::vector<double> medians =
      measureLayers(instance, std::min(runs, kMaxLayerRuns));
  for (size_t i = 0; i < medians.size(); ++i) {
    LayerReport &layer = report.layers.emplace_back();
    layer.layer = &package.layers[i];
    layer.medianMs = medians[i];
  }
  if (Status status = measurePeaks(report, *target); !status)
    return status.error();
  report.computeRates();
  if (arguments.compileReport) {
    Result<CompileReport> compiling = makeCompileReport(package, *target);
    if (!compiling)
      return compiling.error();
    report.compiling = std::move(*compiling);
  }
  return report;
}

static int printReport(const PerfArguments &arguments,
                       const PerfReport &report) {
  report.printTable(llvm::outs());
  llvm::outs().flush();
  if (arguments.json.empty())
    return kSuccess;
  std::string json = report.toJson();
  if (Status status = writeFileAtomically(arguments.json, {json}); !status)
    return fail(status.message());
  return kSuccess;
}

static int runOnHost(const PerfArguments &arguments, Package package) {
  Result<Instance> instance = makeInstance(arguments, std::move(package));
  if (!instance)
    return fail(instance.message());
  Result<PerfReport> report = measureModel(arguments, *instance);
  if (!report)
    return fail(report.message());
  return printReport(arguments, *report);
}

static int runOnDevice(const PerfArguments &arguments, Package package) {
  if (arguments.compileReport)
    return fail("--compile-report is of the host's kernels; 'graph-opt compile "
                "--kernel-report' tells of a GPU's");
  Result<GpuPerf> perf = GpuPerf::create(std::move(package));
  if (!perf)
    return fail(perf.message());
  Result<PerfReport> report =
      perf->measure(getMeasureOptions(arguments.iterations), kMaxLayerRuns);
  if (!report)
    return fail(report.message());
  report->model = arguments.model.model;
  int status = printReport(arguments, *report);
  if (perf->isEmulated())
    remark("the emulated device has no times: those above say nothing of a "
           "GPU");
  return status;
}

int runPerf(const PerfArguments &arguments) {
  if (Status status = checkOutputs({{"the model", arguments.model.model}},
                                   {{"--json", arguments.json}});
      !status)
    return fail(status.message());
  Result<Package> package = loadPackage(arguments.model);
  if (!package)
    return fail(package.message());
  return package->isForGpu() ? runOnDevice(arguments, std::move(*package))
                             : runOnHost(arguments, std::move(*package));
}

} // namespace tarpon
