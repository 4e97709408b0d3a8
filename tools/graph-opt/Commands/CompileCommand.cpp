//===- CompileCommand.cpp - graph-opt compile -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Files/OutputFiles.h"
#include "Interruption.h"
#include "Messages.h"
#include "Reports/KernelReport.h"
#include "SearchFlags.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Driver/ProblemLog.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/SizedPackage.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <limits>

using llvm::formatv;

namespace tarpon {

namespace {

struct CompileArguments {
  std::string model;
  /// "host" or a GPU; the device of a GPU's package: "hip" or "emulated".
  std::string target = "host", device;
  /// Lists as the user gave them, or "pick_global".
  std::string dtype = "fp32", layout = "nchw", fusion = "on";
  std::optional<int64_t> batch;
  /// "NAME=SIZE" or "NAME=LOW..HIGH".
  std::vector<std::string> dims;
  int64_t threads = 0;
  std::string calibration;
  /// "pick", or the name of a method.
  std::string ranges = "pick";
  /// A metric that decides in place of the error, and how much it may drop.
  std::string labels, metric;
  std::optional<double> maxDrop;
  std::optional<double> maxError, tuningTime;
  std::optional<int64_t> point;
  /// Names or numbers; empty values leave it to the environment.
  std::string findMode, tuningPolicy;
  SearchArguments search;
  std::string tuningFile;
  std::vector<std::string> replays;
  bool replayAnyway = false, strict = false, quiet = false;
  /// For a GPU's package: report the resources that its kernels use.
  bool kernelReport = false;
  /// The number of solutions of each layer in a GPU's package: a number, "all",
  /// or "" for the chosen one only.
  std::string candidates;
  std::string output;
  /// The file to which the problems of the package are appended as driver
  /// lines.
  std::string logDriver;
  std::string cpu = "native";
};

} // namespace

static runtime::Status setKnobs(CompileOptions &options,
                                const CompileArguments &arguments) {
  runtime::Result<DtypeKnob> dtype = parseDtypeKnob(arguments.dtype);
  if (!dtype)
    return dtype.error();
  runtime::Result<LayoutKnob> layout = parseLayoutKnob(arguments.layout);
  if (!layout)
    return layout.error();
  runtime::Result<FusionKnob> fusion = parseFusionKnob(arguments.fusion);
  if (!fusion)
    return fusion.error();
  options.dtype = std::move(*dtype);
  options.layout = std::move(*layout);
  options.fusion = std::move(*fusion);
  return runtime::success();
}

static CompileOptions makeOptions(const CompileArguments &arguments) {
  CompileOptions options;
  options.model = arguments.model;
  options.batch = arguments.batch;
  // This cannot fail: the command line was checked.
  for (const std::string &dim : arguments.dims)
    options.dims.insert(*parseSizeRange(dim));
  options.target = arguments.target;
  options.device = arguments.device;
  // This cannot fail: the command line was checked.
  if (arguments.candidates == "all")
    options.candidates = std::numeric_limits<size_t>::max();
  else if (!arguments.candidates.empty())
    options.candidates =
        std::strtoull(arguments.candidates.c_str(), nullptr, 10);
  options.threads = arguments.threads;
  options.cpu = arguments.cpu;
  options.calibration = arguments.calibration;
  options.rangeMethod = parseRangeMethod(arguments.ranges);
  if (arguments.maxError)
    options.maxError = *arguments.maxError;
  options.labels = arguments.labels;
  options.metric = arguments.metric;
  if (arguments.maxDrop)
    options.maxDrop = *arguments.maxDrop;
  options.tuningTime = arguments.tuningTime;
  // This cannot fail: the command line was checked.
  if (!arguments.findMode.empty())
    options.findMode = *parseFindMode(arguments.findMode);
  if (!arguments.tuningPolicy.empty())
    options.tuningPolicy = *parseTuningPolicy(arguments.tuningPolicy);
  options.search = makeSearchOverrides(arguments.search);
  options.tuningFile = arguments.tuningFile;
  options.replays = arguments.replays;
  options.replayAnyway = arguments.replayAnyway;
  options.point = arguments.point;
  options.replayMaxError = arguments.maxError;
  options.strict = arguments.strict;
  options.quiet = arguments.quiet;
  options.output = arguments.output;
  return options;
}

/// Describes how a package is prepared for tuning elsewhere.
static std::string describeCandidates(const runtime::Package &package) {
  size_t count = 0;
  for (const runtime::Layer &layer : package.layers)
    count += layer.candidates.size();
  runtime::Package alone = runtime::dropCandidates(package);
  auto getMiB = [](const runtime::Package &p) {
    return static_cast<double>(p.constants.size() + p.kernels.size()) / 1048576;
  };
  return formatv("candidates: {0} with {1} kernels, which make {2:F1} MiB of "
                 "constants and kernels {3:F1}\n",
                 count, package.codeObjects.size(), getMiB(alone),
                 getMiB(package));
}

/// Prints the results of the run: "resnet50: fp32/nhwc tuned: 21 problems,
/// ...".
static void printSummary(const CompileOutcome &outcome) {
  static constexpr const char *kModes[] = {"compiled", "tuned", "replayed"};
  llvm::raw_ostream &os = llvm::outs();
  const runtime::Package &package = outcome.package;
  const SearchStatistics &search = outcome.search;
  os << formatv("{0}: {1} as {2}, {3} layers\n", package.modelName,
                kModes[outcome.mode], outcome.record.getWinner().choice.name(),
                package.layers.size());
  os << formatv("solutions: {0} {1}, {2} reused, {3} rejected, {4} dropped "
                "early\n",
                search.measured, outcome.compared, search.reused,
                search.rejected, search.dropped);
  if (!package.dimensions.empty())
    os << formatv("sizes: {0}, {1} programs\n",
                  runtime::describeDimensions(package),
                  package.programRanges.size());
  if (runtime::hasCandidates(package))
    os << describeCandidates(package);
  os << formatv("kernels: {0} compiled, {1} from the cache\n",
                outcome.kernels.compiled, outcome.kernels.fromCache);
  os << formatv("elapsed: {0:F2} s\n", outcome.seconds);
}

/// Returns true if packages for a target can be tuned.
static bool canHoldCandidates(const std::string &name) {
  runtime::Result<std::shared_ptr<const Target>> target = findTarget(name);
  return target && (*target)->makeBackend()->getKernelForm() ==
                       runtime::KernelForm::CodeObjects;
}

static int runCompile(const CompileArguments &arguments) {
  if (!arguments.candidates.empty() && !canHoldCandidates(arguments.target))
    return failUsage("--include-candidates is for targets whose kernels are "
                     "code objects, such as GPUs, not for '" +
                     arguments.target + "'");
  if (arguments.maxDrop && arguments.labels.empty() && arguments.metric.empty())
    return failUsage("--max-accuracy-drop needs --labels or --metric, which "
                     "say what accuracy is");
  CompileOptions options = makeOptions(arguments);
  if (runtime::Status status = setKnobs(options, arguments); !status)
    return failUsage(status.message());
  std::vector<NamedFile> inputs = {{"the model", options.model}};
  for (const std::string &replay : options.replays)
    inputs.push_back({"the file to replay", replay});
  if (runtime::Status status =
          checkOutputs(inputs, {{"--tuning-file", options.tuningFile},
                                {"-o", options.output}});
      !status)
    return fail(status.message());
  if (options.replays.size() > 1 && !hasSeveralSizes(options))
    return failUsage("--replay may be given once only, but with --dim "
                     "NAME=LOW..HIGH");
  if (options.dims.size() != arguments.dims.size())
    return failUsage("--dim is given twice for one dimension");
  options.isStopped = &catchInterruptions();
  runtime::Result<CompileOutcome> outcome = compileModel(options);
  if (!outcome)
    return fail(outcome.message());
  if (runtime::Status status =
          logProblems(outcome->package, arguments.logDriver);
      !status)
    return fail(status.message());
  // A single choice without a measurement adds no information.
  if (outcome->mode != CompileOutcome::Quick)
    llvm::outs() << formatCandidates(outcome->record) << "\n";
  if (arguments.kernelReport) {
    runtime::Result<std::string> report = reportKernels(outcome->package);
    if (!report)
      return fail(report.message());
    llvm::outs() << *report << "\n";
  }
  printSummary(*outcome);
  if (!options.tuningFile.empty())
    llvm::outs() << "tuning file: " << options.tuningFile << "\n";
  if (!options.output.empty())
    llvm::outs() << "package: " << options.output << "\n";
  llvm::outs().flush();
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addCompile(CommandSet &commands) {
  using namespace options;
  auto [sub, compile] = commands.add(
      "compile", "Tune and compile an ONNX model",
      "graph-opt compile resnet50.onnx --dtype pick_global --layout "
      "pick_global \\\n      --tuning-file resnet50.json -o resnet50.tpn",
      runCompile);
  addModel(sub, compile.model, "The ONNX model");
  addTarget(sub, compile.target, "Target to compile for (default: host)");
  addDevice(sub, compile.device,
            "Device that runs a GPU's package, and on which candidates are "
            "measured (default: the target's model)");
  CLI::Option *dtype = sub->add_option("--dtype", compile.dtype,
                                       "Datatypes to try (default: fp32)")
                           ->type_name(getListTypeName(kDtype))
                           ->check(isListOf(kDtype));
  CLI::Option *layout = sub->add_option("--layout", compile.layout,
                                        "Memory layouts to try (default: nchw)")
                            ->type_name(getListTypeName(kLayout))
                            ->check(isListOf(kLayout));
  CLI::Option *fusion =
      sub->add_option("--fusion", compile.fusion, "Fusion (default: on)")
          ->type_name(getListTypeName(kFusion))
          ->check(isListOf(kFusion));
  addBatch(sub, compile.batch);
  sub->add_option("--dim", compile.dims,
                  "Size of a symbolic dimension, or all those that the "
                  "package is for")
      ->type_name("NAME=SIZE|NAME=LOW..HIGH")
      ->expected(1)
      ->take_all()
      ->check(isParsedBy(parseSizeRange));
  addThreads(sub, compile.threads);
  CLI::Option *calibration =
      sub->add_option(
             "--calibration", compile.calibration,
             "Inputs for calibration and accuracy (default: generated)")
          ->type_name("DIR");
  CLI::Option *ranges =
      sub->add_option("--ranges", compile.ranges,
                      "How int8's ranges are chosen (default: pick, for each "
                      "tensor the method with the least error)")
          ->type_name(getTypeName(kRangeMethod))
          ->check(isOneOf(kRangeMethod));
  addMaxError(sub, compile.maxError,
              "Accuracy budget: relative L2 distance from fp32. With --replay, "
              "takes the fastest candidate of the file within it");
  CLI::Option *labels =
      sub->add_option("--labels", compile.labels,
                      "The class of each calibration input: accuracy is top-1")
          ->type_name("FILE")
          ->needs(calibration)
          ->excludes("--max-error");
  CLI::Option *metric =
      sub->add_option("--metric", compile.metric,
                      "Accuracy is the number that 'COMMAND FOLDER' prints of "
                      "the outputs in the folder")
          ->type_name("COMMAND")
          ->needs(calibration)
          ->excludes("--max-error")
          ->excludes(labels);
  sub->add_option("--max-accuracy-drop", compile.maxDrop,
                  "How much less than in fp32 that accuracy may be (default: "
                  "0.005)")
      ->check(isBetween(0.0, 1e9))
      ->type_name("D");
  addTuningTime(sub, compile.tuningTime);
  addFindPolicy(sub, compile.findMode, compile.tuningPolicy);
  addSearch(sub, compile.search);
  sub->add_option("--tuning-file", compile.tuningFile,
                  "Write the record of the tuning here")
      ->type_name("OUT.json");
  CLI::Option *replay =
      sub->add_option("--replay", compile.replays,
                      "Compile as this tuning file says; measure nothing. "
                      "With --dim NAME=LOW..HIGH, may be given for several "
                      "sizes")
          ->type_name("IN.json")
          ->expected(1)
          ->take_all();
  // The file determines the choice that is compiled.
  for (CLI::Option *knob : {dtype, layout, fusion, ranges, labels, metric})
    replay->excludes(knob);
  sub->add_option("--point", compile.point,
                  "Replay this point of the file's front of time and error, "
                  "counted from 0, the fastest (default: the winner)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->needs(replay)
      ->excludes("--max-error");
  sub->add_flag("--replay-anyway", compile.replayAnyway,
                "Replay a file of another target, too, as far as it fits")
      ->needs(replay);
  sub->add_flag("--strict", compile.strict, "Make a fallback an error");
  sub->add_flag("--quiet", compile.quiet, "Show no progress");
  sub->add_flag("--kernel-report", compile.kernelReport,
                "Report the resources of each kernel of a GPU's package, and "
                "its number of launches");
  sub->add_flag("--include-candidates{8}", compile.candidates,
                "Put N solutions of each layer into a GPU's package "
                "(default: 8; or all that were compiled), for 'graph-opt "
                "tune' where the GPU is")
      ->check(isCandidateCount());
  sub->add_option("-o,--output", compile.output, "Write the package here")
      ->type_name("OUT.tpn");
  addCpu(sub, compile.cpu);
  addLogDriver(sub, compile.logDriver);
}

} // namespace tarpon
