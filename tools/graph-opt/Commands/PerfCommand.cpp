//===- PerfCommand.cpp - graph-opt perf -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Files/ModelLoader.h"
#include "Files/OutputFiles.h"
#include "Messages.h"
#include "ModelInputs.h"
#include "PackageRun.h"
#include "Reports/PerfReport.h"
#include "SharedOptions.h"

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/DeviceRotation.h"
#include "tarpon/Runtime/File.h"
#include "tarpon/Runtime/Measure.h"

#include <algorithm>
#include <limits>

namespace tarpon {

namespace {

struct PerfArguments {
  ModelArguments model;
  /// Without it, as many as fit into about a second.
  std::optional<int64_t> iterations;
  bool compileReport = false;
  std::string json;
};

} // namespace

using namespace runtime;

/// The largest number of runs in which layers are timed: the table needs no
/// more.
static constexpr int64_t kMaxLayerRuns = 50;

/// The options for a given number of runs, without a time limit, or for about a
/// second.
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

static Precision getLayerArithmetic(const Layer &layer,
                                    const TargetInfo &target) {
  mlir::FailureOr<Problem> problem = parseProblem(layer.problem);
  return mlir::succeeded(problem)
             ? target.traits->getArithmetic(*problem, target)
             : Precision::F32;
}

/// Fills the report's peaks. Those of the host are measured in the same run and
/// on the same threads as the model.
static Status findPeaks(PerfReport &report, const Target &target) {
  Precisions wanted = {Precision::F32};
  for (LayerReport &layer : report.layers) {
    layer.arithmetic = getLayerArithmetic(*layer.layer, target.getInfo());
    wanted.insert(layer.arithmetic);
  }
  Result<PeakRates> peaks = getPeakRates(target, wanted);
  if (!peaks)
    return peaks.error();
  report.peaks = std::move(*peaks);
  return success();
}

/// Times whole runs.
static Result<Timing> measureWhole(Instance &instance,
                                   const MeasureOptions &options) {
  const Device &device = instance.executor().device();
  if (!device.sharesHostMemory() && device.hasTimes()) {
    if (Status status = instance.run(); !status)
      return status.error();
    return measureOnDevice(instance, /*rotateBytes=*/0, options);
  }
  Timing timing = measure({&instance, 1}, options);
  if (!instance.failure())
    return instance.failure().error();
  return timing;
}

/// Times whole runs, then layers.
static Status measureTimes(const PerfArguments &arguments, Instance &instance,
                           PerfReport &report) {
  Result<Timing> whole =
      measureWhole(instance, getMeasureOptions(arguments.iterations));
  if (!whole)
    return whole.error();
  report.whole = std::move(*whole);
  auto runs = static_cast<int64_t>(report.whole.samplesMs.size());
  Result<std::vector<double>> medians =
      measureLayers(instance, std::min(runs, kMaxLayerRuns));
  if (!medians)
    return medians.error();
  for (size_t i = 0; i < medians->size(); ++i) {
    LayerReport &layer = report.layers.emplace_back();
    layer.layer = &report.package->layers[i];
    layer.medianMs = (*medians)[i];
  }
  return success();
}

static Result<PerfReport> measureModel(const PerfArguments &arguments,
                                       Instance &instance) {
  const Device &device = instance.executor().device();
  PerfReport report;
  report.model = arguments.model.model;
  report.package = &instance.executor().package();
  report.threads = device.threads();
  if (report.threads == 0)
    report.device = device.target() + " (" + device.name() + ")";
  Result<std::shared_ptr<const Target>> target =
      describeDevice(*report.package, device, arguments.model.cpu);
  if (!target)
    return target.error();
  if (Status status = measureTimes(arguments, instance, report); !status)
    return status.error();
  if (Status status = findPeaks(report, **target); !status)
    return status.error();
  report.computeRates();
  if (arguments.compileReport) {
    Result<CompileReport> compiling =
        makeCompileReport(*report.package, (*target)->getInfo());
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

static int perfPackage(const PerfArguments &arguments, Package package) {
  Result<std::unique_ptr<Device>> device =
      openDevice(package, arguments.model.threads);
  if (!device)
    return fail(device.message());
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(package, 0);
  if (!inputs)
    return fail(inputs.message());
  Result<Instance> instance =
      Instance::create(std::move(package), **device, std::move(*inputs));
  if (!instance)
    return fail(instance.message());
  Result<PerfReport> report = measureModel(arguments, *instance);
  if (!report)
    return fail(report.message());
  int status = printReport(arguments, *report);
  if (!(*device)->hasTimes())
    remark("the emulated device has no times: those above say nothing of a "
           "GPU");
  return status;
}

static int runPerf(const PerfArguments &arguments) {
  if (Status status = checkOutputs({{"the model", arguments.model.model}},
                                   {{"--json", arguments.json}});
      !status)
    return fail(status.message());
  Result<Package> package = loadPackage(arguments.model);
  if (!package)
    return fail(package.message());
  if (Status status = chooseSizes(*package, {}); !status)
    return fail(status.message());
  if (arguments.compileReport &&
      package->getKernelForm() == KernelForm::CodeObjects)
    return fail("--compile-report is of the host's kernels; 'graph-opt compile "
                "--kernel-report' tells of a GPU's");
  return perfPackage(arguments, std::move(*package));
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addPerf(CommandSet &commands) {
  using namespace options;
  auto [sub, perf] =
      commands.add("perf", "Measure a model, layer by layer",
                   "graph-opt perf resnet50.tpn --threads 1 --json "
                   "resnet50-perf.json",
                   runPerf);
  addModel(sub, perf.model.model, "The ONNX model or a package (.tpn)");
  sub->add_option("--iterations", perf.iterations,
                  "Timed runs (default: as many as fit into a second)")
      ->check(isBetween(int64_t(1), int64_t(1) << 20))
      ->type_name("N");
  sub->add_flag("--compile-report", perf.compileReport,
                "Compile every kernel again and report its cost, and the "
                "number of its layers");
  sub->add_option("--json", perf.json, "Write the figures here too")
      ->type_name("OUT");
  addRequireSignature(sub, perf.model.publicKey);
  addChoice(sub, perf.model);
  addLogDriver(sub, perf.model.logDriver);
}

} // namespace tarpon
